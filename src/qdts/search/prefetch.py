"""Fetching a slot into the processor's cache before its turn.

A machine that stops at every node it has to ask about touches each slot once a turn, and by then the others have driven
its data out of the cache. Most of what the next visit reads is known beforehand: the path of the visit that is to be
ended, the root, and the node and edges that would be made next. It is fetched in steps, each of which reads
only what the one before has fetched. Nothing is changed by it.
"""

from __future__ import annotations

from qdts.kernels import Ints, kernel
from qdts.pointers import fetch, moved
from qdts.search.forest import CURRENT, DEPTH, EDGES, NODES, NONE, REGISTERS, ROOT, Slot, slot_of

AHEAD = 4
"""How many slots lie between two steps."""


@kernel(inline=True)
def fetch_ahead(where: Ints, s: int, last: int) -> None:
    """Fetch something of the slots that come after slot s: registers and stack, then nodes, then edges."""
    if s + 3 * AHEAD < last:
        far = slot_of(where, s + 3 * AHEAD, s)
        fetch(far.registers)
        fetch(moved(far.registers, REGISTERS - 1))
        fetch(far.stack)
        fetch(far.answer_value)
        fetch(far.answer_prior)
        fetch(far.answer_children)
        fetch(moved(far.answer_children, 8))
        fetch(far.state)
        fetch(far.carried)
        fetch(far.guide)
    if s + 2 * AHEAD < last:
        slot = slot_of(where, s + 2 * AHEAD, s)
        r = slot.registers
        fetch_node(slot, ROOT)
        fetch_node(slot, r[CURRENT])
        fetch_node(slot, r[NODES])
        for d in range(1, r[DEPTH]):
            fetch_node(slot, slot.stack[2 * d])
    if s + AHEAD < last:
        slot = slot_of(where, s + AHEAD, s)
        r = slot.registers
        fetch_edges(slot, slot.first[ROOT])
        fetch_edges(slot, slot.first[r[CURRENT]])
        fetch_edges(slot, r[EDGES])
        for d in range(1, r[DEPTH]):
            fetch_edges(slot, slot.first[slot.stack[2 * d]])
    if s + AHEAD // 2 < last:
        slot = slot_of(where, s + AHEAD // 2, s)
        fetch_children(slot, ROOT)
        for d in range(1, slot.registers[DEPTH]):
            fetch_children(slot, slot.stack[2 * d])


@kernel(inline=True)
def fetch_children(slot: Slot, node: int) -> None:
    """Q of a node's children."""
    for e in range(slot.first[node], slot.first[node] + slot.degree[node]):
        if slot.child[e] != NONE:
            fetch(moved(slot.lo, slot.child[e] * slot.values))
            fetch(moved(slot.hi, slot.child[e] * slot.values))


@kernel(inline=True)
def fetch_node(slot: Slot, node: int) -> None:
    """A node's numbers."""
    fetch(moved(slot.vector, node * slot.size))
    fetch(moved(slot.kind, node))
    fetch(moved(slot.owner, node))
    fetch(moved(slot.actor, node))
    fetch(moved(slot.passing, node))
    fetch(moved(slot.evaluated, node))
    fetch(moved(slot.tree, node))
    fetch(moved(slot.pending, node))
    fetch(moved(slot.hole, node))
    fetch(moved(slot.first, node))
    fetch(moved(slot.degree, node))
    fetch(moved(slot.total, node))
    fetch(moved(slot.mixed, node))
    fetch(moved(slot.spawned, node))
    fetch(moved(slot.level, node))
    fetch(moved(slot.v, node * slot.values))
    fetch(moved(slot.lo, node * slot.values))
    fetch(moved(slot.hi, node * slot.values))


@kernel(inline=True)
def fetch_edges(slot: Slot, first: int) -> None:
    """The numbers of some edges, eight of them at most."""
    if first != NONE:
        fetch(moved(slot.choice, first))
        fetch(moved(slot.child, first))
        fetch(moved(slot.n, first))
        fetch(moved(slot.prior, first))
        fetch(moved(slot.prior, first + 7))
        fetch(moved(slot.w, first))
        fetch(moved(slot.w, first + 7))
        fetch(moved(slot.vc, first * slot.values))

"""Fetching a slot into the processor's cache before its turn.

A machine that stops at every node it has to ask about touches each slot once a turn, and by then the others have driven
its data out of the cache. Most of what the next visit reads is known beforehand: the path of the visit that is to be
ended, the root, and the node and edges that would be made next. It is fetched in steps, each of which reads
only what the one before has fetched. Nothing is changed by it.
"""

from __future__ import annotations

from qdts.kernels import Ints, kernel
from qdts.pointers import entry, fetch, moved
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
        fetch(entry(slot.kind, max(slot.child[e], 0)))


@kernel(inline=True)
def fetch_node(slot: Slot, node: int) -> None:
    """A node's record, two lines at most."""
    fetch(entry(slot.kind, node))
    fetch(entry(slot.v, node))


@kernel(inline=True)
def fetch_edges(slot: Slot, first: int) -> None:
    """The records of some edges, eight of them at most."""
    if first != NONE:
        for i in range(0, 8, 2):
            fetch(entry(slot.choice, first + i))

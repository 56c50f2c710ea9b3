"""Fetching a lane into the processor's cache before its turn.

A machine that stops at every node to be evaluated touches each lane once a turn, and by then the others have driven its
data out of the cache. Most of what the next visit reads is known beforehand: the path of the current visit, the root,
and the node and edges that would be made next. It is fetched in steps, each of which reads only what the one before has
fetched. Nothing is changed by it.
"""

from __future__ import annotations

from qdts.kernels import Ints, kernel
from qdts.pointers import entry, fetch, moved
from qdts.search.forest.lanes.lane import CURRENT, DEPTH, EDGES, NODES, NONE, REGISTERS, ROOT, Lane
from qdts.search.forest.lanes.layout import lane_of

AHEAD = 4
"""How many lanes lie between two steps."""


@kernel(inline=True)
def fetch_ahead(where: Ints, s: int, last: int) -> None:
    """Fetch parts of the lanes that come after lane s: registers and stack, then nodes, then edges."""
    if s + 3 * AHEAD < last:
        far = lane_of(where, s + 3 * AHEAD, s)
        fetch(far.registers)
        fetch(moved(far.registers, REGISTERS - 1))
        fetch(far.stack)
    if s + 2 * AHEAD < last:
        lane = lane_of(where, s + 2 * AHEAD, s)
        r = lane.registers
        fetch_node(lane, ROOT)
        fetch_node(lane, r[CURRENT])
        fetch_node(lane, r[NODES])
        for d in range(1, r[DEPTH]):
            fetch_node(lane, lane.stack[2 * d])
    if s + AHEAD < last:
        lane = lane_of(where, s + AHEAD, s)
        r = lane.registers
        fetch_edges(lane, lane.first[ROOT])
        fetch_edges(lane, lane.first[r[CURRENT]])
        fetch_edges(lane, r[EDGES])
        for d in range(1, r[DEPTH]):
            fetch_edges(lane, lane.first[lane.stack[2 * d]])
    if s + AHEAD // 2 < last:
        lane = lane_of(where, s + AHEAD // 2, s)
        fetch_children(lane, ROOT)
        for d in range(1, lane.registers[DEPTH]):
            fetch_children(lane, lane.stack[2 * d])


@kernel(inline=True)
def fetch_children(lane: Lane, node: int) -> None:
    """Q of a node's children."""
    for e in range(lane.first[node], lane.first[node] + lane.degree[node]):
        fetch(entry(lane.kind, max(lane.child[e], 0)))


@kernel(inline=True)
def fetch_node(lane: Lane, node: int) -> None:
    """A node's record, two lines at most."""
    fetch(entry(lane.kind, node))
    fetch(entry(lane.v, node))


@kernel(inline=True)
def fetch_edges(lane: Lane, first: int) -> None:
    """The records of some edges, eight of them at most."""
    if first != NONE:
        for i in range(0, 8, 2):
            fetch(entry(lane.choice, first + i))

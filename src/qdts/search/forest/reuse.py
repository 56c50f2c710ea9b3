"""Going on from a node of a search: what lies below it is kept, everything else is forgotten.

A node lies below another if edges and spawned trees lead there. Kept nodes close ranks: the new root is node 0, the
others follow in the order in which they were made, and so do edges.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, kernel
from qdts.pointers import element, entry
from qdts.search.evaluation.evaluator import ACT
from qdts.search.forest.growth import copy, empty_table, new_node
from qdts.search.forest.layout import (
    DEEPEST,
    EDGES,
    EVALUATIONS,
    NODES,
    NONE,
    REGISTERS,
    ROOT,
    TOUCHED,
    VISITS,
    WIDE_NODE,
    Lane,
    WhereType,
    enter_table,
    lane_of,
    place_of,
    vector_of,
)
from qdts.search.forest.machine import guide_root
from qdts.search.options.packed import PackedOptions, PackedOptionsType

Ints32 = NDArray[np.int32]


@kernel()
def clear(lane: Lane) -> None:
    """No node, no edge, no visit, nothing in the table."""
    for i in range(REGISTERS):
        lane.registers[i] = 0
    lane.registers[WIDE_NODE] = NONE
    empty_table(lane)


@kernel()
def reach(lane: Lane, root: int, number: Ints32, todo: Ints32) -> None:
    """Write 0 as the number of every node that lies below one; `todo` is overwritten."""
    number[root] = 0
    todo[0] = root
    left = 1
    while left > 0:
        left -= 1
        node = todo[left]
        for e in range(-1, lane.degree[node]):
            below = lane.spawned[node] if e < 0 else lane.child[lane.first[node] + e]
            if below != NONE and number[below] == NONE:
                number[below] = 0
                todo[left] = below
                left += 1


@kernel()
def move_edge(lane: Lane, source: int, to: int, number: Ints32) -> None:
    """Write an edge to its new place."""
    child = lane.child[source]
    lane.child[to] = NONE if child == NONE else number[child]
    lane.choice[to] = lane.choice[source]
    lane.n[to] = lane.n[source]
    lane.prior[to] = lane.prior[source]
    lane.w[to] = lane.w[source]
    for k in range(lane.values):
        lane.vc[to * lane.values + k] = lane.vc[source * lane.values + k]


@kernel()
def move_node(lane: Lane, source: int, to: int, number: Ints32, place: Ints32) -> None:
    """Write a node to its new place; what was in the tree of the old root is in that of the new one."""
    tree, spawned = lane.tree[source], lane.spawned[source]
    lane.tree[to] = ROOT if tree == ROOT else number[tree]
    lane.spawned[to] = NONE if spawned == NONE else number[spawned]
    lane.first[to] = place[lane.first[source]] if lane.degree[source] > 0 else NONE
    copy(vector_of(lane, source), vector_of(lane, to), lane.size)
    lane.kind[to] = lane.kind[source]
    lane.owner[to] = lane.owner[source]
    lane.actor[to] = lane.actor[source]
    lane.passing[to] = lane.passing[source]
    lane.evaluated[to] = lane.evaluated[source]
    lane.stopped[to] = lane.stopped[source]
    lane.level[to] = lane.level[source]
    lane.pending[to] = lane.pending[source]
    lane.hole[to] = lane.hole[source]
    lane.degree[to] = lane.degree[source]
    lane.total[to] = lane.total[source]
    lane.mixed[to] = lane.mixed[source]
    for k in range(lane.values):
        entry(lane.v, to)[k] = entry(lane.v, source)[k]
        entry(lane.lo, to)[k] = entry(lane.lo, source)[k]
        entry(lane.hi, to)[k] = entry(lane.hi, source)[k]


@kernel(types.void(WhereType, PackedOptionsType, int64, int64[::1], int64))
def plant(where: Ints, packed: PackedOptions, s: int, view: Ints, player: int) -> None:
    """Begin a search in a lane, whatever was there; only its random stream goes on."""
    lane = lane_of(where, s, s)
    clear(lane)
    new_node(lane, packed, ACT, element(view, 0), player if packed.hidden else NONE, player, NONE)


@kernel(types.void(WhereType, PackedOptionsType, int64[:, ::1], int64[::1]))
def plant_all(where: Ints, packed: PackedOptions, views: Ints, players: Ints) -> None:
    """The same in every lane."""
    for s in range(len(players)):
        plant(where, packed, s, views[s], players[s])


@kernel(int64(WhereType, int64, int64[::1]))
def find_view(where: Ints, s: int, view: Ints) -> int:
    """The ACT node of a view in the tree of a search's root, or NONE."""
    lane = lane_of(where, s, s)
    return lane.table[place_of(lane, element(view, 0), ROOT)] - 1


@kernel(boolean(WhereType, PackedOptionsType, int64, int64))
def prune(where: Ints, packed: PackedOptions, s: int, root: int) -> bool:
    """Make an ACT node of the root's tree the root. False, and nothing changes, if the old root lies below it.

    Statistics stay as they are. The lane's visits become the choices made at the new root; what was evaluated and
    touched since the search began goes on counting. `guide` holds the noise of the new root.
    """
    lane = lane_of(where, s, s)
    r = lane.registers
    number, place = np.full(r[NODES], NONE, np.int32), np.full(r[EDGES], NONE, np.int32)
    reach(lane, root, number, np.empty(r[NODES], np.int32))
    if root != ROOT and number[ROOT] != NONE:
        return False
    for node in range(r[NODES]):
        if number[node] != NONE:
            for e in range(lane.degree[node]):
                place[lane.first[node] + e] = 0
    edges = 0
    for e in range(len(place)):
        if place[e] != NONE:
            place[e] = edges
            edges += 1
    nodes = 1
    for node in range(len(number)):
        if number[node] != NONE and node != root:
            number[node] = nodes
            nodes += 1
    number[root] = ROOT
    for e in range(len(place)):
        if place[e] != NONE:
            move_edge(lane, e, place[e], number)
    move_node(lane, root, ROOT, number, place)
    for node in range(len(number)):
        if number[node] != NONE and node != root:
            move_node(lane, node, number[node], number, place)
    evaluations, touched = r[EVALUATIONS], r[TOUCHED]
    clear(lane)
    r[NODES], r[EDGES], r[VISITS], r[EVALUATIONS], r[TOUCHED] = nodes, edges, lane.total[ROOT], evaluations, touched
    for node in range(nodes):
        enter_table(lane, node)
        r[DEEPEST] = max(r[DEEPEST], lane.level[node])
    if lane.guide[0] >= 0.0 and lane.evaluated[ROOT] != 0:
        guide_root(lane, packed)
    return True

"""Continuing a search from one of its nodes: what lies below it is kept, everything else is forgotten.

A node lies below another if edges and spawned trees lead there. Kept nodes are renumbered: the new root is node 0, the
others follow in the order in which they were made, and so do edges.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, kernel
from qdts.pointers import copy_records, element, moved
from qdts.search.evaluation.evaluator import ACT
from qdts.search.forest.lanes.lane import (
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
)
from qdts.search.forest.lanes.layout import WhereType, lane_of
from qdts.search.forest.lanes.view_index import empty_table, enter_table, find_act
from qdts.search.forest.visit.growth import new_node
from qdts.search.forest.visit.selection import guide_root
from qdts.search.options.packed import PackedOptions, PackedOptionsType

Ints32 = NDArray[np.int32]


@kernel()
def clear(lane: Lane) -> None:
    """Forget all nodes, edges and visits."""
    for i in range(REGISTERS):
        lane.registers[i] = 0
    lane.registers[WIDE_NODE] = NONE
    empty_table(lane)


@kernel()
def reach(lane: Lane, root: int, number: Ints32, todo: Ints32) -> None:
    """Set `number` to 0 for every node below `root`; `todo` is overwritten."""
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
    """Write an edge to its new place, with the new number of its child."""
    copy_records(moved(lane.choice, source), moved(lane.choice, to), 1)
    if lane.child[to] != NONE:
        lane.child[to] = number[lane.child[to]]
    for k in range(lane.values):
        lane.vc[to * lane.values + k] = lane.vc[source * lane.values + k]


@kernel()
def move_node(lane: Lane, source: int, to: int, number: Ints32, place: Ints32) -> None:
    """Write a node to its new place, with new numbers; what was in the tree of the old root is in that of the new."""
    copy_records(moved(lane.kind, source), moved(lane.kind, to), 1)
    if lane.tree[to] != ROOT:
        lane.tree[to] = number[lane.tree[to]]
    if lane.spawned[to] != NONE:
        lane.spawned[to] = number[lane.spawned[to]]
    lane.first[to] = place[lane.first[to]] if lane.degree[to] > 0 else NONE


@kernel(types.void(WhereType, PackedOptionsType, int64, int64[::1], int64))
def plant(where: Ints, packed: PackedOptions, s: int, view: Ints, player: int) -> None:
    """Begin a search in a lane, whatever was there; only its random stream continues."""
    lane = lane_of(where, s, s)
    clear(lane)
    new_node(lane, packed, ACT, element(view, 0), player if packed.hidden else NONE, player, NONE)


@kernel(types.void(WhereType, PackedOptionsType, int64[:, ::1], int64[::1]))
def plant_all(where: Ints, packed: PackedOptions, views: Ints, players: Ints) -> None:
    """Begin a search in every lane."""
    for s in range(len(players)):
        plant(where, packed, s, views[s], players[s])


@kernel(int64(WhereType, int64, int64[::1]))
def find_view(where: Ints, s: int, view: Ints) -> int:
    """The ACT node of a view in the tree of a search's root, or NONE."""
    lane = lane_of(where, s, s)
    return find_act(lane, element(view, 0), ROOT)


@kernel(types.void(WhereType, int64[::1], int64[::1], int64[::1], int64[::1]))
def find_nodes(where: Ints, lanes: Ints, moves: Ints, offset: Ints, out: Ints) -> None:
    """The node to which the moves of each lane lead from its root, or NONE; those of lane i begin at `offset[i]`."""
    for i in range(len(lanes)):
        lane = lane_of(where, lanes[i], lanes[i])
        node = int(ROOT)
        for m in range(offset[i], offset[i + 1]):
            below = int(NONE)
            if node != NONE:
                for e in range(lane.first[node], lane.first[node] + lane.degree[node]):
                    if lane.choice[e] == moves[m]:
                        below = lane.child[e]
            node = below
        out[i] = node


@kernel(boolean(WhereType, PackedOptionsType, int64, int64))
def prune(where: Ints, packed: PackedOptions, s: int, root: int) -> bool:
    """Make an ACT node of the root's tree the root. False, and nothing changes, if the old root lies below it.

    Statistics stay as they are. The lane's visits become the choices made at the new root; what was evaluated and
    touched since the search began stays counted. `guide` holds the noise of the new root.
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


@kernel(types.void(WhereType, PackedOptionsType, int64[::1], int64[::1], int64[:, ::1], int64[::1]))
def continue_all(where: Ints, packed: PackedOptions, lanes: Ints, nodes: Ints, views: Ints, players: Ints) -> None:
    """Make a node of each lane its root; where it is NONE, or can't be the root, begin a search at the view."""
    for i in range(len(lanes)):
        if nodes[i] != ROOT and (nodes[i] == NONE or not prune(where, packed, lanes[i], nodes[i])):
            plant(where, packed, lanes[i], views[i], players[i])

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
from qdts.search.evaluator import ACT
from qdts.search.forest import (
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
    Slot,
    WhereType,
    enter_table,
    place_of,
    slot_of,
    vector_of,
)
from qdts.search.growth import copy, empty_table, new_node
from qdts.search.machine import guide_root
from qdts.search.settings import Settings, SettingsType

Ints32 = NDArray[np.int32]


@kernel()
def clear(slot: Slot) -> None:
    """No node, no edge, no visit, nothing in the table."""
    for i in range(REGISTERS):
        slot.registers[i] = 0
    slot.registers[WIDE_NODE] = NONE
    empty_table(slot)


@kernel()
def reach(slot: Slot, root: int, number: Ints32, todo: Ints32) -> None:
    """Write 0 as the number of every node that lies below one; `todo` is overwritten."""
    number[root] = 0
    todo[0] = root
    left = 1
    while left > 0:
        left -= 1
        node = todo[left]
        for e in range(-1, slot.degree[node]):
            below = slot.spawned[node] if e < 0 else slot.child[slot.first[node] + e]
            if below != NONE and number[below] == NONE:
                number[below] = 0
                todo[left] = below
                left += 1


@kernel()
def move_edge(slot: Slot, source: int, to: int, number: Ints32) -> None:
    """Write an edge to its new place."""
    child = slot.child[source]
    slot.child[to] = NONE if child == NONE else number[child]
    slot.choice[to] = slot.choice[source]
    slot.n[to] = slot.n[source]
    slot.prior[to] = slot.prior[source]
    slot.w[to] = slot.w[source]
    for k in range(slot.values):
        slot.vc[to * slot.values + k] = slot.vc[source * slot.values + k]


@kernel()
def move_node(slot: Slot, source: int, to: int, number: Ints32, place: Ints32) -> None:
    """Write a node to its new place; what was in the tree of the old root is in that of the new one."""
    tree, spawned = slot.tree[source], slot.spawned[source]
    slot.tree[to] = ROOT if tree == ROOT else number[tree]
    slot.spawned[to] = NONE if spawned == NONE else number[spawned]
    slot.first[to] = place[slot.first[source]] if slot.degree[source] > 0 else NONE
    copy(vector_of(slot, source), vector_of(slot, to), slot.size)
    slot.kind[to] = slot.kind[source]
    slot.owner[to] = slot.owner[source]
    slot.actor[to] = slot.actor[source]
    slot.passing[to] = slot.passing[source]
    slot.evaluated[to] = slot.evaluated[source]
    slot.stopped[to] = slot.stopped[source]
    slot.level[to] = slot.level[source]
    slot.pending[to] = slot.pending[source]
    slot.hole[to] = slot.hole[source]
    slot.degree[to] = slot.degree[source]
    slot.total[to] = slot.total[source]
    slot.mixed[to] = slot.mixed[source]
    for k in range(slot.values):
        entry(slot.v, to)[k] = entry(slot.v, source)[k]
        entry(slot.lo, to)[k] = entry(slot.lo, source)[k]
        entry(slot.hi, to)[k] = entry(slot.hi, source)[k]


@kernel(types.void(WhereType, SettingsType, int64, int64[::1], int64))
def plant(where: Ints, settings: Settings, s: int, view: Ints, player: int) -> None:
    """Begin a search in a slot, whatever was there; only its random stream goes on."""
    slot = slot_of(where, s, s)
    clear(slot)
    new_node(slot, settings, ACT, element(view, 0), player if settings.hidden else NONE, player, NONE)


@kernel(types.void(WhereType, SettingsType, int64[:, ::1], int64[::1]))
def plant_all(where: Ints, settings: Settings, views: Ints, players: Ints) -> None:
    """The same in every slot."""
    for s in range(len(players)):
        plant(where, settings, s, views[s], players[s])


@kernel(int64(WhereType, int64, int64[::1]))
def find_view(where: Ints, s: int, view: Ints) -> int:
    """The ACT node of a view in the tree of a search's root, or NONE."""
    slot = slot_of(where, s, s)
    return slot.table[place_of(slot, element(view, 0), ROOT)] - 1


@kernel(boolean(WhereType, SettingsType, int64, int64))
def prune(where: Ints, settings: Settings, s: int, root: int) -> bool:
    """Make an ACT node of the root's tree the root. False, and nothing changes, if the old root lies below it.

    Statistics stay as they are. The slot's visits become the choices made at the new root; what was evaluated and
    touched since the search began goes on counting. `guide` holds the noise of the new root.
    """
    slot = slot_of(where, s, s)
    r = slot.registers
    number, place = np.full(r[NODES], NONE, np.int32), np.full(r[EDGES], NONE, np.int32)
    reach(slot, root, number, np.empty(r[NODES], np.int32))
    if root != ROOT and number[ROOT] != NONE:
        return False
    for node in range(r[NODES]):
        if number[node] != NONE:
            for e in range(slot.degree[node]):
                place[slot.first[node] + e] = 0
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
            move_edge(slot, e, place[e], number)
    move_node(slot, root, ROOT, number, place)
    for node in range(len(number)):
        if number[node] != NONE and node != root:
            move_node(slot, node, number[node], number, place)
    evaluations, touched = r[EVALUATIONS], r[TOUCHED]
    clear(slot)
    r[NODES], r[EDGES], r[VISITS], r[EVALUATIONS], r[TOUCHED] = nodes, edges, slot.total[ROOT], evaluations, touched
    for node in range(nodes):
        enter_table(slot, node)
        r[DEEPEST] = max(r[DEEPEST], slot.level[node])
    if slot.guide[0] >= 0.0 and slot.evaluated[ROOT] != 0:
        guide_root(slot, settings)
    return True

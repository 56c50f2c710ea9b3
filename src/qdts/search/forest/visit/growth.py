"""How trees grow: the child of an edge, the root of a spawned tree, the choices of a node, and room for more."""

from __future__ import annotations

from typing import Any

from numba import int64, types

from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.games.interface import NO_HOLE
from qdts.games.interface import TERMINAL as OVER
from qdts.kernels import Ints, kernel
from qdts.pointers import copy_records, entry
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE, TERMINAL
from qdts.search.forest.lanes.lane import (
    CONTINUES,
    DEEPEST,
    DEPTH,
    EDGES,
    FULL,
    HEAD,
    NODES,
    NONE,
    STOPS,
    Lane,
    vector_of,
)
from qdts.search.forest.lanes.layout import TOGETHER, WhereType, lane_of, start_node
from qdts.search.forest.lanes.scratch import RULES, scratch
from qdts.search.forest.lanes.view_index import empty_table, enter_table, find_act
from qdts.search.options.packed import PackedOptions

CAPPED = -2
"""Nothing was made: `max_nodes` is met."""
NO_ROOM = -3
"""Nothing was made: the arrays are full."""
BROKEN = -4
"""Nothing was made: the rules give no choice, or more than the game has."""
LISTED = 0
"""A node was given its edges."""


@kernel()
def copy(source: Ints, into: Ints, size: int) -> None:
    """Copy so many numbers of any type."""
    for i in range(size):
        into[i] = source[i]


@kernel(types.void(WhereType, WhereType, int64, int64))
def carry_over(source: Ints, into: Ints, first: int, last: int) -> None:
    """Copy the trees of some lanes to a larger forest; scratch holds nothing between two stops."""
    for s in range(first, last):
        old, new = lane_of(source, s, s), lane_of(into, s, s)
        r = old.registers
        copy(old.registers, new.registers, TOGETHER)
        copy(old.guide, new.guide, old.width)
        copy_records(old.kind, new.kind, r[NODES])
        copy_records(old.choice, new.choice, r[EDGES])
        copy(old.vc, new.vc, r[EDGES] * old.values)
        copy(old.stack, new.stack, r[DEPTH] * 2)
        copy(old.luck, new.luck, r[DEPTH] * 2 * old.values)
        empty_table(new)
        for node in range(r[NODES]):
            enter_table(new, node)


@kernel(inline=True)
def new_node(lane: Lane, packed: PackedOptions, kind: int, vector: Ints, owner: int, actor: int, tree: int) -> int:
    """Make a node with a copy of the vector, the root of a tree if `tree` is NONE; CAPPED or NO_ROOM if it can't be."""
    r = lane.registers
    node = r[NODES]
    if node >= packed.max_nodes:
        r[FULL] = 1
        return CAPPED
    if node >= lane.room:
        return NO_ROOM
    r[NODES] += 1
    start_node(lane, node)
    copy(vector, vector_of(lane, node), lane.size)
    lane.kind[node] = kind
    lane.owner[node] = owner
    lane.actor[node] = actor
    lane.passing[node] = CONTINUES if kind == SAMPLE else STOPS
    lane.tree[node] = node if tree == NONE else tree
    lane.level[node] = 0 if tree == NONE else lane.level[tree]
    if kind == ACT and owner != NONE:
        enter_table(lane, node)
    return node


@kernel()
def complete(game: Any, rules: Ints, lane: Lane, vector: Ints) -> None:
    """Fill every hole with the first of its values, in place."""
    hole = game.hole(rules, vector)
    for _ in range(lane.size):
        if hole == NO_HOLE:
            break
        game.values(rules, vector, hole, lane.choices, scratch(lane, RULES))
        game.fill(rules, vector, hole, lane.choices[0])
        hole = game.hole(rules, vector)


@kernel()
def act_node(lane: Lane, packed: PackedOptions, view: Ints, tree: int, midway: int) -> int:
    """The ACT node of a view in a tree, made if it is missing. It is the same for all worlds with that view."""
    node = find_act(lane, view, tree)
    if node != NONE:
        return node
    owner = lane.owner[tree]
    node = new_node(lane, packed, ACT, view, owner, owner, tree)
    if node >= 0:
        lane.passing[node] = midway
    return node


@kernel()
def sample_node(lane: Lane, packed: PackedOptions, view: Ints, hole: int, pending: int, tree: int) -> int:
    """Make a SAMPLE node; CAPPED or NO_ROOM if it can't be."""
    node = new_node(lane, packed, SAMPLE, view, lane.owner[tree], NONE, tree)
    if node >= 0:
        lane.pending[node] = pending
        lane.hole[node] = hole
    return node


@kernel(inline=True)
def arrive(game: Any, rules: Ints, lane: Lane, packed: PackedOptions, world: Ints, tree: int) -> int:
    """The node for a world in a tree, made if need be; CAPPED or NO_ROOM if it can't be. The world may be changed."""
    mover = game.mover(rules, world)
    owner = lane.owner[tree]
    if mover == OVER:
        node = new_node(lane, packed, TERMINAL, world, owner, NONE, tree)
        if node >= 0:
            returns = scratch(lane, RULES)
            game.returns(rules, world, returns)
            for k in range(lane.values):
                u = returns[owner if packed.hidden else k]
                entry(lane.v, node)[k] = u
                entry(lane.lo, node)[k] = u
                entry(lane.hi, node)[k] = u
        return node
    midway = game.midway(rules, world) if packed.has_split_actions else 0
    if packed.hidden and mover == owner:
        game.redact(rules, world, owner)
        return act_node(lane, packed, world, tree, midway)
    kind = CHANCE if mover == CHANCE_MOVES else (OPPONENT if packed.hidden else ACT)
    node = new_node(lane, packed, kind, world, owner, NONE if mover == CHANCE_MOVES else mover, tree)
    if node >= 0:
        lane.passing[node] = midway
    return node


@kernel(inline=True)
def child_of(game: Any, rules: Ints, lane: Lane, packed: PackedOptions, node: int, e: int) -> int:
    """The child of a node's e-th edge, made if it is missing; CAPPED or NO_ROOM if it can't be."""
    at = lane.first[node] + e
    if lane.child[at] == NONE:
        child = _make_child(game, rules, lane, packed, node, lane.choice[at])
        if child < 0:
            return child
        lane.child[at] = child
    return lane.child[at]


@kernel(inline=True)
def _make_child(game: Any, rules: Ints, lane: Lane, packed: PackedOptions, node: int, choice: int) -> int:
    tree, kind = lane.tree[node], lane.kind[node]
    vector = lane.vector_a
    copy(vector_of(lane, node), vector, lane.size)
    if kind == ACT and packed.hidden:
        hole = game.hole(rules, vector)
        if hole != NO_HOLE:
            if packed.has_split_actions:
                complete(game, rules, lane, vector)
                game.step(rules, vector, choice)
                if game.midway(rules, vector):
                    game.redact(rules, vector, lane.owner[tree])
                    return act_node(lane, packed, vector, tree, CONTINUES)
            child = sample_node(lane, packed, vector_of(lane, node), hole, choice, tree)
            if child >= 0:
                lane.passing[child] = HEAD
            return child
    if kind == SAMPLE:
        game.fill(rules, vector, lane.hole[node], choice)
        hole = game.hole(rules, vector)
        if hole != NO_HOLE:
            return sample_node(lane, packed, vector, hole, lane.pending[node], tree)
        choice = lane.pending[node]
    game.step(rules, vector, choice)
    return arrive(game, rules, lane, packed, vector, tree)


@kernel()
def spawned_root(game: Any, rules: Ints, lane: Lane, packed: PackedOptions, node: int) -> int:
    """The root of an OPPONENT node's spawned tree, made if it is missing; CAPPED or NO_ROOM if it can't be."""
    if lane.spawned[node] != NONE:
        return lane.spawned[node]
    view, player = lane.vector_a, lane.actor[node]
    copy(vector_of(lane, node), view, lane.size)
    game.redact(rules, view, player)
    root = find_act(lane, view, -1 - player) if packed.share else NONE
    if root == NONE:
        root = new_node(lane, packed, ACT, view, player, player, NONE)
        if root < 0:
            return root
        lane.level[root] = lane.level[node] + 1
        lane.registers[DEEPEST] = max(lane.registers[DEEPEST], lane.level[root])
    lane.spawned[node] = root
    return root


@kernel(inline=True)
def list_choices(game: Any, rules: Ints, lane: Lane, node: int) -> int:
    """Give a node its edges, with the rules' weights in `evaluation_prior`; LISTED, NO_ROOM or BROKEN."""
    r = lane.registers
    first = r[EDGES]
    if first + lane.width > lane.edge_room:
        return NO_ROOM
    vector, kind = vector_of(lane, node), lane.kind[node]
    choices, weights = lane.choices, lane.evaluation_prior
    if kind == SAMPLE:
        count = game.values(rules, vector, lane.hole[node], choices, weights)
    elif kind == CHANCE:
        count = game.chance(rules, vector, choices, weights)
    else:
        count = game.legal(rules, vector, choices)
        for i in range(count):
            weights[i] = 1.0 / count
    if count < 1 or count > lane.width:
        return BROKEN
    lane.first[node] = first
    lane.degree[node] = count
    r[EDGES] += count
    for i in range(count):
        lane.choice[first + i] = choices[i]
        lane.prior[first + i] = weights[i]
        lane.child[first + i] = NONE
        lane.n[first + i] = 0
        lane.w[first + i] = 0.0
    return LISTED

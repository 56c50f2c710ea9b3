"""How trees grow: making the child of an edge, the root of a spawned tree, the choices of a node, and room for more."""

from __future__ import annotations

from typing import Any

from numba import int64, types

from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.games.interface import NO_HOLE
from qdts.games.interface import TERMINAL as OVER
from qdts.kernels import Ints, kernel
from qdts.pointers import entry
from qdts.search.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, TERMINAL
from qdts.search.forest import (
    DEEPEST,
    DEPTH,
    EDGE_TYPE,
    EDGES,
    FULL,
    GOES_ON,
    HEAD,
    NODES,
    NONE,
    NUMBERS,
    STOPS,
    TOGETHER,
    Slot,
    WhereType,
    enter_table,
    place_of,
    scratch,
    slot_of,
    vector_of,
)
from qdts.search.settings import Settings

CAPPED = -2
"""Nothing was made: `max_nodes` is met."""
NO_ROOM = -3
"""Nothing was made: the arrays are full."""
BROKEN = -4
"""Nothing was made: the rules give no choice, or more than the game has."""
LISTED = 0
"""A node has its edges."""
NODE_BYTES = NUMBERS.index("node bytes")
"""Where the length of a node's record stands."""
EDGE_WORDS = EDGE_TYPE.itemsize // 4
"""The length of an edge's record in the numbers that its first field has."""


@kernel()
def copy(source: Ints, into: Ints, size: int) -> None:
    """Copy so many numbers, of the type that they have."""
    for i in range(size):
        into[i] = source[i]


@kernel()
def empty_table(slot: Slot) -> None:
    """No node is known by its view."""
    for i in range(slot.places):
        slot.table[i] = 0


@kernel(types.void(WhereType, WhereType, int64, int64))
def carry_over(source: Ints, into: Ints, first: int, last: int) -> None:
    """Copy the trees of some slots to where there is more room; scratch holds nothing between two stops."""
    for s in range(first, last):
        old, new = slot_of(source, s, s), slot_of(into, s, s)
        r = old.registers
        copy(old.registers, new.registers, TOGETHER)
        copy(old.guide, new.guide, old.width)
        copy(entry(old.kind, 0), entry(new.kind, 0), r[NODES] * source[NODE_BYTES])
        copy(entry(old.choice, 0), entry(new.choice, 0), r[EDGES] * EDGE_WORDS)
        copy(old.vc, new.vc, r[EDGES] * old.values)
        copy(old.stack, new.stack, r[DEPTH] * 2)
        copy(old.luck, new.luck, r[DEPTH] * 2 * old.values)
        empty_table(new)
        for node in range(r[NODES]):
            enter_table(new, node)


@kernel(inline=True)
def new_node(slot: Slot, settings: Settings, kind: int, vector: Ints, owner: int, actor: int, tree: int) -> int:
    """A node with a copy of the vector, the root of a new tree if `tree` is NONE; CAPPED or NO_ROOM if it can't be."""
    r = slot.registers
    node = r[NODES]
    if node >= settings.max_nodes:
        r[FULL] = 1
        return CAPPED
    if node >= slot.room:
        return NO_ROOM
    r[NODES] += 1
    copy(vector, vector_of(slot, node), slot.size)
    slot.kind[node] = kind
    slot.owner[node] = owner
    slot.actor[node] = actor
    slot.passing[node] = GOES_ON if kind == SAMPLE else STOPS
    slot.evaluated[node] = 0
    slot.stopped[node] = 0
    slot.tree[node] = node if tree == NONE else tree
    slot.level[node] = 0 if tree == NONE else slot.level[tree]
    slot.pending[node] = NOTHING
    slot.hole[node] = NO_HOLE
    slot.first[node] = NONE
    slot.degree[node] = 0
    slot.total[node] = 0
    slot.mixed[node] = 0
    slot.spawned[node] = NONE
    if kind == ACT and owner != NONE:
        enter_table(slot, node)
    return node


@kernel()
def complete(game: Any, rules: Ints, slot: Slot, vector: Ints) -> None:
    """Fill every hole with the first of its values, in place."""
    hole = game.hole(rules, vector)
    for _ in range(slot.size):
        if hole == NO_HOLE:
            break
        game.values(rules, vector, hole, slot.choices, scratch(slot, 0))
        game.fill(rules, vector, hole, slot.choices[0])
        hole = game.hole(rules, vector)


@kernel()
def act_node(slot: Slot, settings: Settings, view: Ints, tree: int, midway: int) -> int:
    """The ACT node of a view in a tree, made if it is not there: merged over worlds."""
    found = slot.table[place_of(slot, view, tree)]
    if found != 0:
        return found - 1
    owner = slot.owner[tree]
    node = new_node(slot, settings, ACT, view, owner, owner, tree)
    if node >= 0:
        slot.passing[node] = midway
    return node


@kernel()
def sample_node(slot: Slot, settings: Settings, view: Ints, hole: int, pending: int, tree: int) -> int:
    """A SAMPLE node."""
    node = new_node(slot, settings, SAMPLE, view, slot.owner[tree], NONE, tree)
    if node >= 0:
        slot.pending[node] = pending
        slot.hole[node] = hole
    return node


@kernel(inline=True)
def arrive(game: Any, rules: Ints, slot: Slot, settings: Settings, world: Ints, tree: int) -> int:
    """The node for a world in a tree. The world may be changed."""
    mover = game.mover(rules, world)
    owner = slot.owner[tree]
    if mover == OVER:
        node = new_node(slot, settings, TERMINAL, world, owner, NONE, tree)
        if node >= 0:
            game.returns(rules, world, scratch(slot, 0))
            for k in range(slot.values):
                u = slot.reals[owner if settings.hidden else k]
                entry(slot.v, node)[k] = u
                entry(slot.lo, node)[k] = u
                entry(slot.hi, node)[k] = u
        return node
    midway = game.midway(rules, world) if settings.pieces else 0
    if settings.hidden and mover == owner:
        game.redact(rules, world, owner)
        return act_node(slot, settings, world, tree, midway)
    kind = CHANCE if mover == CHANCE_MOVES else (OPPONENT if settings.hidden else ACT)
    node = new_node(slot, settings, kind, world, owner, NONE if mover == CHANCE_MOVES else mover, tree)
    if node >= 0:
        slot.passing[node] = midway
    return node


@kernel(inline=True)
def child_of(game: Any, rules: Ints, slot: Slot, settings: Settings, node: int, e: int) -> int:
    """The child of a node's e-th edge, made if it is missing; CAPPED or NO_ROOM if it can't be."""
    at = slot.first[node] + e
    if slot.child[at] == NONE:
        child = _make_child(game, rules, slot, settings, node, slot.choice[at])
        if child < 0:
            return child
        slot.child[at] = child
    return slot.child[at]


@kernel(inline=True)
def _make_child(game: Any, rules: Ints, slot: Slot, settings: Settings, node: int, choice: int) -> int:
    tree, kind = slot.tree[node], slot.kind[node]
    vector = slot.vector_a
    copy(vector_of(slot, node), vector, slot.size)
    if kind == ACT and settings.hidden:
        hole = game.hole(rules, vector)
        if hole != NO_HOLE:
            if settings.pieces:
                complete(game, rules, slot, vector)
                game.step(rules, vector, choice)
                if game.midway(rules, vector):
                    game.redact(rules, vector, slot.owner[tree])
                    return act_node(slot, settings, vector, tree, GOES_ON)
            child = sample_node(slot, settings, vector_of(slot, node), hole, choice, tree)
            if child >= 0:
                slot.passing[child] = HEAD
            return child
    if kind == SAMPLE:
        game.fill(rules, vector, slot.hole[node], choice)
        hole = game.hole(rules, vector)
        if hole != NO_HOLE:
            return sample_node(slot, settings, vector, hole, slot.pending[node], tree)
        choice = slot.pending[node]
    game.step(rules, vector, choice)
    return arrive(game, rules, slot, settings, vector, tree)


@kernel()
def spawned_root(game: Any, rules: Ints, slot: Slot, settings: Settings, node: int) -> int:
    """The root of an OPPONENT node's spawned tree, made if it is missing; CAPPED or NO_ROOM if it can't be."""
    if slot.spawned[node] != NONE:
        return slot.spawned[node]
    view, player = slot.vector_a, slot.actor[node]
    copy(vector_of(slot, node), view, slot.size)
    game.redact(rules, view, player)
    root = NONE
    if settings.share:
        root = slot.table[place_of(slot, view, -1 - player)] - 1
    if root == NONE:
        root = new_node(slot, settings, ACT, view, player, player, NONE)
        if root < 0:
            return root
        slot.level[root] = slot.level[node] + 1
        slot.registers[DEEPEST] = max(slot.registers[DEEPEST], slot.level[root])
    slot.spawned[node] = root
    return root


@kernel(inline=True)
def list_choices(game: Any, rules: Ints, slot: Slot, node: int) -> int:
    """Give a node its edges, with what the rules say of them as priors in `answer_prior`; say how that went."""
    r = slot.registers
    first = r[EDGES]
    if first + slot.width > slot.edge_room:
        return NO_ROOM
    vector, kind = vector_of(slot, node), slot.kind[node]
    choices, weights = slot.choices, slot.answer_prior
    if kind == SAMPLE:
        count = game.values(rules, vector, slot.hole[node], choices, weights)
    elif kind == CHANCE:
        count = game.chance(rules, vector, choices, weights)
    else:
        count = game.legal(rules, vector, choices)
        for i in range(count):
            weights[i] = 1.0 / count
    if count < 1 or count > slot.width:
        return BROKEN
    slot.first[node] = first
    slot.degree[node] = count
    r[EDGES] += count
    for i in range(count):
        slot.choice[first + i] = choices[i]
        slot.prior[first + i] = weights[i]
        slot.child[first + i] = NONE
        slot.n[first + i] = 0
        slot.w[first + i] = 0.0
    return LISTED

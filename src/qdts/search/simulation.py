"""One simulation of the bandit machine: down the tree, out of it, and back (docs/search.md, *The bandit*)."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types

from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.kernels import Ints, Reals, declare, kernel
from qdts.pointers import element
from qdts.rng import State, sampled, uniform
from qdts.search.bandit_tree import (
    CAPPED,
    HEIGHT,
    NO_NODE,
    NODE_ROOM,
    NODES,
    SIZE,
    Tree,
    add_node,
    is_node,
    meet_actions,
    place_of,
)

DONE, NO_ACTIONS, TOO_DEEP, DEAD_END = range(4)
"""What a simulation says: it is done; a mover with nothing to do; a path longer than the game's `max_depth`; a hole
that nothing fills, or holes without end."""
FAULTS = {
    NO_ACTIONS: "a player is to move and has no legal action",
    TOO_DEEP: "a history is longer than max_depth",
    DEAD_END: "a hole of a view can't be filled",
}


LOGARITHMS = 1 << 14
"""How many logarithms are kept: they would take a tenth of the time of a simulation of a small game."""


class Scratch(NamedTuple):
    """Working memory, pointers to kernels; B is the widest choice, V the widest hole, D the game's greatest depth."""

    world: Ints  # [W]
    seen: Ints  # [W] the observer's view of it
    choices: Ints  # [B]
    chances: Reals  # [B]
    fresh: Ints  # [B] legal edges without a visit
    utilities: Reals  # [P]
    path: Ints  # [D] the edges of the simulation
    movers: Ints  # [D] who moved there
    ways: Ints  # [1] how many values the root's first hole may have, 0 where it has no hole
    weights: Reals  # [V] their weights
    filled: Ints  # [V, W] the root with that hole filled
    next_hole: Ints  # [V] the next hole of each, or NO_HOLE
    logarithms: Reals  # [LOGARITHMS] ln n, read only


ScratchType = types.NamedTuple(
    [
        *(int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], float64[::1], int64[::1], int64[::1]),
        *(int64[::1], float64[::1], int64[:, ::1], int64[::1], float64[::1]),
    ],
    Scratch,
)
declare(Scratch, ScratchType)


def make_scratch(game: Game) -> Scratch:
    """Working memory for a game."""
    width = max(game.max_branching, game.num_values)
    return Scratch(
        world=np.empty(game.world_size, np.int64),
        seen=np.empty(game.world_size, np.int64),
        choices=np.empty(width, np.int64),
        chances=np.empty(width),
        fresh=np.empty(width, np.int64),
        utilities=np.empty(game.players),
        path=np.empty(game.max_depth, np.int64),
        movers=np.empty(game.max_depth, np.int64),
        ways=np.zeros(1, np.int64),
        weights=np.empty(game.num_values),
        filled=np.empty((game.num_values, game.world_size), np.int64),
        next_hole=np.empty(game.num_values, np.int64),
        logarithms=_logarithms(),
    )


@cache
def _logarithms() -> Reals:
    return np.array([-math.inf, *map(math.log, range(1, LOGARITHMS))])


@kernel()
def scratch_at(scratch: Scratch) -> Scratch:
    """The arrays as pointers."""
    return Scratch(
        element(scratch.world, 0),
        element(scratch.seen, 0),
        element(scratch.choices, 0),
        element(scratch.chances, 0),
        element(scratch.fresh, 0),
        element(scratch.utilities, 0),
        element(scratch.path, 0),
        element(scratch.movers, 0),
        element(scratch.ways, 0),
        element(scratch.weights, 0),
        element(scratch.filled, 0),
        element(scratch.next_hole, 0),
        element(scratch.logarithms, 0),
    )


@kernel(inline=True)
def take(vectors: Ints, at: int, size: int, scratch: Scratch) -> None:
    """Take a vector to hand as the world."""
    for i in range(size):
        scratch.world[i] = vectors[at * size + i]


@kernel()
def fill_first(game: Any, rules: Ints, tree: Tree, scratch: Scratch) -> bool:
    """Fill the root's first hole in every way, once for all simulations. False if there is none."""
    size = tree.registers[SIZE]
    take(tree.views, 0, size, scratch)
    scratch.ways[0] = 0
    hole = game.hole(rules, scratch.world)
    if hole == NO_HOLE:
        return True
    scratch.ways[0] = game.values(rules, scratch.world, hole, scratch.choices, scratch.weights)
    for k in range(scratch.ways[0]):
        take(tree.views, 0, size, scratch)
        game.fill(rules, scratch.world, hole, scratch.choices[k])
        scratch.next_hole[k] = game.hole(rules, scratch.world)
        for i in range(size):
            scratch.filled[k * size + i] = scratch.world[i]
    return bool(scratch.ways[0] > 0)


@kernel(inline=True)
def fill_holes(game: Any, rules: Ints, tree: Tree, scratch: Scratch, state: State) -> bool:
    """Fill every hole of the root by the rules' weights. False if that can't be done."""
    size = tree.registers[SIZE]
    if scratch.ways[0] == 0:
        take(tree.views, 0, size, scratch)
        return True
    k = sampled(scratch.weights, scratch.ways[0], state)
    take(scratch.filled, k, size, scratch)
    hole = scratch.next_hole[k]
    for _ in range(size):
        if hole == NO_HOLE:
            return True
        count = game.values(rules, scratch.world, hole, scratch.choices, scratch.chances)
        if count < 1:
            return False
        game.fill(rules, scratch.world, hole, scratch.choices[sampled(scratch.chances, count, state)])
        hole = game.hole(rules, scratch.world)
    return bool(hole == NO_HOLE)


@kernel(inline=True)
def log_of(scratch: Scratch, n: int) -> float:
    """Ln n."""
    return scratch.logarithms[n] if n < LOGARITHMS else math.log(n)


@kernel(inline=True)
def ucb(mean: float, n: int, log_available: float, explore: float) -> float:
    """W/N + c · S · √(ln N_avail / N)."""
    return mean + explore * math.sqrt(log_available / n)


@kernel(inline=True)
def choose_among_all(tree: Tree, node: int, scratch: Scratch, explore: float, state: State) -> int:
    """The edge of a simulation at a node whose edges are always legal: one after the other is fresh, then none."""
    first, width, passed = int(tree.first[node]), int(tree.width[node]), int(tree.passes[node])
    tree.passes[node] = passed + 1
    if passed < width:
        fresh = width - passed
        k = 0 if fresh == 1 else int(uniform(state) * fresh)
        edge = first
        while k > 0 or tree.visits[edge] > 0:
            k -= tree.visits[edge] == 0
            edge += 1
        return edge
    log_available = log_of(scratch, passed + 1)
    best, chosen = -np.inf, first
    for e in range(first, first + width):
        score = ucb(tree.mean[e], tree.visits[e], log_available, explore)
        if score > best:
            best, chosen = score, e
    return chosen


@kernel(inline=True)
def choose_among_legal(tree: Tree, node: int, scratch: Scratch, m: int, explore: float, state: State) -> int:
    """The edge of a simulation at a node of which the m actions in `scratch.choices` are legal this time."""
    first, width = int(tree.first[node]), int(tree.width[node])
    tree.passes[node] += 1
    passes = int(tree.passes[node])
    best, chosen, fresh = -np.inf, first, 0
    available, log_available = 0, 0.0
    j = 0
    for e in range(first, first + width):
        if j == m or tree.edge_action[e] != scratch.choices[j]:
            tree.missed[e] += 1
            continue
        j += 1
        if tree.visits[e] == 0:
            scratch.fresh[fresh] = e
            fresh += 1
        elif fresh == 0:
            if passes - tree.missed[e] != available:
                available = passes - int(tree.missed[e])
                log_available = log_of(scratch, available)
            score = ucb(tree.mean[e], tree.visits[e], log_available, explore)
            if score > best:
                best, chosen = score, e
    if fresh > 0:
        return scratch.fresh[0 if fresh == 1 else int(uniform(state) * fresh)]
    return chosen


@kernel(inline=True)
def child_of(
    game: Any,
    rules: Ints,
    tree: Tree,
    node: int,
    edge: int,
    sure: bool,
    mover: int,
    observer: int,
    scratch: Scratch,
    hidden: bool,
) -> int:
    """The child of an edge for the world at hand, made if it is missing; NO_NODE if there is no room to make it.

    A child that is sure is missing, else the simulation would have gone there at once.
    """
    view = scratch.world
    if hidden:
        view = scratch.seen
        for i in range(tree.registers[SIZE]):
            view[i] = scratch.world[i]
        game.redact(rules, view, observer)
    child, action, place = int(tree.child[edge]), int(tree.edge_action[edge]), 0
    if child != NO_NODE and is_node(tree, child, mover, view):
        return child
    if not sure:
        place = place_of(tree, node, action, mover, view)
        child = int(tree.table[place])
    if child == NO_NODE:
        if tree.registers[NODES] == tree.registers[NODE_ROOM]:
            tree.registers[CAPPED] = 1
            return NO_NODE
        child = add_node(tree, node, action, sure, mover, view)
        if not sure:
            tree.table[place] = child
    tree.child[edge] = child
    return child


@kernel(inline=True)
def simulate(
    game: Any,
    playout: Any,
    rules: Ints,
    tree: Tree,
    scratch: Scratch,
    observer: int,
    state: State,
    hidden: bool,
    explore: float,
    depth: int,
) -> int:
    """One simulation; DONE or a fault. `explore` is c · S.

    Where nothing is hidden, no rule is called on the way down: the world is taken from the last node that is known.
    """
    world, size = scratch.world, tree.registers[SIZE]
    if hidden and not fill_holes(game, rules, tree, scratch, state):
        return DEAD_END
    node, length, mover, behind = 0, 0, observer, not hidden
    while True:
        if length == depth:
            return TOO_DEEP
        told = not hidden or mover == observer  # the node tells the legal actions
        m = int(tree.width[node])
        if not told or m == 0:
            if behind:
                take(tree.views, node, size, scratch)
                behind = False
            m = game.legal(rules, world, scratch.choices)
            if m < 1:
                return NO_ACTIONS
            meet_actions(tree, node, scratch.choices, m)
        if told:
            edge = choose_among_all(tree, node, scratch, explore, state)
        else:
            edge = choose_among_legal(tree, node, scratch, m, explore, state)
        scratch.path[length] = edge
        scratch.movers[length] = mover
        length += 1
        child = int(tree.child[edge])
        if tree.sure[child]:
            node, mover, behind = child, int(tree.mover[child]), True
            continue
        if behind:
            take(tree.views, node, size, scratch)
            behind = False
        game.step(rules, world, tree.edge_action[edge])
        mover = game.mover(rules, world)
        sure = not hidden
        while mover == CHANCE:
            sure = False
            count = game.chance(rules, world, scratch.choices, scratch.chances)
            game.step(rules, world, scratch.choices[sampled(scratch.chances, count, state)])
            mover = game.mover(rules, world)
        if mover == TERMINAL:
            game.returns(rules, world, scratch.utilities)
            break
        known = tree.registers[NODES]
        node = child_of(game, rules, tree, node, edge, sure, mover, observer, scratch, hidden)
        if node in (NO_NODE, known):
            playout(rules, scratch.world, scratch.choices, scratch.chances, state, scratch.utilities)
            break
    tree.registers[HEIGHT] = max(tree.registers[HEIGHT], length)
    for k in range(length):
        edge = scratch.path[k]
        tree.visits[edge] += 1
        tree.total[edge] += scratch.utilities[scratch.movers[k]]
        tree.mean[edge] = tree.total[edge] / tree.visits[edge]
    return DONE

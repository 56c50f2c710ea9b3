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
from qdts.search.bandit.tree import (
    CAPPED,
    HEIGHT,
    NO_NODE,
    NODE_ROOM,
    NODES,
    PLAYERS,
    ROOT,
    SIZE,
    Tree,
    add_node,
    is_node,
    meet_actions,
    place_of,
)
from qdts.search.evaluation.policy_table import PolicyTablePointers
from qdts.search.evaluation.rollouts import roll_out

DONE, NO_ACTIONS, TOO_DEEP, DEAD_END = range(4)
"""What a simulation says: it is done; a mover with nothing to do; a path longer than the game's `max_depth`; a hole
that nothing fills, or holes without end."""
FAULTS = {
    NO_ACTIONS: "a player is to move and has no legal action",
    TOO_DEEP: "a history is longer than max_depth",
    DEAD_END: "a hole of a view can't be filled",
}
NOWHERE = -1
"""In the place of a node: a world that can't be."""

LOGARITHMS = 1 << 14
"""How many logarithms are kept: they would take a tenth of the time of a simulation of a small game."""


class Scratch(NamedTuple):
    """Working memory, pointers to kernels; B is the widest choice, D the game's greatest depth.

    V is the widest hole, or as many worlds as a root has, where they are listed.
    """

    world: Ints  # [W]
    seen: Ints  # [W] somebody's view of it
    choices: Ints  # [B]
    chances: Reals  # [B]
    fresh: Ints  # [B] legal edges without a visit
    utilities: Reals  # [P]
    path: Ints  # [D] the edges of the simulation
    movers: Ints  # [D] who moved there
    ways: Ints  # [1] how many values the root's first hole may have, or worlds; 0 where it has no hole
    weights: Reals  # [V] their weights
    filled: Ints  # [V, W] the root with that hole filled, or all of them
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


def make_scratch(game: Game, worlds: int) -> Scratch:
    """Working memory for a game; `worlds` is how many a root has at most, where they are listed."""
    ways = max(game.num_values, worlds)
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
        weights=np.empty(ways),
        filled=np.empty((ways, game.world_size), np.int64),
        next_hole=np.empty(ways, np.int64),
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
def fill_first(game: Any, rules: Ints, tree: Tree, scratch: Scratch, even: bool) -> bool:
    """Fill the root's first hole in every way, once for all simulations. False if there is none."""
    size = tree.registers[SIZE]
    take(tree.views, ROOT, size, scratch)
    scratch.ways[0] = 0
    hole = game.hole(rules, scratch.world)
    if hole == NO_HOLE:
        return True
    scratch.ways[0] = list_values(game, rules, scratch.world, hole, scratch.choices, scratch.weights, even)
    for k in range(scratch.ways[0]):
        take(tree.views, ROOT, size, scratch)
        game.fill(rules, scratch.world, hole, scratch.choices[k])
        scratch.next_hole[k] = game.hole(rules, scratch.world)
        for i in range(size):
            scratch.filled[k * size + i] = scratch.world[i]
    return bool(scratch.ways[0] > 0)


@kernel()
def fill_all(tree: Tree, scratch: Scratch, worlds: Ints, weights: Reals, count: int) -> None:
    """Take worlds and their weights as the ways to fill the root."""
    scratch.ways[0] = count
    for k in range(count):
        scratch.weights[k] = weights[k]
        scratch.next_hole[k] = NO_HOLE
    for i in range(count * tree.registers[SIZE]):
        scratch.filled[i] = worlds[i]


@kernel(inline=True)
def list_values(game: Any, rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals, even: bool) -> int:
    """The values of a hole with their weights, the rules' or even ones; how many there are."""
    count = game.values(rules, view, hole, values, weights)
    if even:
        for k in range(count):
            weights[k] = 1.0 / count
    return count


@kernel(inline=True)
def fill_holes(game: Any, rules: Ints, tree: Tree, scratch: Scratch, state: State, even: bool) -> bool:
    """Fill every hole of the root. False if that can't be done."""
    size = tree.registers[SIZE]
    if scratch.ways[0] == 0:
        take(tree.views, ROOT, size, scratch)
        return True
    k = sampled(scratch.weights, scratch.ways[0], state)
    take(scratch.filled, k, size, scratch)
    return fill_from(game, rules, scratch, size, scratch.next_hole[k], state, even)


@kernel(inline=True)
def fill_from(game: Any, rules: Ints, scratch: Scratch, size: int, hole: int, state: State, even: bool) -> bool:
    """Fill the holes of the world at hand from one on."""
    for _ in range(size):
        if hole == NO_HOLE:
            return True
        count = list_values(game, rules, scratch.world, hole, scratch.choices, scratch.chances, even)
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
def see(game: Any, rules: Ints, tree: Tree, scratch: Scratch, player: int) -> Ints:
    """A player's view of the world at hand."""
    for i in range(tree.registers[SIZE]):
        scratch.seen[i] = scratch.world[i]
    game.redact(rules, scratch.seen, player)
    return scratch.seen


@kernel(inline=True)
def node_at(tree: Tree, parent: int, action: int, mover: int, view: Ints) -> int:
    """The node with a key, made if it is missing; NO_NODE if there is no room to make it."""
    place = place_of(tree, parent, action, mover, view)
    node = int(tree.table[place])
    if node == NO_NODE:
        if tree.registers[NODES] == tree.registers[NODE_ROOM]:
            tree.registers[CAPPED] = 1
            return NO_NODE
        node = add_node(tree, parent, action, False, mover, view)
        tree.table[place] = node
    return node


@kernel(inline=True)
def child_of(
    game: Any,
    rules: Ints,
    tree: Tree,
    node: int,
    edge: int,
    sure: bool,
    mover: int,
    seer: int,
    scratch: Scratch,
    hidden: bool,
    many: bool,
) -> int:
    """The child of an edge for the world at hand, made if it is missing; NO_NODE if there is no room to make it.

    A child that is sure is missing, else the simulation would have gone there at once.
    """
    view = see(game, rules, tree, scratch, seer) if hidden else scratch.world
    child, action = int(tree.child[edge]), int(tree.edge_action[edge])
    if child != NO_NODE and is_node(tree, child, mover, view):
        return child
    if many:
        child = node_at(tree, NO_NODE, 0, mover, view)
    elif not sure:
        child = node_at(tree, node, action, mover, view)
    elif tree.registers[NODES] == tree.registers[NODE_ROOM]:
        tree.registers[CAPPED] = 1
        return NO_NODE
    else:
        child = add_node(tree, node, action, True, mover, view)
    if child != NO_NODE:
        tree.child[edge] = child
    return child


@kernel(inline=True)
def let_chance_move(game: Any, rules: Ints, scratch: Scratch, mover: int, state: State) -> int:
    """Let chance move, if it is the mover of the world at hand, until it is not, and say who is."""
    while mover == CHANCE:
        count = game.chance(rules, scratch.world, scratch.choices, scratch.chances)
        game.step(rules, scratch.world, scratch.choices[sampled(scratch.chances, count, state)])
        mover = game.mover(rules, scratch.world)
    return mover


@kernel()
def begin_elsewhere(game: Any, rules: Ints, tree: Tree, scratch: Scratch, player: int, state: State) -> int:
    """Draw a world that another player could be in, for all he knows at the world at hand (self-determinization).

    The node to begin at; NO_NODE if there is none; NOWHERE if a hole can't be filled.
    """
    size, others = tree.registers[SIZE], tree.registers[PLAYERS] - 1
    if others < 1:
        return NO_NODE
    other = 0 if others == 1 else int(uniform(state) * others)
    other += other >= player
    game.redact(rules, scratch.world, other)
    if not fill_from(game, rules, scratch, size, game.hole(rules, scratch.world), state, False):
        return NOWHERE
    mover = let_chance_move(game, rules, scratch, game.mover(rules, scratch.world), state)
    if mover == TERMINAL:
        return NO_NODE
    return node_at(tree, NO_NODE, 0, mover, see(game, rules, tree, scratch, mover))


@kernel(inline=True)
def simulate(
    game: Any,
    playout: Any,
    rules: Ints,
    tree: Tree,
    scratch: Scratch,
    table: PolicyTablePointers,
    observer: int,
    state: State,
    hidden: bool,
    many: bool,
    even: bool,
    elsewhere: bool,
    rolled: bool,
    explore: float,
    depth: int,
) -> int:
    """One simulation; DONE or a fault. `explore` is c · S; the flags are those of `Bandit`.

    Where nothing is hidden, no rule is called on the way down: the world is taken from the last node that is known.
    """
    world, size = scratch.world, tree.registers[SIZE]
    if hidden and not fill_holes(game, rules, tree, scratch, state, even):
        return DEAD_END
    node, length, mover, behind = ROOT, 0, observer, not hidden
    if elsewhere:
        node = begin_elsewhere(game, rules, tree, scratch, observer, state)
        if node in (NO_NODE, NOWHERE):
            return DONE if node == NO_NODE else DEAD_END
        mover = int(tree.mover[node])
    while True:
        if length == depth:
            return TOO_DEEP
        told = not hidden or many or mover == observer  # the node tells the legal actions
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
        sure = not hidden and mover != CHANCE
        mover = let_chance_move(game, rules, scratch, mover, state)
        if mover == TERMINAL:
            game.returns(rules, world, scratch.utilities)
            break
        known = tree.registers[NODES]
        seer = mover if many else observer
        node = child_of(game, rules, tree, node, edge, sure, mover, seer, scratch, hidden, many)
        if node in (NO_NODE, known):
            if not rolled:
                playout(rules, world, scratch.choices, scratch.chances, state, scratch.utilities)
            else:
                roll_out(
                    game, rules, table, world, scratch.seen, size, scratch.choices, scratch.chances, state,
                    scratch.utilities,
                )  # fmt: skip
            break
    tree.registers[HEIGHT] = max(tree.registers[HEIGHT], length)
    for k in range(length):
        edge = scratch.path[k]
        tree.visits[edge] += 1
        tree.total[edge] += scratch.utilities[scratch.movers[k]]
        tree.mean[edge] = tree.total[edge] / tree.visits[edge]
    return DONE

"""One simulation of the bandit machine: down the tree, out of it, and back (docs/search.md, *The bandit*)."""

from __future__ import annotations

import math

import numpy as np

from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, kernel
from qdts.rng import State, sampled, uniform
from qdts.search.bandit.scratch import LOGARITHMS, Scratch
from qdts.search.bandit.setup import Setup
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
from qdts.search.bandit.worlds import fill_from, sample_world, take
from qdts.search.evaluation.packed import Workspace
from qdts.search.evaluation.rollouts import roll_out

DONE, NO_ACTIONS, TOO_DEEP, DEAD_END = range(4)
"""How a simulation ends: it is done; a mover without a legal action; a path longer than the game's `max_depth`; a hole
that nothing fills, or holes without end."""
FAULTS = {
    NO_ACTIONS: "a player is to move and has no legal action",
    TOO_DEEP: "a history is longer than max_depth",
    DEAD_END: "a hole of a view can't be filled",
}
NOWHERE = -1
"""In the place of a node: a world that can't be."""


@kernel(inline=True)
def log_of(scratch: Scratch, n: int) -> float:
    """The logarithm of n."""
    return scratch.logarithms[n] if n < LOGARITHMS else math.log(n)


@kernel(inline=True)
def ucb(mean: float, n: int, log_available: float, explore: float) -> float:
    """W/N + c · S · √(ln N_avail / N)."""
    return mean + explore * math.sqrt(log_available / n)


@kernel(inline=True)
def choose_among_all(tree: Tree, node: int, scratch: Scratch, explore: float, state: State) -> int:
    """The edge of a simulation at a node whose edges are always legal: those without a visit first, then by UCB."""
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
    """The edge of a simulation at a node where only the m actions in `scratch.choices` are legal this time."""
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
def see(setup: Setup, tree: Tree, scratch: Scratch, player: int) -> Ints:
    """A player's view of the world at hand."""
    for i in range(tree.registers[SIZE]):
        scratch.seen[i] = scratch.world[i]
    setup.game.redact(setup.rules, scratch.seen, player)
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
    setup: Setup, tree: Tree, scratch: Scratch, node: int, edge: int, sure: bool, mover: int, seer: int
) -> int:
    """The child of an edge for the world at hand, made if it is missing; NO_NODE if there is no room to make it.

    A child that is sure is missing, else the simulation would have gone there at once.
    """
    view = see(setup, tree, scratch, seer) if setup.hidden else scratch.world
    child, action = int(tree.child[edge]), int(tree.edge_action[edge])
    if child != NO_NODE and is_node(tree, child, mover, view):
        return child
    if setup.many:
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
def let_chance_move(setup: Setup, scratch: Scratch, mover: int, state: State) -> int:
    """Let chance move for as long as it is to move at the world at hand; who is to move then."""
    game, rules = setup.game, setup.rules
    while mover == CHANCE:
        count = game.chance(rules, scratch.world, scratch.choices, scratch.chances)
        game.step(rules, scratch.world, scratch.choices[sampled(scratch.chances, count, state)])
        mover = game.mover(rules, scratch.world)
    return mover


@kernel()
def begin_elsewhere(setup: Setup, tree: Tree, scratch: Scratch, player: int, state: State) -> int:
    """Sample a world that another player can't tell from the one at hand (self-determinization).

    The node to begin at; NO_NODE if there is none; NOWHERE if a hole can't be filled.
    """
    game, rules, size, others = setup.game, setup.rules, tree.registers[SIZE], tree.registers[PLAYERS] - 1
    if others < 1:
        return NO_NODE
    other = 0 if others == 1 else int(uniform(state) * others)
    other += other >= player
    game.redact(rules, scratch.world, other)
    if not fill_from(setup, scratch, size, game.hole(rules, scratch.world), state, False):
        return NOWHERE
    mover = let_chance_move(setup, scratch, game.mover(rules, scratch.world), state)
    if mover == TERMINAL:
        return NO_NODE
    return node_at(tree, NO_NODE, 0, mover, see(setup, tree, scratch, mover))


@kernel(inline=True)
def play_out(setup: Setup, scratch: Scratch, size: int, state: State) -> None:
    """Play from the world at hand to the end, and write the returns."""
    world, choices, chances, utilities = scratch.world, scratch.choices, scratch.chances, scratch.utilities
    if not setup.rolled:
        setup.playout(setup.rules, world, choices, chances, state, utilities)
    else:
        work = Workspace(world, scratch.seen, choices, chances, utilities)
        roll_out(setup.game, setup.rules, setup.table, size, work, state)


@kernel(inline=True)
def back_up(tree: Tree, scratch: Scratch, length: int) -> None:
    """Count the returns on every edge of the path."""
    tree.registers[HEIGHT] = max(tree.registers[HEIGHT], length)
    for k in range(length):
        edge = scratch.path[k]
        tree.visits[edge] += 1
        tree.total[edge] += scratch.utilities[scratch.movers[k]]
        tree.mean[edge] = tree.total[edge] / tree.visits[edge]


@kernel(inline=True)
def simulate(setup: Setup, tree: Tree, scratch: Scratch, observer: int, state: State, elsewhere: bool) -> int:
    """One simulation; DONE or a fault. `elsewhere`: the world is one that the observer knows to be impossible.

    Where nothing is hidden, no rule is called on the way down: the world is taken from the last node that is known.
    """
    game, rules, world, size = setup.game, setup.rules, scratch.world, tree.registers[SIZE]
    if setup.hidden and not sample_world(setup, tree, scratch, state):
        return DEAD_END
    node, length, mover, behind = ROOT, 0, observer, not setup.hidden
    if elsewhere:
        node = begin_elsewhere(setup, tree, scratch, observer, state)
        if node in (NO_NODE, NOWHERE):
            return DONE if node == NO_NODE else DEAD_END
        mover = int(tree.mover[node])
    while True:
        if length == setup.depth:
            return TOO_DEEP
        all_legal = not setup.hidden or setup.many or mover == observer  # whatever the world
        m = int(tree.width[node])
        if not all_legal or m == 0:
            if behind:
                take(tree.views, node, size, scratch)
                behind = False
            m = game.legal(rules, world, scratch.choices)
            if m < 1:
                return NO_ACTIONS
            meet_actions(tree, node, scratch.choices, m)
        if all_legal:
            edge = choose_among_all(tree, node, scratch, setup.explore, state)
        else:
            edge = choose_among_legal(tree, node, scratch, m, setup.explore, state)
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
        sure = not setup.hidden and mover != CHANCE
        mover = let_chance_move(setup, scratch, mover, state)
        if mover == TERMINAL:
            game.returns(rules, world, scratch.utilities)
            break
        known = tree.registers[NODES]
        node = child_of(setup, tree, scratch, node, edge, sure, mover, mover if setup.many else observer)
        if node in (NO_NODE, known):
            play_out(setup, scratch, size, state)
            break
    back_up(tree, scratch, length)
    return DONE

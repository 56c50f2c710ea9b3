"""Views, policies, queries and options that tests of search share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from qdts.games import Game
from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.games.interface import NO_HOLE
from qdts.games.interface import TERMINAL as OVER
from qdts.kernels import Ints, Reals
from qdts.search.evaluation.builtin import Table
from qdts.search.evaluation.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, Query
from qdts.search.options.named import named
from qdts.solving.exact.belief import belief, tree_worlds
from qdts.solving.exact.values import merged_values
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree
from solving.naive import Strategy


def first_view(game: Game, seed: int) -> tuple[Ints, int]:
    """A view at somebody's turn, after as many random moves as the seed says."""
    stream = np.random.default_rng(seed)
    world = game.initial()
    left = seed % 4
    while True:
        mover = game.mover(world)
        if mover == CHANCE_MOVES:
            world = game.step(world, int(stream.choice([o for o, _ in game.chance(world)])))
            continue
        after = game.step(world, int(stream.choice(game.legal(world))))
        if left == 0 or game.mover(after) < CHANCE_MOVES:
            return game.view(world, mover), mover
        left -= 1
        world = after


def some_root(game: Game, seed: int) -> tuple[Ints, int]:
    """A view at its owner's turn, some random moves into a game."""
    rng = np.random.default_rng(seed)
    while True:
        world, moves = game.initial(), int(rng.integers(0, 4))
        while (mover := game.mover(world)) == CHANCE_MOVES or (mover >= 0 and moves > 0):
            if mover == CHANCE_MOVES:
                outcomes, p = zip(*game.chance(world), strict=True)
                world = game.step(world, int(rng.choice(outcomes, p=p)))
            else:
                world = game.step(world, int(rng.choice(game.legal(world))))
                moves -= 1
        if mover >= 0:
            return game.view(world, mover), mover


def some_view(game: Game, seed: int, moves: int = 0) -> tuple[Ints, int]:
    """The mover's view after random chance and so many random actions, or the last one before the game ends."""
    numbers = np.random.default_rng(seed)
    world, found = game.initial(), None
    while (mover := game.mover(world)) >= CHANCE_MOVES:
        if mover >= 0:
            found = game.view(world, mover), mover
            moves -= 1
            if moves < 0:
                break
        choices = [a for a, _ in game.chance(world)] if mover < 0 else game.legal(world)
        world = game.step(world, int(numbers.choice(choices)))
    assert found
    return found


def known_views(policy: Policy) -> Strategy:
    """What a policy says of a view, nothing where it does not have it."""
    known = {view.tobytes() for view in policy.views}
    return lambda view: policy(view) if view.tobytes() in known else {}


def policy_for(game: Game, seed: int, zeros: bool = False) -> Policy:
    """A random policy; with zeros, a third of all actions is never taken."""
    tree = game_tree(game)
    stream = np.random.default_rng(seed)
    offset = tree.infosets.offset
    p = stream.exponential(size=offset[-1]) + 0.05
    if zeros:
        p[stream.uniform(size=len(p)) < 1 / 3] = 0
        p[offset[:-1]] += 1e-300 + (np.add.reduceat(p, offset[:-1]) == 0)
    p /= np.repeat(np.add.reduceat(p, offset[:-1]), np.diff(offset))
    return policy_on(tree, p)


def noisy_table(game: Game, seed: int) -> Table:
    """A table of a random policy with every kind of noise."""
    tree = game_tree(game)
    p = np.random.default_rng(seed).exponential(size=len(tree.infosets.action))
    counts = np.diff(tree.infosets.offset)
    p /= np.repeat(np.add.reduceat(p, tree.infosets.offset[:-1]), counts)
    return Table(policy_on(tree, p), value_noise=0.05, child_noise=0.05, belief_noise=0.1, seed=seed)


def query(game: Game, kind: int, vector: Ints, player: int, pending: int = NOTHING) -> Query:
    hole = game.hole(vector) if kind == SAMPLE else NO_HOLE
    if kind == SAMPLE:
        listed = game.values(vector, hole)
    elif kind == CHANCE:
        listed = game.chance(vector)
    else:
        legal = game.legal(vector)
        listed = [(a, 1 / len(legal)) for a in legal]
    choices, weights = zip(*listed, strict=True)
    return Query(kind, vector, player, pending, hole, np.array(choices, np.int64), np.array(weights))


def half_filled(game: Game, vector: Ints) -> Iterator[Ints]:
    """A view and everything on the way to its completions that still has a hole."""
    hole = game.hole(vector)
    if hole != NO_HOLE:
        yield vector
        for value, _ in game.values(vector, hole):
            yield from half_filled(game, game.fill(vector, hole, value))


def queries(game: Game, most: int) -> Iterator[Query]:
    """What a search may ask, at so many information sets and worlds."""
    tree = game_tree(game)
    stream = np.random.default_rng(1)
    sets = stream.permutation(tree.num_infosets)[:most]
    for i in sets:
        view, player = tree.infosets.views[i], int(tree.infosets.owner[i])
        yield query(game, ACT, view, player)
        actions = game.legal(view)
        for vector in half_filled(game, view):
            for action in actions if most >= 1000 else stream.choice(actions, 1):
                yield query(game, SAMPLE, vector, player, int(action))
    worlds = tree_worlds(tree)
    moving = np.flatnonzero(tree.histories.mover != OVER)
    for h in stream.permutation(moving)[: 4 * most]:
        mover = int(tree.histories.mover[h])
        for player in range(game.players):
            if player != mover:
                yield query(game, CHANCE if mover == CHANCE_MOVES else OPPONENT, worlds[h], player)


@cache
def places(game: Game) -> dict[bytes, int]:
    """A history of every world."""
    return {w.tobytes(): h for h, w in enumerate(tree_worlds(game_tree(game)))}


def action_values(policy: Policy, sets: Ints) -> list[Reals]:
    """Q^P of every action at information sets: the belief over worlds times what a history is worth."""
    game, tree = policy.game, game_tree(policy.game)
    merged = [merged_values(tree, policy.probability, p) for p in range(game.players)]
    found = []
    for i in sets:
        view, player = tree.infosets.views[i], int(tree.infosets.owner[i])
        at, p = belief(policy, view, player)
        found.append(
            np.array(
                [
                    sum(q * merged[player][places(game)[game.step(w, a).tobytes()]] for w, q in zip(at, p, strict=True))
                    for a in game.legal(view)
                ]
            )
        )
    return found


FOREST = {
    "a-ismcts": named("a-ismcts"),
    "qdts": named("qdts"),
    "qdts, eps 0": named("qdts", eps_sample=0.0, eps_opponent=0.0),
    "qdts-descent": named("qdts-descent"),
    "mmds": named("mmds"),
    "qdts-backprop": named("qdts-backprop"),
    "nash-ismcts": named("nash-ismcts", belief="model"),
}

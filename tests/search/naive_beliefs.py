"""Beliefs in plain Python, from docs/search.md and the rules alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from qdts.games import Game
from qdts.games.interface import CHANCE, NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.search.options.options import Options
from search.bandit_twin import BanditTwin
from solving.naive import Strategy

Weighed = list[tuple[Ints, float]]
Memory = dict[tuple[int, bytes], dict[int, float]]
Ratio = Callable[[Ints, int, int], float]
"""σ / P of what a player did at a view."""
MOST_COMPLETIONS = 256
"""Of a root's view: with more of them H stays."""


def all_completions(game: Game, view: Ints) -> list[Ints]:
    """Every way to fill the holes."""
    hole = game.hole(view)
    if hole == NO_HOLE:
        return [view]
    return [world for x, _ in game.values(view, hole) for world in all_completions(game, game.fill(view, hole, x))]


def worlds_to(game: Game, world: Ints) -> list[tuple[Ints, int]]:
    """Every world on the way to one, each with the move that was made there (-1 at the last)."""
    assert game.replay is not None
    found, at = [], game.initial()
    for move in game.replay(world):
        found.append((at, move))
        at = game.step(at, move)
    assert np.array_equal(at, world)
    return [*found, (at, -1)]


def by_the_rules(game: Game, view: Ints, world: Ints) -> float:
    """The product of the rules' weights of what fills a view."""
    weight = 1.0
    while (hole := game.hole(view)) != NO_HOLE:
        [(x, p)] = [(x, p) for x, p in game.values(view, hole) if agrees(world, game.fill(view, hole, x))]
        weight, view = weight * p, game.fill(view, hole, x)
    return weight


def edge(game: Game, world: Ints, move: int, player: int, strategy: Strategy) -> float:
    """The probability of a move, as the player reckons; chance is left out where the rules' weights stand for it."""
    mover = game.mover(world)
    if mover == CHANCE:
        return 1.0 if game.weights == "chance" else dict(game.chance(world))[move]
    return 1.0 if mover == player else strategy(game.view(world, mover))[move]


def exact(game: Game, view: Ints, player: int, strategy: Strategy) -> Weighed:
    """The completions, each with the product of all that led there."""
    found = []
    for world in all_completions(game, view):
        weight = by_the_rules(game, view, world) if game.weights == "chance" else 1.0
        for w, move in worlds_to(game, world)[:-1]:
            weight *= edge(game, w, move, player, strategy)
        found.append((world, weight))
    return found


def bayes(game: Game, view: Ints, player: int, strategy: Strategy, h: Strategy, turns: int = 1) -> Weighed:
    """The same from some own turns ago on; `h` gives a distribution over the values of a vector's next hole."""
    found = []
    for world in all_completions(game, view):
        way = worlds_to(game, world)
        weight = by_the_rules(game, view, world) if game.weights == "chance" else 1.0
        whole = [game.mover(w) == player and not game.midway(after) for (w, _), (after, _) in pairwise(way)]
        own = [k for k, is_own in enumerate(whole) if is_own]
        last = own[-turns] if len(own) >= turns else None
        if last is not None:
            at = way[last][0]
            vector = game.view(at, player)
            if game.weights == "chance":
                weight /= by_the_rules(game, vector, at)
            weight *= held(game, vector, at, h)
        for w, move in way[last or 0 : -1]:
            weight *= edge(game, w, move, player, strategy)
        found.append((world, weight))
    return found


def held(game: Game, vector: Ints, world: Ints, h: Strategy) -> float:
    """What `h` gives to a world that fills a vector: the product along its holes."""
    weight = 1.0
    while (hole := game.hole(vector)) != NO_HOLE:
        [x] = [x for x, _ in game.values(vector, hole) if agrees(world, game.fill(vector, hole, x))]
        weight *= h(vector)[x]
        vector = game.fill(vector, hole, x)
    return weight


def response_weights(game: Game, view: Ints, player: int, h: Strategy, ratio: Ratio) -> Weighed:
    """The belief `responses` at the root: h, times `ratio` of what others have done; nothing where H is to stay."""
    worlds = all_completions(game, view)
    in_pieces = any(game.midway(game.step(worlds[0], action)) for action in game.legal(worlds[0]))
    if game.replay is None or in_pieces or not 2 <= len(worlds) <= MOST_COMPLETIONS:
        return []
    found, somebody_moved = [], False
    for world in worlds:
        weight = held(game, view, world, h)
        for before, move in worlds_to(game, world)[:-1]:
            mover = game.mover(before)
            if mover not in (CHANCE, player):
                weight, somebody_moved = weight * ratio(game.view(before, mover), mover, move), True
        found.append((world, weight))
    return found if somebody_moved else []


def agrees(world: Ints, vector: Ints) -> bool:
    return all(v in (-1, w) for v, w in zip(vector.tolist(), world.tolist(), strict=True))


def of_hole(game: Game, vector: Ints, weighed: Weighed, otherwise: Sequence[float] | None = None) -> Reals:
    """The distribution over the values of a vector's next hole that follows from weights of completions.

    Where all are 0 it is another one, or what the rules say.
    """
    hole = game.hole(vector)
    values = game.values(vector, hole)
    sums = [sum(p for w, p in weighed if agrees(w, game.fill(vector, hole, x))) for x, _ in values]
    if sum(sums) == 0:
        return np.array([p for _, p in values] if otherwise is None else otherwise)
    return np.array(sums) / sum(sums)


def own_seed(view: Ints, player: int, seed: int) -> int:
    """The seed of a search from an earlier view."""
    words = np.array([seed, player], np.int64).tobytes() + view.tobytes()
    return int.from_bytes(blake2b(words, digest_size=8).digest(), "little")


def inferred(game: Game, view: Ints, player: int, options: Options, visits: int, seed: int, known: Memory) -> Weighed:
    """The belief `visits`: searches from every view at which another has moved."""

    def strategy(earlier: Ints) -> dict[int, float]:
        mover = game.mover(earlier)
        key = mover, earlier.tobytes()
        if key not in known:
            worlds = inferred(game, earlier, mover, options, visits, seed, known)
            twin = BanditTwin(game, earlier, mover, options, own_seed(earlier, mover, seed), worlds)
            twin.run(visits)
            legal = game.legal(earlier)
            counts = {a: twin.root.edges[a].N if a in twin.root.edges else 0 for a in legal}
            known[key] = {a: (n + 1) / (sum(counts.values()) + len(legal)) for a, n in counts.items()}
        return known[key]

    weighed = exact(game, view, player, strategy)
    total = sum(p for _, p in weighed)
    return [(world, p / total) for world, p in weighed]


def listed_worlds(game: Game, view: Ints, player: int, options: Options, visits: int, seed: int) -> Weighed:
    """What the bandit's beliefs `completions` and `visits` draw from; nothing for the others."""
    if options.belief == "completions":
        worlds = all_completions(game, view)
        return [(world, 1 / len(worlds)) for world in worlds]
    if options.belief == "visits":
        return inferred(game, view, player, options, visits, seed, {})
    return []

"""Slow, obvious twins of the kernels: plain recursion over a game's rules, one history at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from qdts.games import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals

Strategy = Callable[[Ints], dict[int, float]]
"""From a view at its owner's turn to probabilities."""


def histories(
    game: Game, world: Ints | None = None, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Every history below a world: its actions and its world."""
    world = game.initial() if world is None else world
    yield path, world
    for action, _ in branches(game, world):
        yield from histories(game, game.step(world, action), (*path, action))


def branches(game: Game, world: Ints, strategy: Strategy | None = None) -> list[tuple[int, float]]:
    """What may happen next, with probabilities (1 for each of a player's actions without a strategy)."""
    mover = game.mover(world)
    if mover == TERMINAL:
        return []
    if mover == CHANCE:
        return game.chance(world)
    if strategy is None:
        return [(a, 1.0) for a in game.legal(world)]
    return list(strategy(game.view(world, mover)).items())


def expected_return(game: Game, strategy: Strategy, world: Ints | None = None) -> Reals:
    """Every player's expected return."""
    world = game.initial() if world is None else world
    if game.mover(world) == TERMINAL:
        return game.returns(world)
    total = np.zeros(game.players)
    for action, p in branches(game, world, strategy):
        if p > 0:
            total += p * expected_return(game, strategy, game.step(world, action))
    return total


def best_response_value(game: Game, strategy: Strategy, player: int) -> float:
    """The maximum over all pure strategies of one player, tried one by one."""
    views: dict[bytes, list[int]] = {}
    for _, world in histories(game):
        if game.mover(world) == player:
            views[game.view(world, player).tobytes()] = game.legal(world)
    best = -np.inf
    for actions in product(*views.values()):
        pure = dict(zip(views, actions, strict=True))

        def profile(view: Ints, pure: dict[bytes, int] = pure) -> dict[int, float]:
            key = view.tobytes()
            return {pure[key]: 1.0} if key in pure else strategy(view)

        best = max(best, float(expected_return(game, profile)[player]))
    return best


def response_by_views(game: Game, strategy: Strategy, player: int) -> tuple[float, float]:
    """The value of a player's best response and of their own strategy, by recursion from view to view."""

    def reach(world: Ints, weight: float, groups: dict[bytes, list[tuple[Ints, float]]]) -> float:
        """Group the worlds at the player's next turn by view; return the weighted returns of finished games."""
        mover = game.mover(world)
        if mover == TERMINAL:
            return weight * float(game.returns(world)[player])
        if mover == player:
            groups.setdefault(game.view(world, player).tobytes(), []).append((world, weight))
            return 0.0
        steps = [(game.step(world, a), weight * p) for a, p in branches(game, world, strategy) if p > 0]
        return sum(reach(after, w, groups) for after, w in steps)

    def value(worlds: list[tuple[Ints, float]]) -> tuple[float, float]:
        groups: dict[bytes, list[tuple[Ints, float]]] = {}
        best = mean = sum(reach(world, weight, groups) for world, weight in worlds)
        for group in groups.values():
            world = group[0][0]
            after = {a: value([(game.step(w, a), r) for w, r in group]) for a in game.legal(world)}
            best += max(b for b, _ in after.values())
            mean += sum(p * after[a][1] for a, p in strategy(game.view(world, player)).items())
        return best, mean

    return value([(game.initial(), 1.0)])


class NaiveCFR:
    """CFR by recursion with tables by view; alternating updates, regrets as in the papers."""

    def __init__(self, game: Game, *, plus: bool) -> None:
        self.game, self.plus, self.t = game, plus, 0
        self.regret: dict[bytes, dict[int, float]] = {}
        self.total: dict[bytes, dict[int, float]] = {}
        self.gain: dict[bytes, dict[int, float]] = {}

    def strategy(self, view: Ints) -> dict[int, float]:
        """Regret matching."""
        regret = self.regret.setdefault(view.tobytes(), dict.fromkeys(self.game.legal(view), 0.0))
        positive = {a: max(r, 0.0) for a, r in regret.items()}
        norm = sum(positive.values())
        return {a: p / norm if norm > 0 else 1 / len(positive) for a, p in positive.items()}

    def run(self, iterations: int) -> None:
        """Update every player once in each iteration."""
        for _ in range(iterations):
            self.t += 1
            for player in range(self.game.players):
                self.gain = {}
                self._walk(self.game.initial(), player, 1.0, 1.0)
                for key, gains in self.gain.items():
                    for a, g in gains.items():
                        r = self.regret[key][a] + g
                        self.regret[key][a] = max(r, 0.0) if self.plus else r

    def _walk(self, world: Ints, player: int, own: float, others: float) -> float:
        game = self.game
        mover = game.mover(world)
        if mover == TERMINAL:
            return float(game.returns(world)[player])
        sigma = dict(branches(game, world, self.strategy))
        values = {
            a: self._walk(
                game.step(world, a),
                player,
                own * p if mover == player else own,
                others if mover == player else others * p,
            )
            for a, p in sigma.items()
        }
        value = sum(sigma[a] * v for a, v in values.items())
        if mover == player:
            key = game.view(world, player).tobytes()
            gains = self.gain.setdefault(key, dict.fromkeys(sigma, 0.0))
            total = self.total.setdefault(key, dict.fromkeys(sigma, 0.0))
            for a, v in values.items():
                gains[a] += others * (v - value)
                total[a] += (self.t if self.plus else 1) * own * sigma[a]
        return value

    def average(self, view: Ints) -> dict[int, float]:
        """The average strategy."""
        total = self.total[view.tobytes()]
        norm = sum(total.values())
        return {a: p / norm if norm > 0 else 1 / len(total) for a, p in total.items()}


def random_games(game: Game, games: int, seed: int) -> tuple[int, Reals]:
    """Random games, each choice by the next 64 random bits: the steps of all, and the mean returns."""
    state, steps, total = seed, 0, np.zeros(game.players)
    for _ in range(games):
        world = game.initial()
        while game.mover(world) != TERMINAL:
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            world = game.step(world, _chosen(game, world, z ^ z >> 31))
            steps += 1
        total += game.returns(world)
    return steps, total / games


def _chosen(game: Game, world: Ints, bits: int) -> int:
    if game.mover(world) != CHANCE:
        actions = game.legal(world)
        return actions[(bits >> 32) * len(actions) >> 32]
    u, outcomes = (bits >> 11) / 2**53, game.chance(world)
    for outcome, probability in outcomes:
        u -= probability
        if u < 0:
            return outcome
    return outcomes[-1][0]

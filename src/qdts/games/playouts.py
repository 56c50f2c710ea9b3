"""Random games at native speed: every player chooses evenly, chance as its probabilities say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64

from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.rng import State, StateType, sampled, seeded, uniform


class Playouts(NamedTuple):
    """What a number of random games gave."""

    games: int
    steps: int
    """Actions and outcomes in all of them."""
    returns: Reals
    """float64[P]: the mean of every player's returns."""


def play_randomly(game: Game, games: int, *, seed: int = 0, world: Ints | None = None) -> Playouts:
    """Play random games from the start, or from a world."""
    start = game.initial() if world is None else world
    total = np.zeros(game.players)
    steps = _play(game.kernels, game.rules, start, game.max_branching, games, seeded(seed), total)
    return Playouts(games, int(steps), total / max(games, 1))


@kernel(int64(KernelsType, RulesType, int64[::1], int64, int64, StateType, float64[::1]))
def _play(game: Any, rules: Ints, start: Ints, branching: int, games: int, state: State, total: Reals) -> int:
    world, choices = start.copy(), np.zeros(branching, np.int64)
    chances, returns = np.zeros(branching), np.zeros(len(total))
    rules_at, world_at, choices_at, chances_at = rules.ctypes, world.ctypes, choices.ctypes, chances.ctypes
    steps = 0
    for _ in range(games):
        for i in range(len(start)):
            world[i] = start[i]
        while True:
            mover = game.mover(rules_at, world_at)
            if mover == TERMINAL:
                break
            if mover == CHANCE:
                count = game.chance(rules_at, world_at, choices_at, chances_at)
                k = sampled(chances, count, state)
            else:
                count = game.legal(rules_at, world_at, choices_at)
                k = int(uniform(state) * count)
            game.step(rules_at, world_at, choices[k])
            steps += 1
        game.returns(rules_at, world_at, returns.ctypes)
        for p in range(len(total)):
            total[p] += returns[p]
    return steps

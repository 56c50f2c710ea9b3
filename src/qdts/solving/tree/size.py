"""How many histories a game has, estimated from random games: before millions of them are listed in vain."""

from __future__ import annotations

import random
from statistics import fmean, median

from qdts.games.game import Game
from qdts.games.rule import CHANCE, TERMINAL
from qdts.kernels import Ints

GROUPS, GAMES = 9, 10
"""Random games are played in so many groups of so many."""
MARGIN = 10.0
"""An estimate above this many times a limit counts as above the limit."""


def surely_exceeds(game: Game, limit: int) -> bool:
    """Whether a game has more histories than a limit, as far as random games tell.

    A game within the limit is taken for a larger one with probability below 0.2 %: by Markov's inequality the mean of
    a group is above MARGIN times its expectation with probability at most 1 / MARGIN, and the median of nine means only
    if five of them are: C(9, 5) / MARGIN⁵ = 0.13 %. The games are the same each time, so the result is, too.
    """
    return estimated_histories(game) > MARGIN * limit


def estimated_histories(game: Game) -> float:
    """The median over groups of the mean of Knuth's estimate, 1 + b₀ + b₀ b₁ + …, over the games of a group.

    b_d is the number of choices at depth d of a game in which all choices are equally likely (D. E. Knuth, Estimating
    the efficiency of backtrack programs, 1975). Each estimate is unbiased.
    """
    rng = random.Random(0)
    return median(fmean(_estimate(game, rng) for _ in range(GAMES)) for _ in range(GROUPS))


def _estimate(game: Game, rng: random.Random) -> float:
    world, width, total = game.initial(), 1.0, 1.0
    for _ in range(game.max_depth):
        if not (choices := _choices(game, world)):
            break
        width *= len(choices)
        total += width
        game.kernels.step.call(game.rules.ctypes.data, world.ctypes.data, rng.choice(choices))
    return total


def _choices(game: Game, world: Ints) -> list[int]:
    """What the mover, a player or chance, may do."""
    mover = game.mover(world)
    if mover == TERMINAL:
        return []
    return [outcome for outcome, _ in game.chance(world)] if mover == CHANCE else game.legal(world)

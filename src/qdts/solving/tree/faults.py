"""Faults in a game's rules that every walk over them looks for."""

from __future__ import annotations

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, kernel


def broken_rules(game: Game, world: Ints, chance: bool) -> InputError:
    """The error for a world where chance does not sum to one, or where the mover has no action."""
    where = game.layout.write(world)
    if chance:
        total = sum(p for _, p in game.chance(world))
        return InputError(f"{game.spec}: the chance distribution at {where} sums to {total!r}, expected 1")
    return InputError(f"{game.spec}: whoever moves at {where} has nothing to choose from, expected an action")


def too_deep(game: Game, world: Ints) -> InputError:
    """The error for a history that is longer than the game says."""
    return InputError(f"{game.spec}: a history is longer than max_depth={game.max_depth} at {game.layout.write(world)}")


@kernel()
def sums_to_one(probabilities: Reals, count: int) -> bool:
    """Whether the first `count` probabilities are a distribution."""
    total = 0.0
    for k in range(count):
        total += probabilities[k]
    return bool(abs(total - 1.0) < 1e-9)

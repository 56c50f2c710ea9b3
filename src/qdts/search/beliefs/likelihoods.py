"""The likelihood of the moves that lead to a world: what every belief by Bayes' rule is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE
from qdts.kernels import Ints

PolicyAt = Callable[[Ints, int], dict[int, float]]
"""From a view and the player who moves there to the probability of each of their actions."""


class Step(NamedTuple):
    """One move in the history of a world."""

    world: Ints
    """The world in which it was made."""
    mover: int
    move: int


def verify_replay(game: Game, belief: str) -> None:
    """Raise an InputError unless the rules can give the history of a world."""
    if game.replay is None:
        raise InputError(
            f"belief={belief} weighs the moves that led to a world, and the rules of {game.spec} have no `replay`: "
            "expected rules, holes or completions"
        )


def history_of(game: Game, world: Ints) -> list[Step]:
    """The moves that lead from the start to a world, in order, by the rules' `replay`."""
    assert game.replay is not None
    steps, at = [], game.initial()
    for move in game.replay(world):
        steps.append(Step(at, game.mover(at), move))
        at = game.step(at, move)
    return steps


def likelihood(game: Game, steps: Sequence[Step], player: int, policy: PolicyAt, rules: float) -> float:
    """The probability of some moves to a completion, without the player's own; `rules` is its weight by the rules.

    Several histories may lead to one world, by other outcomes of chance. Where the rules' weights are those of chance,
    they count all of these histories and stand for chance; otherwise the outcomes of the given history count.
    """
    weight = rules if game.weights == "chance" else 1.0
    for step in steps:
        if step.mover == CHANCE and game.weights != "chance":
            weight *= dict(game.chance(step.world))[step.move]
        elif step.mover not in (CHANCE, player):
            weight *= policy(game.view(step.world, step.mover), step.mover)[step.move]
    return weight

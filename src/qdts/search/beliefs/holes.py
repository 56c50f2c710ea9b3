"""Holes in words, and an evaluator's H of the first hole of a view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.games.layout import Field
from qdts.kernels import Ints
from qdts.rng import seeded
from qdts.search.evaluation.evaluator import SAMPLE, Evaluator, Query


class HoleBelief(NamedTuple):
    """H of one hole."""

    hole: str
    """Its name: `cards[1]`."""
    values: list[tuple[str, float]]
    """The values that may fill it, in the order of the rules, and the probability of each."""


def first_belief(game: Game, evaluator: Evaluator, view: Ints, player: int, action: int) -> HoleBelief | None:
    """H of a view's first hole once its owner has decided on an action, or None where there is no hole."""
    hole = game.hole(view)
    if hole == NO_HOLE:
        return None
    values = game.values(view, hole)
    query = Query(
        kind=SAMPLE,
        vector=view,
        player=player,
        pending=action,
        hole=hole,
        choices=np.array([v for v, _ in values], np.int64),
        weights=np.array([w for _, w in values]),
    )
    h = evaluator.evaluate(query, seeded(0)).prior
    names = [value_name(game, view, hole, v) for v, _ in values]
    return HoleBelief(hole_name(game, hole), list(zip(names, h.tolist(), strict=True)))


def hole_name(game: Game, hole: int) -> str:
    """The name of a hole's component: its field, with its position there where the field has several."""
    field, position = _field(game, hole)
    return f"{field.name}[{position}]" if field.length > 1 else field.name


def value_name(game: Game, view: Ints, hole: int, value: int) -> str:
    """What stands in a hole once it is filled with a value."""
    return _field(game, hole)[0].write(game.fill(view, hole, value)[hole : hole + 1])


def _field(game: Game, component: int) -> tuple[Field, int]:
    """The field of a component of the world's vector, and the component's position in it."""
    for field in game.layout.fields:
        if component < field.length:
            return field, component
        component -= field.length
    raise AssertionError("a component outside of the layout")

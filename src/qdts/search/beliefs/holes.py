"""Holes in words, and what an evaluator believes to be in the first one of a view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.games.layout import Field
from qdts.kernels import Ints
from qdts.rng import seeded
from qdts.search.evaluation.evaluator import SAMPLE, Evaluator, Query


class Belief(NamedTuple):
    """H of one hole."""

    hole: str
    """Its name: `cards[1]`."""
    values: list[tuple[str, float]]
    """What may be there, in the order of the rules, and how likely it is held to be."""


def first_belief(game: Game, evaluator: Evaluator, view: Ints, player: int, action: int) -> Belief | None:
    """H of a view's first hole when its owner has decided on an action, or None where there is no hole."""
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
    return Belief(hole_name(game, hole), list(zip(names, h.tolist(), strict=True)))


def hole_name(game: Game, hole: int) -> str:
    """The name of a lane: its field, with its place there where the field has several."""
    field, place = _field(game, hole)
    return f"{field.name}[{place}]" if field.length > 1 else field.name


def value_name(game: Game, view: Ints, hole: int, value: int) -> str:
    """What stands in a hole once it is filled with a value."""
    return _field(game, hole)[0].write(game.fill(view, hole, value)[hole : hole + 1])


def _field(game: Game, lane: int) -> tuple[Field, int]:
    """The field of a lane, and the lane's place in it."""
    for field in game.layout.fields:
        if lane < field.length:
            return field, lane
        lane -= field.length
    raise AssertionError("a lane outside of the layout")

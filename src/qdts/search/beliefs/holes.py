"""Holes in words, and an evaluator's H of the first hole of a view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints
from qdts.rng import seeded
from qdts.search.evaluation.evaluator import SAMPLE, Evaluator, Query


class HoleBelief(NamedTuple):
    """H of one hole."""

    hole: str
    """Its component, in short: `cards[1]`."""
    values: list[tuple[str, float]]
    """What may be there, in the order of the rules, and how likely it is held to be."""
    name: str
    """Its component in words: `card of player 1`."""


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
    return HoleBelief(hole_name(game, hole), list(zip(names, h.tolist(), strict=True)), game.layout.place(hole))


def hole_name(game: Game, hole: int) -> str:
    """The short name of a component: its field, with its index there where the field has several."""
    return game.layout.code(hole)


def value_name(game: Game, view: Ints, hole: int, value: int) -> str:
    """What stands in a hole once it is filled with a value, in words."""
    return game.value_name(view, hole, value)

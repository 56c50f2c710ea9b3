"""Smaller games of the same family: where a game is too large to enumerate, one of these can be checked exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qdts.errors import InputError
from qdts.games.family import Family
from qdts.games.game import Game
from qdts.games.registry import IMPORTED, find_family, parse_spec


def smaller_games(game: Game) -> Iterator[Game]:
    """Games of the same family with other parameters, in the order in which they are worth trying.

    First come those that the family names in `small`, then the one with every whole number at its lower bound, then the
    family's examples. Parameter sets that the game itself refuses are left out.
    """
    if game.name.startswith(IMPORTED):
        return
    family = find_family(game.name)
    seen = {game.spec}
    for parameters in _candidates(family, game):
        try:
            small = family.load(parameters)
        except InputError:
            continue
        if small.spec not in seen:
            seen.add(small.spec)
            yield small


def _candidates(family: Family, game: Game) -> Iterator[Mapping[str, Any]]:
    for spec in family.small:
        yield parse_spec(spec)[1]
    lowest = {p.name: p.low for p in family.parameters if p.low is not None}
    yield {**game.parameters, **lowest}
    for spec in family.examples:
        yield parse_spec(spec)[1]

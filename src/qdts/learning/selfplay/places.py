"""Places: histories in the levels of sampled games, by which rows are picked before anything is copied.

M counts places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.kernels import Ints
from qdts.learning.selfplay.sampling import Level, moves_of


class Places(NamedTuple):
    """Histories in some levels."""

    level: Ints  # [M]
    row: Ints  # [M]
    player: Ints  # [M] who moves there, or whose values are meant
    column: Ints  # [M] a choice, or 0
    times: Ints  # [M] how many games are meant

    def take(self, which: Ints) -> Places:
        """Some of them."""
        return Places._make(column[which] for column in self)


def places_in(level: int, rows: Ints, player: int | Ints, column: Ints, times: Ints) -> Places:
    """Some rows of a level."""
    return Places(np.full(len(rows), level), rows, np.broadcast_to(player, rows.shape), column, times)


def joined(parts: Sequence[Places]) -> Places:
    """The places of all parts, in order."""
    return Places._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def players_moves(levels: Sequence[Level]) -> Places:
    """The moves of players: every choice of theirs that a game took."""
    found = []
    for number, rows, columns in moves_of(levels):
        level = levels[number]
        found.append(places_in(number, rows, level.mover[rows], columns, level.taken[rows, columns]))
    return joined(found)


def rows_at(columns: Sequence[NDArray[Any]], places: Places) -> NDArray[Any]:
    """The rows of a column of all levels at some places."""
    out = np.zeros((len(places.row), *columns[0].shape[1:]), columns[0].dtype)
    for number, column in enumerate(columns):
        at = np.flatnonzero(places.level == number)
        out[at] = column[places.row[at]]
    return out


def worlds_at(levels: Sequence[Level], places: Places) -> Ints:
    """The worlds at some places. [M, W]"""
    return np.asarray(rows_at([level.world for level in levels], places), np.int64)


def actions_at(levels: Sequence[Level], places: Places) -> Ints:
    """The actions that the columns of some places are. [M]"""
    chosen: Ints = rows_at([level.choice for level in levels], places)[np.arange(len(places.row)), places.column]
    return chosen

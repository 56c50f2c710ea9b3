"""The views that a generation's games met."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdts.hashing import distinct_rows
from qdts.kernels import Ints


class Coverage:
    """Remembers the views of the newest generation."""

    def __init__(self) -> None:
        self._met: Ints | None = None

    def put(self, views: Ints, players: Ints) -> None:
        """The views of a new generation, and their players."""
        self._met = np.column_stack([players, views])

    def has(self, views: Ints, players: Ints) -> NDArray[np.bool_]:
        """Which of some views were met."""
        if self._met is None:
            return np.zeros(len(views), np.bool_)
        which, _ = distinct_rows(np.concatenate([self._met, np.column_stack([players, views])]))
        known = np.zeros(len(which), np.bool_)
        known[which[: len(self._met)]] = True
        return known[which[len(self._met) :]]

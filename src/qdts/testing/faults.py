"""The laws by name, and the error that says which of them a game breaks, and where."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints


class Law(StrEnum):
    """What every game must keep; `qdts.testing.laws` says what each asks for."""

    BASICS = "basics"
    VIEWS = "views"
    COMPLETIONS = "completions"
    WEIGHTS = "weights"
    MEMORY = "memory"
    HIDDEN = "hidden"
    MIDWAY = "midway"
    FEATURES = "features"
    TEXT = "text"
    GOLDEN = "golden"
    GUARD = "guard"


class ConformanceError(AssertionError):
    """A game breaks a law."""

    def __init__(self, law: Law, game: Game, what: str) -> None:
        super().__init__(f"law of {law}: {game.spec}: {what}")
        self.law = law


def require(law: Law, game: Game, holds: np.bool_ | NDArray[np.bool_], vectors: Ints, what: str, *details: Any) -> None:
    """Raise a ConformanceError at the first vector for which the law does not hold.

    A detail is an array beside the vectors; `{0}`, `{1}` … in `what` stand for its entry at that vector, where an
    entry that is itself a vector is written as the layout does.
    """
    if holds.all():
        return
    i = int(np.argmin(holds))
    entries = [written(game, d[i]) if np.ndim(d[i]) else d[i] for d in details]
    raise ConformanceError(law, game, f"{what.format(*entries)} at {written(game, vectors[i])}")


def written(game: Game, vector: Ints) -> str:
    """The layout's text for a world or a view, or bare numbers where it has none for them."""
    try:
        return game.layout.write(vector)
    except IndexError:
        return str(vector.tolist())

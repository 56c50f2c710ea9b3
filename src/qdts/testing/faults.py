"""The laws by name, and the error that says which one a game breaks, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints


class Law(StrEnum):
    """What every game must keep, in the order of checking: later laws rely on earlier ones."""

    GUARD = "guard", "run as plain Python, the rules stay within their vectors"
    BASICS = "basics", "movers, choices, components and returns in range; chance sums to one; reading changes nothing"
    HIDDEN = "hidden", "a game that hides something has a hole in some view; any other has none"
    VIEWS = "views", "redacting only hides, and is idempotent; owners know whether they move, and how"
    COMPLETIONS = "completions", "filling the holes of a view gives exactly the worlds that play can reach with it"
    WEIGHTS = "weights", "the values of holes are as likely as chance makes them"
    MEMORY = "memory", "a view determines what its owner saw and did before"
    MIDWAY = "midway", "who begins a split action completes it; to the others all its sub-actions look the same"
    FEATURES = "features", "finite, equal for equal vectors, different for different ones"
    TEXT = "text", "texts are read back; actions, outcomes and views have names"
    GOLDEN = "golden", "counts, the value of uniform play and a playthrough equal the golden file"
    COMPILED = "compiled", "the compiled rules agree with plain Python"

    requires: str
    """What it requires, in one line."""

    def __new__(cls, name: str, requires: str) -> Law:
        """A law is its name, and knows what it requires."""
        law = str.__new__(cls, name)
        law._value_, law.requires = name, requires
        return law


class ConformanceError(AssertionError):
    """A game breaks a law."""

    def __init__(self, law: Law, game: Game, what: str) -> None:
        super().__init__(f"law of {law}: {game.spec}: {what}")
        self.law, self.what, self.spec = law, what, game.spec


@dataclass(frozen=True)
class Named:
    """Numbers that an error shows by name."""

    numbers: Ints
    name: Callable[[int], str]

    def __getitem__(self, i: int) -> str:
        return self.name(int(self.numbers[i]))


def require(law: Law, game: Game, holds: np.bool_ | NDArray[np.bool_], vectors: Ints, what: str, *details: Any) -> None:
    """Raise a ConformanceError at the first vector for which the law does not hold.

    Args:
        law: The law.
        game: The game.
        holds: Whether it holds, for each vector.
        vectors: Worlds or views, int64[N, W].
        what: What is wrong; `{0}`, `{1}` … stand for the details.
        details: Sequences beside the vectors. The entry at the first bad vector is shown; one that is itself a vector
            is written as the layout does.

    Raises:
        ConformanceError: The law does not hold for some vector.
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

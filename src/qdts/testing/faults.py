"""The laws by name, and the error that says which of them a game breaks, and where."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints


class Law(StrEnum):
    """What every game must keep, in the order in which it is checked: later laws rely on earlier ones."""

    GUARD = "guard", "run as plain Python, the rules stay within their vectors"
    BASICS = "basics", "movers, choices, slots and returns in range; chance sums to one; reading changes nothing"
    HIDDEN = "hidden", "a game that hides has a hole in some view, one that does not has none"
    VIEWS = "views", "redacting only hides, and all at once; owners know whether they move, and how"
    COMPLETIONS = "completions", "filling the holes of a view gives exactly the worlds that play can reach with it"
    WEIGHTS = "weights", "the values of holes are as likely as chance makes them"
    MEMORY = "memory", "a view tells what its owner saw before, and what he did"
    MIDWAY = "midway", "who has begun an action goes on with it; to the others all pieces look the same"
    FEATURES = "features", "finite, the same for the same vector, different for different ones"
    TEXT = "text", "what is written is read back; actions, outcomes and views have names"
    GOLDEN = "golden", "counts, the value of uniform play and a playthrough are those of the golden file"
    COMPILED = "compiled", "the compiled rules say what plain Python says"

    asks: str
    """In one line."""

    def __new__(cls, name: str, asks: str) -> Law:
        """A law is its name, and knows what it asks for."""
        law = str.__new__(cls, name)
        law._value_, law.asks = name, asks
        return law


class ConformanceError(AssertionError):
    """A game breaks a law."""

    def __init__(self, law: Law, game: Game, what: str) -> None:
        super().__init__(f"law of {law}: {game.spec}: {what}")
        self.law, self.what = law, what


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

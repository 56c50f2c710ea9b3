"""A game's rules as plain Python, on vectors that refuse an index out of range.

Compiled rules index raw pointers, so a wrong index reads or overwrites other memory. Here the same functions run in
the interpreter (numba's `NUMBA_DISABLE_JIT=1` leaves them as they were written), and a wrong index is an error.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints, Reals, Reals32


class GuardError(Exception):
    """A rule reaches beyond its vectors, writes where it may only read, or fails."""


class Vector:
    """What a rule gets in place of a pointer: one entry at a time, within its length."""

    def __init__(self, name: str, array: NDArray[Any], *, writable: bool = True) -> None:
        self._name, self._array, self._writable = name, array, writable

    def __getitem__(self, index: int) -> Any:
        return self._array[self._within(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        if not self._writable:
            raise GuardError(f"writes {self._name}[{index}], which it may only read")
        self._array[self._within(index)] = value

    def _within(self, index: int) -> int:
        if not isinstance(index, int | np.integer) or not 0 <= index < len(self._array):
            raise GuardError(f"reaches for {self._name}[{index}], which has 0 to {len(self._array) - 1}")
        return int(index)


class Interpreted:
    """The methods of `Game` that call a rule, by the interpreter."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.players, self.max_depth = game.players, game.max_depth

    def initial(self) -> Ints:
        """The world before anything has happened."""
        return self._change("initial", np.zeros(self._game.world_size, np.int64))

    def mover(self, world: Ints) -> int:
        """Who moves."""
        return self._read("mover", world)

    def legal(self, world: Ints) -> list[int]:
        """The mover's legal actions."""
        actions = np.zeros(self._game.num_actions, np.int64)
        n = self._read("legal", world, Vector("actions", actions))
        return [int(a) for a in actions[:n]]

    def chance(self, world: Ints) -> list[tuple[int, float]]:
        """What chance may do, with probabilities."""
        outcomes, chances = np.zeros(self._game.num_outcomes, np.int64), np.zeros(self._game.num_outcomes)
        n = self._read("chance", world, Vector("outcomes", outcomes), Vector("probabilities", chances))
        return [(int(o), float(p)) for o, p in zip(outcomes[:n], chances[:n], strict=True)]

    def step(self, world: Ints, action: int) -> Ints:
        """The world after an action or outcome."""
        return self._change("step", world.copy(), action)

    def returns(self, world: Ints) -> Reals:
        """Every player's utility of a finished game."""
        utilities = np.zeros(self.players)
        self._read("returns", world, Vector("utilities", utilities))
        return utilities

    def view(self, world: Ints, player: int) -> Ints:
        """What a player knows of a world."""
        return self._change("redact", world.copy(), player)

    def hole(self, view: Ints) -> int:
        """The next component to fill, or NO_HOLE."""
        return self._read("hole", view)

    def values(self, view: Ints, hole: int) -> list[tuple[int, float]]:
        """What a hole may hold, with weights."""
        values, weights = np.zeros(self._game.num_values, np.int64), np.zeros(self._game.num_values)
        n = self._read("values", view, hole, Vector("values", values), Vector("weights", weights))
        return [(int(v), float(w)) for v, w in zip(values[:n], weights[:n], strict=True)]

    def fill(self, view: Ints, hole: int, value: int) -> Ints:
        """The view with one hole filled."""
        return self._change("fill", view.copy(), hole, value)

    def midway(self, world: Ints) -> bool:
        """Whether a split action is not complete yet."""
        return bool(self._read("midway", world))

    def features(self, world: Ints, player: int) -> Reals32:
        """What a network sees of a world or view."""
        out = np.zeros(self._game.num_features, np.float32)
        self._read("features", world, player, Vector("out", out))
        return out

    def _read(self, rule: str, world: Ints, *rest: Any) -> int:
        return int(self._call(rule, Vector("world", world, writable=False), *rest) or 0)

    def _change(self, rule: str, world: Ints, *rest: Any) -> Ints:
        self._call(rule, Vector("world", world), *rest)
        return world

    def _call(self, rule: str, world: Vector, *rest: Any) -> Any:
        rules = Vector("rules", self._game.rules, writable=False)
        whole = [np.int64(x) if isinstance(x, int) else x for x in rest]
        try:
            return getattr(self._game.kernels, rule)(rules, world, *whole)
        except GuardError as error:
            raise GuardError(f"{rule} {error}") from None
        except Exception as error:
            raise GuardError(f"{rule} fails: {_place(error)}: {type(error).__name__}: {error}") from error


def _place(error: Exception) -> str:
    """The last file and line that an error passed through outside of this module."""
    frames = traceback.extract_tb(error.__traceback__)
    at = next((frame for frame in reversed(frames) if frame.filename != __file__), frames[-1])
    return f"{at.filename}, line {at.lineno}"

"""Rules that many games share, and helpers for writing one's own.

A game with perfect information needs neither `redact` nor the three functions on holes; a game in which nothing else
follows from a hole needs no `fill`; one without split actions needs no `midway`; one without chance no `chance`.
"""

from __future__ import annotations

import numpy as np

from qdts.games.rule import NO_HOLE, rule
from qdts.kernels import Ints, Reals, Reals32, kernel


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """There are no chance events."""
    return 0


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Everyone sees everything."""


@rule
def hole(rules: Ints, view: Ints) -> int:
    """Nothing is hidden."""
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Nothing is hidden."""
    return 0


@rule
def fill(rules: Ints, view: Ints, hole: int, value: int) -> None:
    """The hole holds one more than the value, 0 standing for empty, and nothing else follows from it."""
    view[hole] = value + 1


@rule
def midway(rules: Ints, world: Ints) -> int:
    """There are no split actions."""
    return 0


@kernel("float64(int64)")
def real(bits: int) -> float:
    """The float whose bit pattern an entry of `rules` holds (`real_bits` puts it there)."""
    return np.int64(bits).view(np.float64)


@kernel("int64(CPointer(float32), int64, int64, int64)")
def one_hot(out: Reals32, at: int, value: int, size: int) -> int:
    """Write a component with values 0 .. size-1 or UNKNOWN as size + 1 features; return where the next ones go.

    Examples:
        >>> out = np.zeros(4, np.float32)
        >>> one_hot(out, 0, 2, 3)  # UNKNOWN would be the first of the four
        4
        >>> out.tolist()
        [0.0, 0.0, 0.0, 1.0]
    """
    for i in range(size + 1):
        out[at + i] = 0.0
    out[at + value + 1] = 1.0
    return at + size + 1


@kernel("int64(CPointer(float32), int64, int64, int64)")
def at_least(out: Reals32, at: int, value: int, most: int) -> int:
    """Write a number from 0 to `most` as `most` features, the k-th being 1 if it is k or more: near numbers look alike.

    Returns where the next features go.

    Examples:
        >>> out = np.zeros(4, np.float32)
        >>> at_least(out, 0, 3, 4)
        4
        >>> out.tolist()
        [1.0, 1.0, 1.0, 0.0]
    """
    for i in range(most):
        out[at + i] = 1.0 if i < value else 0.0
    return at + most


def real_bits(numbers: object) -> Ints:
    """Floats as the integers that have the same bits, for `Game.rules`."""
    return np.asarray(numbers, np.float64).reshape(-1).view(np.int64)

"""A policy as a function of views, such as a network: what a game too large for a table can be measured with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.solving.policy.table import SUM_TOLERANCE

PolicyFunction = Callable[[Ints, Ints], Reals]
"""From n views [n, W], each at its owner's turn, and the number of legal actions of each [n], to probabilities
[n, at least the largest number]: row i begins with those of view i's actions, ascending; the rest is ignored."""


def uniform_probabilities(views: Ints, counts: Ints) -> Reals:
    """The uniform policy as a function of views, for games too large for a table.

    Args:
        views: int64[n, W], each at its owner's turn.
        counts: int64[n], the number of legal actions of each.

    Returns:
        float64[n, max(counts)]: every legal action equally likely, zeros after them.

    Examples:
        >>> import numpy as np
        >>> from qdts import load_game, nash_conv
        >>> uniform_probabilities(np.zeros((2, 7), np.int64), np.array([2, 1]))
        array([[0.5, 0.5],
               [1. , 0. ]])
        >>> round(nash_conv(load_game("kuhn_poker"), uniform_probabilities), 4)
        0.9167
    """
    width = np.arange(counts.max(initial=0))
    return np.where(width < counts[:, None], 1.0 / counts[:, None], 0.0)


def evaluate_function(game: Game, function: PolicyFunction, views: Ints, counts: NDArray[np.int32]) -> Reals:
    """The probabilities of a batch of views, concatenated; raises an InputError unless they are distributions."""
    width = np.arange(counts.max())
    given = np.asarray(function(views.copy(), counts.astype(np.int64)), np.float64)
    if given.ndim != 2 or len(given) != len(views) or given.shape[1] < len(width):
        raise InputError(
            f"a policy for {game.spec} gave an array of shape {given.shape} for {len(views)} views, "
            f"expected ({len(views)}, at least {len(width)})"
        )
    legal = width < counts[:, None]
    given = np.where(legal, given[:, : len(width)], 0.0)
    wrong = ~np.isfinite(given).all(1) | (given < 0).any(1) | ~(np.abs(given.sum(1) - 1) <= SUM_TOLERANCE)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(
            f"a policy for {game.spec} gave {given[i, : counts[i]].tolist()} "
            f"at {game.layout.write(views[i])}, expected probabilities that sum to 1"
        )
    return given[legal]

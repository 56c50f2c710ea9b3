"""A whole game as flat arrays: every history, and every information set with its legal actions.

    axis  counts
    H     histories; a parent's number is lower than its children's, and siblings are neighbours
    I     information sets of all players, in the order of discovery (so parents come first)
    A     pairs of an information set and a legal action; those of one information set are neighbours
    P     players
    W     components of a world's vector

A policy on these arrays is a float64[A]: the probability of each action at each information set. A pair's number is
called its *entry*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals

NONE = -1
"""No parent, no information set, no children, no entry."""


class Histories(NamedTuple):
    """Every history of a game."""

    parent: NDArray[np.int32]  # [H] the history before, NONE at the start
    action: NDArray[np.int32]  # [H] the action or outcome that led here
    mover: NDArray[np.int8]  # [H] a player, CHANCE or TERMINAL
    infoset: NDArray[np.int32]  # [H] the mover's information set if a player moves, else NONE
    first: NDArray[np.int32]  # [H] the first child, NONE if there is none
    children: NDArray[np.int32]  # [H] the number of children
    entry: NDArray[np.int32]  # [H] the entry of A that led here if a player moved, else NONE
    probability: Reals  # [H] of the edge that led here if chance moved, else 1
    utility: Reals  # [H, P] returns of finished games, else 0


class InfoSets(NamedTuple):
    """Every information set of a game."""

    views: Ints  # [I, W] what its owner knows
    owner: NDArray[np.int8]  # [I] the player who moves
    offset: NDArray[np.int32]  # [I + 1] its entries are A[offset[i] : offset[i + 1]]
    action: NDArray[np.int32]  # [A] the legal actions


HistoriesType = types.NamedTuple(
    [types.int32[::1]] * 2 + [types.int8[::1]] + [types.int32[::1]] * 4 + [types.float64[::1], types.float64[:, ::1]],
    Histories,
)
InfoSetsType = types.NamedTuple([int64[:, ::1], types.int8[::1], types.int32[::1], types.int32[::1]], InfoSets)


@dataclass(frozen=True, eq=False)
class GameTree:
    """A game and its arrays."""

    game: Game
    histories: Histories
    infosets: InfoSets

    @property
    def num_histories(self) -> int:
        """H."""
        return len(self.histories.parent)

    @property
    def num_infosets(self) -> int:
        """I."""
        return len(self.infosets.owner)

    @property
    def num_terminals(self) -> int:
        """The number of finished histories."""
        return int(np.count_nonzero(self.histories.mover == TERMINAL))

    def path(self, history: int) -> list[int]:
        """The actions and outcomes from the start to a history."""
        actions = []
        while self.histories.parent[history] != NONE:
            actions.append(int(self.histories.action[history]))
            history = int(self.histories.parent[history])
        return actions[::-1]

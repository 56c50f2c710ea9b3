"""Players who know the value of every position, and how others do against them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from qdts.games.game import Game
from qdts.games.rules.pig import SCORES, SIDES, STAGE, TOTAL, WIN
from qdts.hashing import find_rows
from qdts.kernels import Ints, Reals
from qdts.solving.perfect.value_iteration import Optimum, optimal_play

TOLERANCE = 1e-9
"""Values that differ by less are equal."""


class ExactSeat:
    """Plays one of the best moves, each as likely, in a game whose positions can be listed."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @cached_property
    def optimum(self) -> Optimum:
        """Optimal play."""
        return optimal_play(self.game)

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:  # noqa: ARG002
        """The uniform distribution over the best actions of each position."""
        graph, values = self.optimum.graph, self.optimum.values
        moves = []
        for at, player in zip(find_rows(graph.worlds, np.array(views)), players, strict=True):
            worth = values[graph.child[graph.first[at] : graph.first[at + 1]], player]
            best = worth >= worth.max() - TOLERANCE
            moves.append(best / best.sum())
        return moves


class PigSeat:
    """Optimal play of pig for two (Neller and Presser 2004), as if there were no horizon.

    With p(i, j, k) the probability to win with i points against j, and k in this turn,

        p = max(roll, stop)
        roll = 1/n (1 − p(j, i, 0)) + 1/n Σ_{r=2..n} p(i, j, k + r),        stop = 1 − p(j, i + k, 0)

    and p = 1 as soon as i + k wins.
    """

    def __init__(self, game: Game) -> None:
        self.game = game

    @cached_property
    def rolls(self) -> Reals:
        """How much better it is to roll than to stop, by i, j and k; where i + k wins there is no choice."""
        win, sides = int(self.game.rules[WIN]), int(self.game.rules[SIDES])
        i, j = np.indices((win, win))
        start = np.full((win, win), 0.5)
        gain = np.zeros((win, win, win))
        change = 1.0
        while change > TOLERANCE:
            lost, before = 1.0 - start.T, start
            p = np.ones((win, win, win + sides))
            for k in range(win - 1, -1, -1):
                roll = (lost + p[:, :, k + 2 : k + sides + 1].sum(2)) / sides
                stop = np.where(i + k < win, 1.0 - start[j, np.minimum(i + k, win - 1)], 1.0)
                gain[:, :, k] = roll - stop
                p[:, :, k] = np.where(i + k < win, np.maximum(roll, stop), 1.0)
            start = p[:, :, 0].copy()
            change = float(np.abs(start - before).max())
        return gain

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:  # noqa: ARG002
        """Roll or stop."""
        moves = []
        for view in views:
            if len(self.game.legal(view)) == 1:
                moves.append(np.ones(1))
                continue
            player = int(view[STAGE]) >> 1
            gain = self.rolls[view[SCORES + player], view[SCORES + 1 - player], view[TOTAL]]
            moves.append(np.array([1.0, 0.0]) if gain > 0.0 else np.array([0.0, 1.0]))
        return moves

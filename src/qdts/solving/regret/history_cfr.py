"""Counterfactual regret minimisation by passes over all histories.

For any number of players, for general-sum games, and for games of perfect information, where many histories share a
view. The update is that of `schedules`. For two players the sequence form does the same much faster; the tests compare
the two.
"""

from __future__ import annotations

import numpy as np
from numba import float64, types

from qdts.kernels import Reals, kernel
from qdts.solving.exact.values import edge
from qdts.solving.policy.table import uniform
from qdts.solving.regret.schedules import NEGATIVE, POSITIVE, PREDICTION, WEIGHT, Schedule, schedule_table
from qdts.solving.tree.arrays import GameTree, Histories, HistoriesType, InfoSets, InfoSetsType


class HistorySolver:
    """A regret minimiser with a schedule, and its state."""

    def __init__(self, tree: GameTree, schedule: Schedule) -> None:
        self.tree = tree
        self.schedule = schedule
        self.iterations = 0
        self.choice = uniform(tree)
        self.regret = np.zeros_like(self.choice)
        self.total = np.zeros_like(self.choice)

    def run(self, iterations: int) -> None:
        """Run a number of iterations."""
        table = schedule_table(self.schedule, self.iterations, iterations)
        _run(self.tree.histories, self.tree.infosets, self.regret, self.choice, self.total, table)
        self.iterations += iterations

    def average(self) -> Reals:
        """The average strategy. float64[A]"""
        return normalised(self.tree, self.total)

    def last(self) -> Reals:
        """The strategy of the newest iterate. float64[A]"""
        return self.choice.copy()


def normalised(tree: GameTree, total: Reals) -> Reals:
    """Probabilities proportional to totals; uniform where all of an information set are zero. float64[A]"""
    widths = np.diff(tree.infosets.offset)
    norm = np.repeat(np.add.reduceat(total, tree.infosets.offset[:-1]), widths)
    return np.where(norm > 0, total / np.where(norm > 0, norm, 1.0), uniform(tree))


@kernel()
def _regrets(histories: Histories, choice: Reals, player: int, reach: Reals, value: Reals, gain: Reals) -> None:
    """Instantaneous regrets of one player, r(I, a) = Σ over h in I of r₋ᵢ(h) · (u(h·a) − u(h)), written to `gain`.

    Also written: the product of the player's own probabilities to `reach[0]`, of all others to `reach[1]`, and the
    player's expected return to `value`.
    """
    reach[:, 0] = 1.0
    for h in range(1, len(value)):
        parent = histories.parent[h]
        own = 0 if histories.mover[parent] == player else 1
        reach[own, h] = reach[own, parent] * edge(histories, choice, h)
        reach[1 - own, h] = reach[1 - own, parent]
    for h in range(len(value)):
        value[h] = histories.utility[h, player]
    for h in range(len(value) - 1, 0, -1):
        value[histories.parent[h]] += edge(histories, choice, h) * value[h]
    gain[:] = 0.0
    for h in range(1, len(value)):
        parent = histories.parent[h]
        if histories.mover[parent] == player:
            gain[histories.entry[h]] += reach[1, parent] * (value[h] - value[parent])


@kernel()
def _accumulate(histories: Histories, choice: Reals, player: int, reach: Reals, weight: float, total: Reals) -> None:
    """Add a player's σ to the average, weighted by the player's own reach."""
    for h in range(1, len(histories.parent)):
        parent = histories.parent[h]
        if histories.mover[parent] == player:
            total[histories.entry[h]] += weight * reach[0, parent] * choice[histories.entry[h]]


@kernel()
def update_infoset(infosets: InfoSets, i: int, gain: Reals, regret: Reals, choice: Reals, weights: Reals) -> None:
    """The update of `schedules` at one information set."""
    first, end = infosets.offset[i], infosets.offset[i + 1]
    norm = 0.0
    for e in range(first, end):
        total = regret[e] + gain[e]
        regret[e] = total * (weights[POSITIVE] if total > 0.0 else weights[NEGATIVE])
        choice[e] = max(regret[e] + weights[PREDICTION] * gain[e], 0.0)
        norm += choice[e]
    for e in range(first, end):
        choice[e] = choice[e] / norm if norm > 0.0 else 1.0 / (end - first)


@kernel(types.void(HistoriesType, InfoSetsType, float64[::1], float64[::1], float64[::1], float64[:, ::1]))
def _run(histories: Histories, infosets: InfoSets, regret: Reals, choice: Reals, total: Reals, table: Reals) -> None:
    reach = np.empty((2, len(histories.parent)))
    value = np.empty(len(histories.parent))
    gain = np.empty(len(regret))
    for t in range(len(table)):
        for player in range(histories.utility.shape[1]):
            _regrets(histories, choice, player, reach, value, gain)
            _accumulate(histories, choice, player, reach, table[t, WEIGHT], total)
            for i in range(len(infosets.owner)):
                if infosets.owner[i] == player:
                    update_infoset(infosets, i, gain, regret, choice, table[t])

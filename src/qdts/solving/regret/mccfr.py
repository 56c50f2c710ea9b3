"""External-sampling Monte Carlo CFR (Lanctot et al. 2009).

Chance and the other players are sampled, the traversing player tries every action. For any number of players; an
iteration is one traversal for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types

from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Reals, kernel
from qdts.pointers import StateType, borrowed
from qdts.rng import State, sampled, seeded
from qdts.solving.policy.table import uniform
from qdts.solving.regret.history_cfr import normalised
from qdts.solving.tree.arrays import GameTree, Histories, HistoriesType, InfoSets, InfoSetsType


class Learner(NamedTuple):
    """The state of all players between iterations, and scratch; D is the greatest depth plus one, B the branching."""

    regret: Reals  # [A]
    total: Reals  # [A] sum of the strategies sampled
    scratch: Reals  # [D, 2, B] a strategy and the values of its actions


_LearnerType = types.NamedTuple([float64[::1], float64[::1], float64[:, :, ::1]], Learner)


class SamplingSolver:
    """Regrets and totals of all players, and the random state."""

    def __init__(self, tree: GameTree, seed: int = 0) -> None:
        self.tree = tree
        self.iterations = 0
        entries = len(tree.infosets.action)
        scratch = np.empty((tree.game.max_depth + 1, 2, tree.game.max_branching))
        self.learner = Learner(np.zeros(entries), np.zeros(entries), scratch)
        self.state = seeded(seed)

    def run(self, iterations: int) -> None:
        """Run a number of iterations."""
        _run(self.tree.histories, self.tree.infosets, self.learner, self.state, iterations)
        self.iterations += iterations

    def average(self) -> Reals:
        """The average strategy. float64[A]"""
        return normalised(self.tree, self.learner.total)

    def last(self) -> Reals:
        """The strategy of the newest regrets. float64[A]"""
        if self.iterations == 0:
            return uniform(self.tree)
        return normalised(self.tree, np.maximum(self.learner.regret, 0.0))


@kernel()
def _match(infosets: InfoSets, i: int, regret: Reals, choice: Reals) -> None:
    """Regret matching at one information set: σ ∝ max(R, 0), written from the start of `choice`."""
    first, n = infosets.offset[i], infosets.offset[i + 1] - infosets.offset[i]
    norm = 0.0
    for a in range(n):
        choice[a] = max(regret[first + a], 0.0)
        norm += choice[a]
    for a in range(n):
        choice[a] = choice[a] / norm if norm > 0.0 else 1.0 / n


@kernel(float64(HistoriesType, InfoSetsType, _LearnerType, StateType, int64, int64, int64))
def _traverse(
    histories: Histories, infosets: InfoSets, me: Learner, state: State, h: int, depth: int, player: int
) -> float:
    """A sampled return of the traversing player from h on; adds to their regrets and to the next player's totals."""
    mover, first, n = histories.mover[h], histories.first[h], histories.children[h]
    if mover == TERMINAL:
        return histories.utility[h, player]
    choice, value = me.scratch[depth, 0], me.scratch[depth, 1]
    if mover == CHANCE:
        c = first + sampled(histories.probability[first : first + n], n, state)
        return _traverse(histories, infosets, me, state, c, depth + 1, player)
    i = histories.infoset[h]
    offset = infosets.offset[i]
    _match(infosets, i, me.regret, choice)
    if mover != player:
        if mover == (player + 1) % histories.utility.shape[1]:
            for a in range(n):
                me.total[offset + a] += choice[a]
        c = first + sampled(choice, n, state)
        return _traverse(histories, infosets, me, state, c, depth + 1, player)
    expected = 0.0
    for a in range(n):
        value[a] = _traverse(histories, infosets, me, state, first + a, depth + 1, player)
        expected += choice[a] * value[a]
    for a in range(n):
        me.regret[offset + a] += value[a] - expected
    return expected


@kernel(types.void(HistoriesType, InfoSetsType, _LearnerType, StateType, int64))
def _run(histories: Histories, infosets: InfoSets, me: Learner, state: State, iterations: int) -> None:
    histories, infosets, me = borrowed(histories), borrowed(infosets), borrowed(me)
    for _ in range(iterations):
        for player in range(histories.utility.shape[1]):
            _traverse(histories, infosets, me, state, 0, 0, player)

"""Counterfactual regret minimisation on the sequence form of a two-player game.

An iteration updates each player once: worth = U · (the other's plan), then backwards over the player's information
sets (values, regrets, the next σ), then forwards (the next plan, and its share of the average).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, types

from qdts.kernels import Reals, kernel
from qdts.solving.policy.table import uniform
from qdts.solving.regret.schedules import NEGATIVE, POSITIVE, PREDICTION, WEIGHT, Schedule, schedule_table
from qdts.solving.sequence.form import CHUNK, EMPTY, Seat, SeatType, SequenceForm
from qdts.solving.sequence.row_blocks import HEIGHT, multiply


class Learner(NamedTuple):
    """The state of one player between iterations, by sequence."""

    regret: Reals  # [S] R
    choice: Reals  # [S] σ
    plan: Reals  # [S] σ's realisation plan
    total: Reals  # [S] Σ wₜ · plan of iteration t
    worth: Reals  # [S + HEIGHT] scratch: the counterfactual value of a sequence
    value: Reals  # [CHUNK] scratch
    norm: Reals  # [CHUNK] scratch


_LearnerType = types.NamedUniTuple(float64[::1], 7, Learner)


class SequenceSolver:
    """A regret minimiser with a schedule, and its state."""

    def __init__(self, form: SequenceForm, schedule: Schedule) -> None:
        self.form = form
        self.schedule = schedule
        self.iterations = 0
        start = uniform(form.tree)
        self.learners = (_new_learner(form, start, 0), _new_learner(form, start, 1))

    def run(self, iterations: int) -> None:
        """Run a number of iterations."""
        table = schedule_table(self.schedule, self.iterations, iterations)
        _run(*self.form.seats, *self.learners, table)
        self.iterations += iterations

    def average(self) -> Reals:
        """The average strategy. float64[A]"""
        return self.form.policy((self.learners[0].total, self.learners[1].total))

    def last(self) -> Reals:
        """The strategy of the newest iterate. float64[A]"""
        probability = np.empty(len(self.form.tree.infosets.action))
        for me, entries in zip(self.learners, self.form.entries, strict=True):
            probability[entries] = me.choice[1:]
        return probability


def _new_learner(form: SequenceForm, start: Reals, player: int) -> Learner:
    size = len(form.entries[player]) + 1
    choice = np.ones(size)
    choice[1:] = start[form.entries[player]]
    scratch = (np.zeros(size + HEIGHT), np.zeros(CHUNK), np.zeros(CHUNK))
    return Learner(np.zeros(size), choice, form.plan(start, player), np.zeros(size), *scratch)


@kernel()
def _backward_chunk(seat: Seat, me: Learner, g: int, at: int, m: int, weights: Reals) -> None:
    """Values, regrets and the next σ of `m` information sets of group g, from its `at`-th on."""
    stride, n, base, first = seat.sets[g], seat.actions[g], seat.base[g] + at, seat.first[g] + at
    p, q, ahead = weights[POSITIVE], weights[NEGATIVE], weights[PREDICTION]
    value, norm, worth, choice, regret = me.value, me.norm, me.worth, me.choice, me.regret
    for k in range(m):
        value[k] = 0.0
        norm[k] = 0.0
    for a in range(n):
        s = base + a * stride
        for k in range(m):
            value[k] += choice[s + k] * worth[s + k]
    for a in range(n):
        s = base + a * stride
        for k in range(m):
            r = worth[s + k] - value[k]
            total = regret[s + k] + r
            total *= p if total > 0.0 else q
            regret[s + k] = total
            mass = max(total + ahead * r, 0.0)
            choice[s + k] = mass
            norm[k] += mass
    for k in range(m):
        worth[seat.parent[first + k]] += value[k]
    for a in range(n):
        s = base + a * stride
        for k in range(m):
            choice[s + k] = choice[s + k] / norm[k] if norm[k] > 0.0 else 1.0 / n


@kernel()
def _backward(seat: Seat, me: Learner, weights: Reals) -> None:
    """From the last information sets to the first."""
    for g in range(len(seat.sets) - 1, -1, -1):
        for at in range(0, seat.sets[g], CHUNK):
            _backward_chunk(seat, me, g, at, min(CHUNK, seat.sets[g] - at), weights)


@kernel()
def _forward(seat: Seat, me: Learner, weight: float) -> None:
    """Add the old plan to the total, and make the new one."""
    plan, total, choice = me.plan, me.total, me.choice
    total[EMPTY] += weight
    for g in range(len(seat.sets)):
        stride, base, first = seat.sets[g], seat.base[g], seat.first[g]
        for at in range(0, stride, CHUNK):
            m = min(CHUNK, stride - at)
            for k in range(m):
                me.value[k] = plan[seat.parent[first + at + k]]
            for a in range(seat.actions[g]):
                s = base + a * stride + at
                for k in range(m):
                    total[s + k] += weight * plan[s + k]
                    plan[s + k] = me.value[k] * choice[s + k]


@kernel(types.void(SeatType, SeatType, _LearnerType, _LearnerType, float64[:, ::1]))
def _run(seat0: Seat, seat1: Seat, me0: Learner, me1: Learner, table: Reals) -> None:
    for t in range(len(table)):
        weights = table[t]
        multiply(seat0.payoff, me1.plan, me0.worth)
        _backward(seat0, me0, weights)
        _forward(seat0, me0, weights[WEIGHT])
        multiply(seat1.payoff, me0.plan, me1.worth)
        _backward(seat1, me1, weights)
        _forward(seat1, me1, weights[WEIGHT])

"""The equilibrium of a two-player zero-sum game as a linear program on its sequence form.

Player i looks for the realisation plan x with the best worst case (von Stengel 1996). With v(K) the value, in player
i's utility, of the other's best response at each of the other's information sets K, and v₀ at the start:

    maximise  v₀   subject to   x(∅) = 1,  Σₐ x(I, a) = x(parent of I),  x ≥ 0,
                                v(K of t) ≤ Σₛ Uᵢ[s, t] x(s) + Σ v(K') over K' that follow t,   for each sequence t
"""

from __future__ import annotations

import numpy as np

from qdts.errors import InputError
from qdts.kernels import Ints, Reals
from qdts.solving.sequence.form import EMPTY, Seat, SequenceForm


def equilibrium(form: SequenceForm) -> tuple[Reals, float]:
    """An equilibrium as probabilities float64[A], and its value to the first player."""
    if not form.tree.game.zero_sum:
        raise InputError(f"the linear program needs a zero-sum game, {form.tree.game.spec} is not one")
    first, value = _maximin_plan(form, 0)
    second, _ = _maximin_plan(form, 1)
    return form.policy((first, second)), value


def _infoset_of_sequence(seat: Seat) -> Ints:
    """1 + the information set that each sequence belongs to; 0 for the empty one."""
    owner = np.zeros(1 + int(seat.sets @ seat.actions), np.int64)
    for m, n, base, first in zip(seat.sets, seat.actions, seat.base, seat.first, strict=True):
        owner[base : base + m * n] = np.tile(np.arange(first, first + m), n) + 1
    return owner


def _maximin_plan(form: SequenceForm, player: int) -> tuple[Reals, float]:
    """A plan with the best worst case, and its value then."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack

    me, other = form.seats[player], form.seats[1 - player]
    scale = float(np.abs(form.matrices[player].data).max(initial=0.0)) or 1.0
    payoff = form.matrices[player] / scale  # HiGHS has absolute tolerances
    mine, theirs = payoff.shape
    sequences = np.arange(mine)
    flow = coo_array(
        (
            np.r_[np.ones(mine), -np.ones(len(me.parent))],
            (np.r_[_infoset_of_sequence(me), 1 + np.arange(len(me.parent))], np.r_[sequences, me.parent]),
        ),
        shape=(len(me.parent) + 1, mine),
    )
    worst = coo_array(
        (
            np.r_[np.ones(theirs), -np.ones(len(other.parent))],
            (
                np.r_[np.arange(theirs), other.parent],
                np.r_[_infoset_of_sequence(other), 1 + np.arange(len(other.parent))],
            ),
        ),
        shape=(theirs, len(other.parent) + 1),
    )
    values = len(other.parent) + 1
    cost = np.zeros(mine + values)
    cost[mine] = -1.0
    start = np.zeros(len(me.parent) + 1)
    start[EMPTY] = 1.0
    solved = linprog(
        cost,
        A_ub=hstack([-payoff.T, worst]).tocsc(),
        b_ub=np.zeros(theirs),
        A_eq=hstack([flow, coo_array((flow.shape[0], values))]).tocsc(),
        b_eq=start,
        bounds=[(0, None)] * mine + [(None, None)] * values,
        method="highs",
    )
    if not solved.success:
        raise InputError(f"the linear program of {form.tree.game.spec} was not solved: {solved.message}")
    return np.maximum(solved.x[:mine], 0.0), scale * float(solved.x[mine])

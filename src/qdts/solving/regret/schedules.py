"""The family of counterfactual regret minimisers, as schedules of one update.

With r the instantaneous counterfactual regrets of iteration t (what each action would have gained), all of them update

    R ← (R + r) · pₜ where that is positive, (R + r) · nₜ elsewhere
    σ ∝ max(R + m·r, 0), or uniform where that is zero everywhere
    average strategy ← average strategy + wₜ · σ's realisation plan of iteration t

and differ only in the four numbers (pₜ, nₜ, m, wₜ). Players update in turn, each against the others' newest σ.

    name    p                n                m   w    source
    cfr     1                1                0   1    Zinkevich et al. 2007
    cfr+    1                0                0   t    Tammelin 2014
    lcfr    t/(t+1)          t/(t+1)          0   t    Brown and Sandholm 2019, DCFR(1, 1, 1)
    dcfr    t^1.5/(t^1.5+1)  1/2              0   t²   Brown and Sandholm 2019, DCFR(1.5, 0, 2)
    pcfr+   1                0                1   t²   Farina, Kroer and Sandholm 2021
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdts.kernels import Reals

Weight = Reals | float
Schedule = Callable[[Reals], tuple[Weight, Weight, Weight, Weight]]
"""From iterations t = 1, 2, … to (p, n, m, w), each a number or an array like t."""

POSITIVE, NEGATIVE, PREDICTION, WEIGHT = range(4)
"""Columns of a schedule's table."""


def dcfr(alpha: float, beta: float, gamma: float) -> Schedule:
    """Discounted CFR: p = tᵅ/(tᵅ+1), n = tᵝ/(tᵝ+1), w = tᵞ."""
    return lambda t: (t**alpha / (t**alpha + 1), t**beta / (t**beta + 1), 0.0, t**gamma)


SCHEDULES: dict[str, Schedule] = {
    "cfr": lambda _: (1.0, 1.0, 0.0, 1.0),
    "cfr+": lambda t: (1.0, 0.0, 0.0, t),
    "lcfr": dcfr(1.0, 1.0, 1.0),
    "dcfr": dcfr(1.5, 0.0, 2.0),
    "pcfr+": lambda t: (1.0, 0.0, 1.0, t**2),
}


def schedule_table(schedule: Schedule, done: int, iterations: int) -> Reals:
    """The four numbers for the iterations after the first `done`. float64[iterations, 4]"""
    t = np.arange(done + 1, done + iterations + 1, dtype=np.float64)
    return np.stack(np.broadcast_arrays(*schedule(t), t)[:4], 1)

"""Formulas over an L1 ball as linear programs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def ball_by_program(d: np.ndarray, values: np.ndarray, eps: float) -> float:
    """The least expectation over distributions within L1 distance eps, by a linear program in (D', |D' − D|)."""
    k = len(d)
    eye, zero = np.eye(k), np.zeros(k)
    solved = linprog(
        np.r_[values, zero],
        A_ub=np.block([[eye, -eye], [-eye, -eye], [zero, np.ones(k)]]),
        b_ub=np.r_[d, -d, eps],
        A_eq=[np.r_[np.ones(k), zero]],
        b_eq=[d.sum()],
    )
    assert solved.success
    return float(solved.fun)

"""The mirror step: from a policy towards the actions with higher values, as far as the step goes.

Magnetic mirror descent (Sokota et al. 2023) with a uniform magnet ρ:

    π(a) ∝ [ P(a) · ρ(a)^(ηα) · exp(η q(a)) ]^(1 / (1 + ηα))

    P   the policy to start from        η   the step
    q   values, in units of S           α   the temperature: how strong the magnet is
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from qdts.kernels import Ints, Reals, compiled, kernel


@compiled
def doubted(prior: Reals, lo: Reals, hi: Reals, count: int, doubt: float, out: Reals) -> None:
    """Write for each choice the point of its interval, widened by a doubt, that is nearest to the value of P.

    q(a) = the point of [lo(a) − doubt, hi(a) + doubt] nearest to Σ P(b) (lo(b) + hi(b)) / 2: a value that differs from
    that sum by no more than the doubt counts as equal to it. `out` may be `lo` or `hi`.
    """
    worth = 0.0
    for k in range(count):
        worth += prior[k] * (0.5 * (lo[k] + hi[k]))
    for k in range(count):
        out[k] = min(max(worth, lo[k] - doubt), hi[k] + doubt)


@compiled
def mirror_step(prior: Reals, q: Reals, count: int, step: float, temperature: float, out: Reals) -> None:
    """Write π over the first `count` choices. A choice with P = 0 keeps 0.

    ρ is constant and cancels; what is left of the magnet is the power 1 / (1 + ηα).
    """
    power = 1.0 / (1.0 + step * temperature)
    top = -np.inf
    for k in range(count):
        log_p = np.log(prior[k]) if prior[k] > 0.0 else -np.inf
        out[k] = power * (log_p + step * q[k])
        top = max(top, out[k])
    total = 0.0
    for k in range(count):
        out[k] = np.exp(out[k] - top)
        total += out[k]
    for k in range(count):
        out[k] /= total


@kernel(void(float64[:, ::1], float64[:, ::1], int64[::1], float64[::1], float64, float64[:, ::1]))
def mirror_steps(prior: Reals, q: Reals, count: Ints, step: Reals, temperature: float, out: Reals) -> None:
    """`mirror_step` of many policies, a row each, with steps of their own."""
    for row in range(len(count)):
        mirror_step(prior[row], q[row], count[row], step[row], temperature, out[row])

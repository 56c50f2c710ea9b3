"""The mirror step: from a policy towards what is worth more, as far as the step goes.

Magnetic mirror descent (Sokota et al. 2023) with a uniform magnet ρ:

    π(a) ∝ [ P(a) · ρ(a)^(ηα) · exp(η q(a)) ]^(1 / (1 + ηα))

    P   the policy to start from        η   the step
    q   values, in units of S           α   the temperature: how strong the magnet is
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import Reals, compiled


@compiled
def mirror_step(prior: Reals, q: Reals, count: int, step: float, temperature: float, out: Reals) -> None:
    """Write π over the first `count` choices. A choice with P = 0 keeps 0.

    ρ is constant and cancels, so it is left out; what it does is the power of 1 / (1 + ηα).
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

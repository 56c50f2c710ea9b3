"""P̂: how a simulated player will play, from the root of his tree.

    N, n    the root's counts and their sum         P   its prior
    f       N / n                                   κ   pseudo-visits of the prior

Luck Adjustments, Current proposal; `mix` is W / n (QDTS, Non-root ACT nodes); `mirror` is this project's.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import Reals, kernel
from qdts.search.choices import COUNTS, DIRICHLET, MIRROR_ESTIMATE, MIX, STICKY
from qdts.search.edges import write_q
from qdts.search.forest import Slot, scratch
from qdts.search.mirror import doubted, mirror_step
from qdts.search.settings import Settings


@kernel()
def write_estimate(slot: Slot, settings: Settings, root: int, out: Reals) -> None:
    """P̂ over the edges of an evaluated spawned root."""
    first, count, n = slot.first[root], slot.degree[root], slot.total[root]
    if settings.estimate == MIRROR_ESTIMATE:
        write_mirror(slot, settings, root, 0, out)
        return
    for i in range(count):
        out[i] = slot.prior[first + i]
    if n == 0:
        return
    if settings.estimate == COUNTS:
        for i in range(count):
            out[i] = slot.n[first + i] / n
    elif settings.estimate == MIX:
        for i in range(count):
            out[i] = slot.w[first + i] / n
    elif settings.estimate == DIRICHLET:
        kappa = settings.pseudo_visits
        for i in range(count):
            out[i] = (slot.n[first + i] + kappa * out[i]) / (n + kappa)
    elif settings.estimate == STICKY:
        distance = 0.0
        for i in range(count):
            distance += abs(out[i] - slot.n[first + i] / n)
        radius = neighborhood(count, n, settings.confidence)
        if distance > radius:
            for i in range(count):
                f = slot.n[first + i] / n
                out[i] = f + (out[i] - f) * (radius / distance)


@kernel()
def neighborhood(count: int, n: int, confidence: float) -> float:
    """The L1 radius that n draws from k choices leave with a probability below δ (Weissman et al. 2003).

    r = √(2 (k ln 2 + ln(1/δ)) / n)
    """
    return np.sqrt(2.0 * (count * np.log(2.0) - np.log(confidence)) / n)


@kernel()
def write_mirror(slot: Slot, settings: Settings, node: int, k: int, out: Reals) -> None:
    """The mirror step of an ACT node's prior on its edges' Q, component k."""
    first, count = slot.first[node], slot.degree[node]
    lo, hi, prior = scratch(slot, 2), scratch(slot, 3), scratch(slot, 4)
    write_q(slot, settings, node, k, lo, hi)
    for i in range(count):
        prior[i] = slot.prior[first + i]
    doubted(prior, lo, hi, count, settings.doubt, lo)
    for i in range(count):
        lo[i] /= settings.scale
    mirror_step(prior, lo, count, settings.step, 0.0, out)

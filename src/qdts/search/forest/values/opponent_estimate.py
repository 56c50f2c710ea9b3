"""P̂: how a simulated player will play, from the root of their tree.

    N, n    the root's counts and their sum         P   its prior
    f       N / n                                   κ   pseudo-visits of the prior

Luck Adjustments, Current proposal; `mix` is W / n (QDTS, Non-root ACT nodes); `mirror` is this project's.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import Reals, kernel
from qdts.search.decision.mirror import doubted, mirror_step
from qdts.search.forest.lanes.lane import Lane
from qdts.search.forest.lanes.scratch import MIRROR_LOWER, MIRROR_PRIOR, MIRROR_UPPER, scratch
from qdts.search.forest.values.edge_values import write_q
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import COUNTS, DIRICHLET, MIRROR_ESTIMATE, MIX, STICKY


@kernel()
def write_estimate(lane: Lane, packed: PackedOptions, root: int, out: Reals) -> None:
    """Write P̂ over the edges of an evaluated spawned root."""
    first, count, n = lane.first[root], lane.degree[root], lane.total[root]
    if packed.estimate == MIRROR_ESTIMATE:
        write_mirror(lane, packed, root, 0, out)
        return
    for i in range(count):
        out[i] = lane.prior[first + i]
    if n == 0:
        return
    if packed.estimate == COUNTS:
        for i in range(count):
            out[i] = lane.n[first + i] / n
    elif packed.estimate == MIX:
        for i in range(count):
            out[i] = lane.w[first + i] / n
    elif packed.estimate == DIRICHLET:
        kappa = packed.pseudo_visits
        for i in range(count):
            out[i] = (lane.n[first + i] + kappa * out[i]) / (n + kappa)
    elif packed.estimate == STICKY:
        distance = 0.0
        for i in range(count):
            distance += abs(out[i] - lane.n[first + i] / n)
        radius = neighborhood(count, n, packed.confidence)
        if distance > radius:
            for i in range(count):
                f = lane.n[first + i] / n
                out[i] = f + (out[i] - f) * (radius / distance)


@kernel()
def neighborhood(count: int, n: int, confidence: float) -> float:
    """The L1 radius that n draws from k choices leave with a probability below δ (Weissman et al. 2003).

    r = √(2 (k ln 2 + ln(1/δ)) / n)
    """
    return np.sqrt(2.0 * (count * np.log(2.0) - np.log(confidence)) / n)


@kernel()
def write_mirror(lane: Lane, packed: PackedOptions, node: int, k: int, out: Reals) -> None:
    """Write the mirror step of an ACT node's prior on its edges' Q, component k."""
    first, count = lane.first[node], lane.degree[node]
    lo, hi, prior = scratch(lane, MIRROR_LOWER), scratch(lane, MIRROR_UPPER), scratch(lane, MIRROR_PRIOR)
    write_q(lane, packed, node, k, lo, hi)
    for i in range(count):
        prior[i] = lane.prior[first + i]
    doubted(prior, lo, hi, count, packed.doubt, lo)
    for i in range(count):
        lo[i] /= packed.scale
    mirror_step(prior, lo, count, packed.step, 0.0, out)

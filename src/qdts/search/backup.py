"""Q of a node, from its children.

    ACT                          Q(n) = Σ W(e) Q(e) / Σ N(e), or the expectation under its mirror step
    SAMPLE, OPPONENT, CHANCE     Q(n) = ∪ { E_{e ~ D'}[V*(e)] : D' ∈ B_eps(D) } + E_{e ~ N}[Q(e) − V*(e)]

QDTS, Non-root ACT nodes: W is n_mixed times the average mixing distribution plus the pure choices. Luck Adjustments,
Current proposal: D is H, P̂ or the rules' distribution.
"""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.search.choices import MIRROR_BACKUP, MIRROR_ESTIMATE
from qdts.search.edges import known, write_q, write_static
from qdts.search.estimate import write_estimate, write_mirror
from qdts.search.evaluator import ACT, OPPONENT, SAMPLE
from qdts.search.forest import NONE, Slot, scratch
from qdts.search.interval import expectation_range
from qdts.search.settings import Settings


@kernel()
def back_up(slot: Slot, settings: Settings, node: int) -> None:
    """Recompute Q of a node that has been evaluated."""
    for k in range(slot.values):
        if slot.kind[node] == ACT:
            _back_up_act(slot, settings, node, k)
        else:
            _back_up_dispersed(slot, settings, node, k)


@kernel()
def _back_up_act(slot: Slot, settings: Settings, node: int, k: int) -> None:
    first, count = slot.first[node], slot.degree[node]
    weights, lo, hi = scratch(slot, 0), scratch(slot, 2), scratch(slot, 3)
    if settings.backup == MIRROR_BACKUP:
        write_mirror(slot, settings, node, k if settings.hidden else slot.actor[node], weights)
    else:
        for i in range(count):
            weights[i] = slot.w[first + i] / slot.total[node]
    write_q(slot, settings, node, k, lo, hi)
    q_lo, q_hi = 0.0, 0.0
    for i in range(count):
        if weights[i] > 0.0:
            q_lo += weights[i] * lo[i]
            q_hi += weights[i] * hi[i]
    slot.lo[node * slot.values + k] = q_lo
    slot.hi[node * slot.values + k] = q_hi


@kernel()
def _back_up_dispersed(slot: Slot, settings: Settings, node: int, k: int) -> None:
    first, count, kind = slot.first[node], slot.degree[node], slot.kind[node]
    distribution, static = scratch(slot, 0), scratch(slot, 1)
    counts_of, eps = node, 0.0
    if kind == OPPONENT:
        root = slot.spawned[node]
        if root == NONE or slot.evaluated[root] == 0:
            return
        write_estimate(slot, settings, root, distribution)
        eps = settings.eps_opponent
        if settings.estimate != MIRROR_ESTIMATE:
            counts_of = root
    else:
        for i in range(count):
            distribution[i] = slot.prior[first + i]
        eps = settings.eps_sample if kind == SAMPLE else 0.0
    write_static(slot, node, k, static)
    lo, hi = expectation_range(static, distribution, count, eps, scratch(slot, 2))
    n = slot.total[counts_of]
    if n > 0:
        base = slot.first[counts_of]
        for i in range(count):
            child, times = slot.child[first + i], slot.n[base + i]
            if times > 0 and known(slot, child):
                lo += times / n * (slot.lo[child * slot.values + k] - static[i])
                hi += times / n * (slot.hi[child * slot.values + k] - static[i])
    slot.lo[node * slot.values + k] = lo
    slot.hi[node * slot.values + k] = hi

"""Q of a node, from its children.

    ACT                          Q(n) = Σ W(e) Q(e) / Σ N(e), or the expectation under its mirror step
    SAMPLE, OPPONENT, CHANCE
        residual                 Q(n) = ∪ { E_{e ~ D'}[V*(e)] : D' ∈ B_eps(D) } + E_{e ~ N}[Q(e) − V*(e)]
        expected                 Q(n) = ∪ { E_{e ~ D'}[Q(e)] : D' ∈ B_eps(D) }
        masked                   Q(n) = ∪ { E_{e ~ D' · (N > 0)}[Q(e)] : D' ∈ B_eps(D) }

QDTS, Non-root ACT nodes: W is n_mixed times the average mixing distribution plus the pure choices. Luck Adjustments: D
is H, P̂ or the rules' distribution. Running averages are backed up by `luck`.
"""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import entry
from qdts.search.choices import EXPECTED, MASKED, MIRROR_BACKUP, RESIDUAL, RUNNING, RUNNING_BACKUP
from qdts.search.edges import edge_q
from qdts.search.estimate import write_mirror
from qdts.search.evaluator import ACT, OPPONENT
from qdts.search.forest import NONE, Slot, scratch
from qdts.search.interval import expectation_range, masked_range
from qdts.search.items import COUNT, FREE, HIGH, LOW, PROBABILITY, STATIC, counts_of, radius, write_items
from qdts.search.settings import Settings


@kernel(inline=True)
def form_of(slot: Slot, settings: Settings, node: int) -> int:
    """The form of Q at a node that is no ACT node."""
    return settings.opponent_q if slot.kind[node] == OPPONENT else settings.sample_q


@kernel(inline=True)
def is_running(slot: Slot, settings: Settings, node: int) -> bool:
    """Whether Q of a node is a running average."""
    if slot.kind[node] == ACT:
        return bool(settings.backup == RUNNING_BACKUP)
    return bool(form_of(slot, settings, node) == RUNNING)


@kernel(inline=True)
def back_up(slot: Slot, settings: Settings, node: int) -> None:
    """Recompute Q of a node that has been evaluated; where it is to be a running average, its static range."""
    if slot.kind[node] == ACT:
        _back_up_act(slot, settings, node)
        return
    if slot.kind[node] == OPPONENT:
        root = slot.spawned[node]
        if root == NONE or slot.evaluated[root] == 0:
            return
    for k in range(slot.values):
        _back_up_dispersed(slot, settings, node, k)


@kernel(inline=True)
def _back_up_act(slot: Slot, settings: Settings, node: int) -> None:
    first, degree, total = slot.first[node], slot.degree[node], float(slot.total[node])
    share, weights, edges, count = scratch(slot, STATIC), scratch(slot, 0), slot.moves, 0
    if settings.backup == MIRROR_BACKUP:
        write_mirror(slot, settings, node, 0 if settings.hidden else slot.actor[node], share)
    else:
        for i in range(degree):
            share[i] = slot.w[first + i] / total
    for i in range(degree):  # without a branch, which could not be foreseen
        edges[count], weights[count] = first + i, share[i]
        count += share[i] > 0.0
    for k in range(slot.values):
        q_lo, q_hi = 0.0, 0.0
        for i in range(count):
            lo, hi = edge_q(slot, settings, node, edges[i], k)
            q_lo += weights[i] * lo
            q_hi += weights[i] * hi
        entry(slot.lo, node)[k] = q_lo
        entry(slot.hi, node)[k] = q_hi


@kernel(inline=True)
def _back_up_dispersed(slot: Slot, settings: Settings, node: int, k: int) -> None:
    count, eps, form = write_items(slot, settings, node, k), radius(slot, settings, node), form_of(slot, settings, node)
    distribution, static, free = scratch(slot, PROBABILITY), scratch(slot, STATIC), scratch(slot, FREE)
    low, high, times = scratch(slot, LOW), scratch(slot, HIGH), scratch(slot, COUNT)
    lo, hi = expectation_range(static, distribution, count, eps, free)
    if form == RESIDUAL:
        n = slot.total[counts_of(slot, settings, node)]
        if n > 0:
            for i in range(count):
                lo += times[i] / n * (low[i] - static[i])
                hi += times[i] / n * (high[i] - static[i])
    elif form == EXPECTED:
        lo = expectation_range(low, distribution, count, eps, free)[0]
        hi = expectation_range(high, distribution, count, eps, free)[1]
    elif form == MASKED and slot.total[node] > 0:
        lo, hi = masked_range(low, high, distribution, times, count, eps, lo, hi, free)
    entry(slot.lo, node)[k] = lo
    entry(slot.hi, node)[k] = hi

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
from qdts.search.evaluation.evaluator import ACT, OPPONENT
from qdts.search.forest.lanes.lane import NONE, Lane
from qdts.search.forest.lanes.scratch import COUNT, FREE, HIGH, LOW, PROBABILITY, SHARE, STATIC, WEIGHT, scratch
from qdts.search.forest.values.edge_values import edge_q
from qdts.search.forest.values.intervals import expectation_range, has_mass, masked_range
from qdts.search.forest.values.opponent_estimate import write_mirror
from qdts.search.forest.values.terms import counts_of, radius, write_terms
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import EXPECTED, MASKED, MIRROR_BACKUP, RESIDUAL, RUNNING, RUNNING_BACKUP


@kernel(inline=True)
def form_of(lane: Lane, packed: PackedOptions, node: int) -> int:
    """The form of Q at a node other than an ACT node."""
    return packed.opponent_q if lane.kind[node] == OPPONENT else packed.sample_q


@kernel(inline=True)
def is_running(lane: Lane, packed: PackedOptions, node: int) -> bool:
    """Whether Q of a node is a running average."""
    if lane.kind[node] == ACT:
        return bool(packed.backup == RUNNING_BACKUP)
    return bool(form_of(lane, packed, node) == RUNNING)


@kernel(inline=True)
def back_up(lane: Lane, packed: PackedOptions, node: int) -> None:
    """Recompute Q of a node that has been evaluated; its static range where it is to be a running average."""
    if lane.kind[node] == ACT:
        _back_up_act(lane, packed, node)
        return
    if lane.kind[node] == OPPONENT:
        root = lane.spawned[node]
        if root == NONE or lane.evaluated[root] == 0:
            return
    for k in range(lane.values):
        _back_up_dispersed(lane, packed, node, k)


@kernel(inline=True)
def _back_up_act(lane: Lane, packed: PackedOptions, node: int) -> None:
    first, degree, total = lane.first[node], lane.degree[node], float(lane.total[node])
    share, weights, edges, count = scratch(lane, SHARE), scratch(lane, WEIGHT), lane.moves, 0
    if packed.backup == MIRROR_BACKUP:
        write_mirror(lane, packed, node, 0 if packed.hidden else lane.actor[node], share)
    else:
        for i in range(degree):
            share[i] = lane.w[first + i] / total
    for i in range(degree):  # no branch: it could not be predicted
        edges[count], weights[count] = first + i, share[i]
        count += share[i] > 0.0
    for k in range(lane.values):
        q_lo, q_hi = 0.0, 0.0
        for i in range(count):
            lo, hi = edge_q(lane, packed, node, edges[i], k)
            q_lo += weights[i] * lo
            q_hi += weights[i] * hi
        entry(lane.lo, node)[k] = q_lo
        entry(lane.hi, node)[k] = q_hi


@kernel(inline=True)
def _back_up_dispersed(lane: Lane, packed: PackedOptions, node: int, k: int) -> None:
    count, eps, form = write_terms(lane, packed, node, k), radius(lane, packed, node), form_of(lane, packed, node)
    distribution, static, free = scratch(lane, PROBABILITY), scratch(lane, STATIC), scratch(lane, FREE)
    low, high, times = scratch(lane, LOW), scratch(lane, HIGH), scratch(lane, COUNT)
    lo, hi = expectation_range(static, distribution, count, eps, free)
    if form == RESIDUAL:
        n = lane.total[counts_of(lane, packed, node)]
        if n > 0:
            for i in range(count):
                lo += times[i] / n * (low[i] - static[i])
                hi += times[i] / n * (high[i] - static[i])
    elif form == EXPECTED:
        lo = expectation_range(low, distribution, count, eps, free)[0]
        hi = expectation_range(high, distribution, count, eps, free)[1]
    elif form == MASKED and lane.total[node] > 0 and has_mass(distribution, times, count):
        lo, hi = masked_range(low, high, distribution, times, count, eps, free)
    entry(lane.lo, node)[k] = lo
    entry(lane.hi, node)[k] = hi

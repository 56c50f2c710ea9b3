"""Which edge a visit takes at an ACT node.

PUCT intervals (QDTS, Non-root ACT nodes):

    u(e) = c · S · P'(e) · √ΣN / (1 + N(e)),      I(e) = [Q_lo(e) + u(e), Q_hi(e) + u(e)]

The interval with the highest lower end is tied with all that reach up to it. If it stands alone its edge is chosen (a
*pure* choice); several are mixed in proportion to the raw prior P.

UCB (Tree search), M the middle of Q, g = 1 or, guided, P':

    M(e) + c · S · g(e) · √(ln ΣN / N(e))
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import kernel
from qdts.rng import sample_by_weight, uniform
from qdts.search.forest.lanes.lane import ROOT, Lane
from qdts.search.forest.lanes.scratch import LOWER, SAMPLED_FROM, UPPER, scratch
from qdts.search.forest.values.edge_values import write_q
from qdts.search.forest.values.opponent_estimate import write_mirror
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import GUIDED, MIRROR_SELECT, RUNNING, RUNNING_BACKUP, UCB, UNIFORM_SELECT


@kernel(inline=True)
def select(lane: Lane, packed: PackedOptions, node: int) -> int:
    """The edge of a visit, by its place among the node's edges, counted in W and n_mixed.

    SAMPLED_FROM is its distribution, a point if nothing was sampled, where running averages need it.
    """
    rule = packed.root_select if lane.tree[node] == node else packed.select
    k = 0 if packed.hidden else lane.actor[node]
    if rule == MIRROR_SELECT:
        policy = scratch(lane, SAMPLED_FROM)
        write_mirror(lane, packed, node, k, policy)
        e = sample_by_weight(policy, lane.degree[node], lane.state)
    elif rule == UNIFORM_SELECT:
        e = least_visited(lane, node)
        note_point(lane, packed, node, e)
    elif rule in (UCB, GUIDED):
        e = select_ucb(lane, packed, node, k, rule == GUIDED)
        note_point(lane, packed, node, e)
    else:
        return select_puct(lane, packed, node, k)
    lane.w[lane.first[node] + e] += 1.0
    return e


@kernel(inline=True)
def note_point(lane: Lane, packed: PackedOptions, node: int, edge: int) -> None:
    """Set SAMPLED_FROM to a point, where it is read."""
    if packed.backup == RUNNING_BACKUP or packed.opponent_q == RUNNING:
        point = scratch(lane, SAMPLED_FROM)
        for i in range(lane.degree[node]):
            point[i] = 1.0 if i == edge else 0.0


@kernel(inline=True)
def has_guide(lane: Lane, node: int) -> bool:
    """Whether P' of a node is `guide` and not P."""
    return node == ROOT and lane.guide[0] >= 0.0


@kernel()
def guide_root(lane: Lane, packed: PackedOptions) -> None:
    """P' of the root: its prior with a temperature, mixed with the noise that `guide` holds."""
    first, count = lane.first[ROOT], lane.degree[ROOT]
    top, total = 0.0, 0.0
    for i in range(count):
        top = max(top, lane.prior[first + i])
    for i in range(count):
        total += (lane.prior[first + i] / top) ** (1.0 / packed.prior_temperature)  # not every power is 0
    for i in range(count):
        p = (lane.prior[first + i] / top) ** (1.0 / packed.prior_temperature) / total
        lane.guide[i] = (1.0 - packed.noise) * p + packed.noise * lane.guide[i]


@kernel()
def select_ucb(lane: Lane, packed: PackedOptions, node: int, k: int, guided: bool) -> int:
    """One of the edges without a visit, uniformly, or else the edge with the highest bound."""
    first, count = lane.first[node], lane.degree[node]
    fresh = 0
    for i in range(count):
        fresh += lane.n[first + i] == 0
    if fresh > 0:
        left = 0 if fresh == 1 else int(uniform(lane.state) * fresh)
        for i in range(count):
            if lane.n[first + i] == 0:
                if left == 0:
                    return i
                left -= 1
    lo, hi = scratch(lane, LOWER), scratch(lane, UPPER)
    write_q(lane, packed, node, k, lo, hi)
    log_total = np.log(float(lane.total[node]))
    noisy = has_guide(lane, node)
    top, best = -np.inf, 0
    for i in range(count):
        weight = 1.0
        if guided:
            weight = lane.guide[i] if noisy else lane.prior[first + i]
        bound = 0.5 * (lo[i] + hi[i]) + packed.c * weight * np.sqrt(log_total / lane.n[first + i])
        if bound > top:
            top, best = bound, i
    return best


@kernel()
def least_visited(lane: Lane, node: int) -> int:
    """The first edge with the smallest N."""
    first, best = lane.first[node], 0
    for i in range(lane.degree[node]):
        if lane.n[first + i] < lane.n[first + best]:
            best = i
    return best


@kernel(inline=True)
def select_puct(lane: Lane, packed: PackedOptions, node: int, k: int) -> int:
    """The edge with the PUCT interval above all others, or one of those that overlap it, mixed."""
    first, count = lane.first[node], lane.degree[node]
    lo, hi, mix = scratch(lane, LOWER), scratch(lane, UPPER), scratch(lane, SAMPLED_FROM)
    write_q(lane, packed, node, k, lo, hi)
    explore = packed.c * np.sqrt(float(lane.total[node]))
    noisy = has_guide(lane, node)
    for i in range(count):
        p = lane.guide[i] if noisy else lane.prior[first + i]
        u = explore * p / (1.0 + lane.n[first + i])
        lo[i] += u
        hi[i] += u
    top, best, tied = -np.inf, 0, 0
    for i in range(count):
        best = i if lo[i] > top else best
        top = max(top, lo[i])
    for i in range(count):
        tied += hi[i] >= top - packed.tie
    if tied == 1:
        lane.w[first + best] += 1.0
        note_point(lane, packed, node, best)
        return best
    mass = 0.0
    for i in range(count):
        if hi[i] >= top - packed.tie:
            mass += lane.prior[first + i]
    for i in range(count):
        mix[i] = 0.0
        if hi[i] >= top - packed.tie:
            mix[i] = lane.prior[first + i] / mass if mass > 0.0 else 1.0 / tied
            lane.w[first + i] += mix[i]
    lane.mixed[node] += 1
    return sample_by_weight(mix, count, lane.state)

"""Which edge a visit takes at an ACT node.

PUCT intervals (QDTS, Non-root ACT nodes):

    u(e) = c · S · P'(e) · √ΣN / (1 + N(e)),      I(e) = [Q_lo(e) + u(e), Q_hi(e) + u(e)]

The interval with the highest lower end, and all that reach up to it, are tied. One alone is chosen as it is (a *pure*
choice), several are mixed as the raw prior P says.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import kernel
from qdts.search.choices import EVEN, MIRROR_SELECT
from qdts.search.edges import drawn, write_q
from qdts.search.estimate import write_mirror
from qdts.search.forest import ROOT, Slot, scratch
from qdts.search.settings import Settings


@kernel()
def select(slot: Slot, settings: Settings, node: int) -> int:
    """The edge of a visit, by its place among the node's edges; W and n_mixed take note of it."""
    rule = settings.root_select if slot.tree[node] == node else settings.select
    k = 0 if settings.hidden else slot.actor[node]
    if rule == EVEN:
        e = least_visited(slot, node)
    elif rule == MIRROR_SELECT:
        policy = scratch(slot, 0)
        write_mirror(slot, settings, node, k, policy)
        e = drawn(policy, slot.degree[node], slot.state)
    else:
        return select_puct(slot, settings, node, k)
    slot.w[slot.first[node] + e] += 1.0
    return e


@kernel()
def least_visited(slot: Slot, node: int) -> int:
    """The first edge with the smallest N."""
    first, best = slot.first[node], 0
    for i in range(slot.degree[node]):
        if slot.n[first + i] < slot.n[first + best]:
            best = i
    return best


@kernel()
def select_puct(slot: Slot, settings: Settings, node: int, k: int) -> int:
    """The edge with the PUCT interval above all others, or one of those that overlap it, mixed."""
    first, count = slot.first[node], slot.degree[node]
    lo, hi, mix = scratch(slot, 0), scratch(slot, 1), scratch(slot, 2)
    write_q(slot, settings, node, k, lo, hi)
    explore = settings.c * np.sqrt(float(slot.total[node]))
    guided = node == ROOT and slot.guide[0] >= 0.0
    top, best = -np.inf, 0
    for i in range(count):
        p = slot.guide[i] if guided else slot.prior[first + i]
        u = explore * p / (1.0 + slot.n[first + i])
        lo[i] += u
        hi[i] += u
        if lo[i] > top:
            top, best = lo[i], i
    tied, mass = 0, 0.0
    for i in range(count):
        mix[i] = 0.0
        if hi[i] >= top - settings.tie:
            tied += 1
            mass += slot.prior[first + i]
    if tied == 1:
        slot.w[first + best] += 1.0
        return best
    for i in range(count):
        if hi[i] >= top - settings.tie:
            mix[i] = slot.prior[first + i] / mass if mass > 0.0 else 1.0 / tied
            slot.w[first + i] += mix[i]
    slot.mixed[node] += 1
    return drawn(mix, count, slot.state)

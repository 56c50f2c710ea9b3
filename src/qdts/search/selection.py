"""Which edge a visit takes at an ACT node.

PUCT intervals (QDTS, Non-root ACT nodes):

    u(e) = c · S · P'(e) · √ΣN / (1 + N(e)),      I(e) = [Q_lo(e) + u(e), Q_hi(e) + u(e)]

The interval with the highest lower end, and all that reach up to it, are tied. One alone is chosen as it is (a *pure*
choice), several are mixed as the raw prior P says.

UCB (Tree search), M the middle of Q, g = 1 or, guided, P':

    M(e) + c · S · g(e) · √(ln ΣN / N(e))
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import kernel
from qdts.rng import uniform
from qdts.search.choices import EVEN, GUIDED, MIRROR_SELECT, RUNNING, RUNNING_BACKUP, UCB
from qdts.search.edges import drawn, write_q
from qdts.search.estimate import write_mirror
from qdts.search.forest import ROOT, Slot, scratch
from qdts.search.items import DRAWN
from qdts.search.settings import Settings


@kernel(inline=True)
def select(slot: Slot, settings: Settings, node: int) -> int:
    """The edge of a visit, by its place among the node's edges; W and n_mixed take note of it.

    DRAWN is what it was drawn from, all on one edge if it was not, where running averages want to know.
    """
    rule = settings.root_select if slot.tree[node] == node else settings.select
    k = 0 if settings.hidden else slot.actor[node]
    if rule == MIRROR_SELECT:
        policy = scratch(slot, DRAWN)
        write_mirror(slot, settings, node, k, policy)
        e = drawn(policy, slot.degree[node], slot.state)
    elif rule == EVEN:
        e = least_visited(slot, node)
        note_point(slot, settings, node, e)
    elif rule in (UCB, GUIDED):
        e = select_ucb(slot, settings, node, k, rule == GUIDED)
        note_point(slot, settings, node, e)
    else:
        return select_puct(slot, settings, node, k)
    slot.w[slot.first[node] + e] += 1.0
    return e


@kernel(inline=True)
def note_point(slot: Slot, settings: Settings, node: int, edge: int) -> None:
    """DRAWN all on one edge, where somebody reads it."""
    if settings.backup == RUNNING_BACKUP or settings.opponent_q == RUNNING:
        point = scratch(slot, DRAWN)
        for i in range(slot.degree[node]):
            point[i] = 1.0 if i == edge else 0.0


@kernel(inline=True)
def has_guide(slot: Slot, node: int) -> bool:
    """Whether P' of a node is `guide` and not P."""
    return node == ROOT and slot.guide[0] >= 0.0


@kernel()
def select_ucb(slot: Slot, settings: Settings, node: int, k: int, guided: bool) -> int:
    """One of the edges without a visit, evenly, or the edge with the highest bound."""
    first, count = slot.first[node], slot.degree[node]
    fresh = 0
    for i in range(count):
        fresh += slot.n[first + i] == 0
    if fresh > 0:
        left = 0 if fresh == 1 else int(uniform(slot.state) * fresh)
        for i in range(count):
            if slot.n[first + i] == 0:
                if left == 0:
                    return i
                left -= 1
    lo, hi = scratch(slot, 0), scratch(slot, 1)
    write_q(slot, settings, node, k, lo, hi)
    log_total = np.log(float(slot.total[node]))
    noisy = has_guide(slot, node)
    top, best = -np.inf, 0
    for i in range(count):
        weight = 1.0
        if guided:
            weight = slot.guide[i] if noisy else slot.prior[first + i]
        bound = 0.5 * (lo[i] + hi[i]) + settings.c * weight * np.sqrt(log_total / slot.n[first + i])
        if bound > top:
            top, best = bound, i
    return best


@kernel()
def least_visited(slot: Slot, node: int) -> int:
    """The first edge with the smallest N."""
    first, best = slot.first[node], 0
    for i in range(slot.degree[node]):
        if slot.n[first + i] < slot.n[first + best]:
            best = i
    return best


@kernel(inline=True)
def select_puct(slot: Slot, settings: Settings, node: int, k: int) -> int:
    """The edge with the PUCT interval above all others, or one of those that overlap it, mixed."""
    first, count = slot.first[node], slot.degree[node]
    lo, hi, mix = scratch(slot, 0), scratch(slot, 1), scratch(slot, DRAWN)
    write_q(slot, settings, node, k, lo, hi)
    explore = settings.c * np.sqrt(float(slot.total[node]))
    noisy = has_guide(slot, node)
    for i in range(count):
        p = slot.guide[i] if noisy else slot.prior[first + i]
        u = explore * p / (1.0 + slot.n[first + i])
        lo[i] += u
        hi[i] += u
    top, best, tied = -np.inf, 0, 0
    for i in range(count):
        best = i if lo[i] > top else best
        top = max(top, lo[i])
    for i in range(count):
        tied += hi[i] >= top - settings.tie
    if tied == 1:
        slot.w[first + best] += 1.0
        note_point(slot, settings, node, best)
        return best
    mass = 0.0
    for i in range(count):
        if hi[i] >= top - settings.tie:
            mass += slot.prior[first + i]
    for i in range(count):
        mix[i] = 0.0
        if hi[i] >= top - settings.tie:
            mix[i] = slot.prior[first + i] / mass if mass > 0.0 else 1.0 / tied
            slot.w[first + i] += mix[i]
    slot.mixed[node] += 1
    return drawn(mix, count, slot.state)

"""The root's decision: the distribution that the move is sampled from, and the policy target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.kernels import Ints, Reals
from qdts.search.decision.mirror import doubted, mirror_step
from qdts.search.options.options import Options
from qdts.search.options.variants import Decision, RootQ, Select


class RootDecision(NamedTuple):
    """Two distributions over the root's actions."""

    move: Reals  # [A]
    target: Reals  # [A]


def value_within(prior: Reals, q_lo: Reals, q_hi: Reals, doubt: float) -> Reals:
    """The point of each action's interval, widened by the doubt, that is nearest to the value of P. float64[A]"""
    out = np.empty(len(prior))
    doubted(prior, q_lo, q_hi, len(prior), doubt, out)
    return out


def decide(options: Options, scale: float, visits: Ints, q_lo: Reals, q_hi: Reals, prior: Reals) -> RootDecision:
    """The decision at a root, by `options.decision`; `scale` is S."""
    if options.decision is Decision.MIRROR:
        q = (q_lo + q_hi) / 2
        if options.root_q is RootQ.NEAREST:
            noise = options.c_doubt * scale / np.sqrt(np.maximum(visits, 1))
            q = value_within(prior, q_lo - noise, q_hi + noise, (options.doubt + options.root_doubt) * scale)
        step = mirror_policy(prior, q / scale, options.root_step, options.root_temperature)
        step = within_reach(prior, step, options.root_reach)
        return RootDecision(step, step)
    if options.decision is Decision.LCB:
        kept = lcb_filter(visits, q_lo, q_hi, options.c_lcb * scale)
        return RootDecision(kept, kept)
    counts = proportional(visits)
    if options.decision is Decision.MOST:
        return RootDecision(first_largest(visits), counts)
    if options.decision is Decision.UCB:
        weight = prior if options.root_select is Select.GUIDED else np.ones(len(prior))
        return RootDecision(first_largest(upper_bounds(visits, (q_lo + q_hi) / 2, options.c * scale * weight)), counts)
    return RootDecision(counts, counts)


def first_largest(scores: Ints | Reals) -> Reals:
    """All weight on the largest score, the first of equals."""
    chosen = np.zeros(len(scores))
    chosen[np.argmax(scores)] = 1.0
    return chosen


def upper_bounds(visits: Ints, q: Reals, width: Reals) -> Reals:
    """Q(a) + width(a) · √(ln ΣN / N(a)), infinite where there is no visit (Tree search)."""
    bonus = width * np.sqrt(np.log(max(visits.sum(), 1)) / np.maximum(visits, 1))
    return np.where(visits > 0, q + bonus, np.inf)


def proportional(visits: Ints) -> Reals:
    """N(a) / ΣN; uniform while there is no visit."""
    return visits / visits.sum() if visits.any() else np.full(len(visits), 1 / len(visits))


def lcb_filter(visits: Ints, q_lo: Reals, q_hi: Reals, width: float) -> Reals:
    """The distribution in proportion to N over the actions that may be best (QDTS, Root ACT nodes).

    I(a) = [q_lo − σ(N), q_hi + σ(N)], σ(N) = width / √N; an action whose interval lies below the highest lower end is
    dropped.
    """
    sigma = np.where(visits > 0, width / np.sqrt(np.maximum(visits, 1)), np.inf)
    kept = np.where(q_hi + sigma >= (q_lo - sigma).max(), visits, 0)
    return proportional(kept)


def within_reach(prior: Reals, policy: Reals, reach: float) -> Reals:
    """The point on the line from P to a policy, as far as the policy but no further from P than an L1 distance."""
    distance = float(np.abs(policy - prior).sum())
    return policy if distance <= reach else prior + (policy - prior) * (reach / distance)


def mirror_policy(prior: Reals, q: Reals, step: float, temperature: float) -> Reals:
    """The mirror step of a policy on values in units of S. float64[A]"""
    out = np.empty(len(prior))
    mirror_step(prior, q, len(prior), step, temperature, out)
    return out

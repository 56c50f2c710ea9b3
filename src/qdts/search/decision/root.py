"""What the root makes of a search: the distribution that the move is drawn from, and the policy target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.kernels import Ints, Reals
from qdts.search.decision.mirror import doubted, mirror_step
from qdts.search.options.options import Options


class Decided(NamedTuple):
    """Two distributions over the root's actions."""

    move: Reals  # [A]
    target: Reals  # [A]


def value_within(prior: Reals, q_lo: Reals, q_hi: Reals, doubt: float) -> Reals:
    """For each action the point of its interval, widened by the doubt, that is nearest to what P is worth."""
    out = np.empty(len(prior))
    doubted(prior, q_lo, q_hi, len(prior), doubt, out)
    return out


def decide(options: Options, scale: float, visits: Ints, q_lo: Reals, q_hi: Reals, prior: Reals) -> Decided:
    """The decision of a root with these actions; `scale` is S."""
    if options.decision == "mirror":
        q = (q_lo + q_hi) / 2
        if options.root_q == "nearest":
            noise = options.c_doubt * scale / np.sqrt(np.maximum(visits, 1))
            q = value_within(prior, q_lo - noise, q_hi + noise, (options.doubt + options.root_doubt) * scale)
        step = mirror_policy(prior, q / scale, options.root_step, options.root_temperature)
        step = within_reach(prior, step, options.root_reach)
        return Decided(step, step)
    if options.decision == "lcb":
        kept = lcb_filter(visits, q_lo, q_hi, options.c_lcb * scale)
        return Decided(kept, kept)
    counts = proportional(visits)
    if options.decision == "most":
        return Decided(first_largest(visits), counts)
    if options.decision == "ucb":
        weight = prior if options.root_select == "guided" else np.ones(len(prior))
        return Decided(first_largest(upper_bounds(visits, (q_lo + q_hi) / 2, options.c * scale * weight)), counts)
    return Decided(counts, counts)


def first_largest(scores: Ints | Reals) -> Reals:
    """All on the largest, the first of equals."""
    chosen = np.zeros(len(scores))
    chosen[np.argmax(scores)] = 1.0
    return chosen


def upper_bounds(visits: Ints, q: Reals, width: Reals) -> Reals:
    """Q(a) + width(a) · √(ln ΣN / N(a)), infinite where there is no visit (Tree search)."""
    bonus = width * np.sqrt(np.log(max(visits.sum(), 1)) / np.maximum(visits, 1))
    return np.where(visits > 0, q + bonus, np.inf)


def proportional(visits: Ints) -> Reals:
    """N(a) / ΣN, even while there is no visit."""
    return visits / visits.sum() if visits.any() else np.full(len(visits), 1 / len(visits))


def lcb_filter(visits: Ints, q_lo: Reals, q_hi: Reals, width: float) -> Reals:
    """In proportion to N over the actions that may be best: QDTS, Root ACT nodes.

    I(a) = [q_lo − σ(N), q_hi + σ(N)], σ(N) = width / √N; what lies below the interval with the highest lower end goes.
    """
    sigma = np.where(visits > 0, width / np.sqrt(np.maximum(visits, 1)), np.inf)
    kept = np.where(q_hi + sigma >= (q_lo - sigma).max(), visits, 0)
    return proportional(kept)


def within_reach(prior: Reals, policy: Reals, reach: float) -> Reals:
    """The point on the way from P to a policy that is no further away than an L1 distance."""
    distance = float(np.abs(policy - prior).sum())
    return policy if distance <= reach else prior + (policy - prior) * (reach / distance)


def mirror_policy(prior: Reals, q: Reals, step: float, temperature: float) -> Reals:
    """The mirror step of a policy on values in units of S."""
    out = np.empty(len(prior))
    mirror_step(prior, q, len(prior), step, temperature, out)
    return out

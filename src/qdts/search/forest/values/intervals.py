"""Expectations when the distribution is only known up to an L1 ball.

    ∪ { E_{c ~ h'}[v(c)] : h' ∈ B_eps(h) } = [lo, hi]

B_eps(h) are the distributions within L1 distance eps of h, so up to eps/2 of mass moves: for `lo` from the highest
values to the lowest, for `hi` the other way round. QDTS, SAMPLE nodes; Luck Adjustments.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import Reals, compiled


@compiled
def expectation(values: Reals, distribution: Reals, count: int) -> float:
    """E_{c ~ h}[v(c)]."""
    total = 0.0
    for k in range(count):
        total += distribution[k] * values[k]
    return total


@compiled
def highest_gain(values: Reals, distribution: Reals, count: int, eps: float) -> float:
    """By how much the best distribution in the ball exceeds h: mass goes from the lowest values to the highest one."""
    top = -np.inf
    for k in range(count):
        top = max(top, values[k])
    budget, gain, level = 0.5 * eps, 0.0, -np.inf
    while budget > 0.0:
        lowest = np.inf  # the lowest value above `level`, and how much mass lies on it
        for k in range(count):
            if values[k] > level:
                lowest = min(lowest, values[k])
        if not lowest < top:
            break
        mass = 0.0
        for k in range(count):
            if values[k] == lowest:
                mass += distribution[k]
        moved = min(budget, mass)
        gain += moved * (top - lowest)
        budget -= moved
        level = lowest
    return gain


@compiled
def expectation_range(
    values: Reals, distribution: Reals, count: int, eps: float, scratch: Reals
) -> tuple[float, float]:
    """The two ends, lo and hi. `scratch` is overwritten."""
    middle = expectation(values, distribution, count)
    if eps == 0.0:
        return middle, middle
    for k in range(count):
        scratch[k] = -values[k]
    loss = highest_gain(scratch, distribution, count, eps)
    return middle - loss, middle + highest_gain(values, distribution, count, eps)


@compiled
def luck_range(
    q_lo: Reals, q_hi: Reals, distribution: Reals, count: int, chosen: int, eps: float, scratch: Reals
) -> tuple[float, float]:
    """The luck of having sampled c, over the ball and over every choice of Q from its interval.

        φ(h') = Q(c) − E_{c' ~ h'}[Q(c')] = (1 − h'(c)) Q(c) − Σ_{c' ≠ c} h'(c') Q(c')

    Q(c) is one number in both places, so φ rises with Q(c) and falls with the others: `hi` has Q(c) at its upper end
    and the others at their lower ends, `lo` the reverse. QDTS, SAMPLE nodes.
    """
    for k in range(count):
        scratch[k] = -(q_hi[k] if k == chosen else q_lo[k])
    low_mean = -expectation(scratch, distribution, count)
    hi = q_hi[chosen] - (low_mean - highest_gain(scratch, distribution, count, eps))
    for k in range(count):
        scratch[k] = q_lo[k] if k == chosen else q_hi[k]
    high_mean = expectation(scratch, distribution, count)
    lo = q_lo[chosen] - (high_mean + highest_gain(scratch, distribution, count, eps))
    return lo, hi


@compiled
def masked_highest(values: Reals, distribution: Reals, counts: Reals, count: int, eps: float, scratch: Reals) -> float:
    """The highest E_{c ~ h' · (N > 0)}[v(c)] over the ball; where `has_mass`.

    max over h' of Σ_{N > 0} h'(c) (v(c) − λ) is zero where λ is the solution (Dinkelbach 1967): children with N = 0
    then count as λ. Each round finds the best h' for λ, and λ rises to the mean under it, until it rises no more.
    """
    level, mass = 0.0, 0.0
    for k in range(count):
        if counts[k] > 0.0:
            level += distribution[k] * values[k]
            mass += distribution[k]
    level /= mass
    for _ in range(2 * count + 2):
        for k in range(count):
            scratch[k] = values[k] if counts[k] > 0.0 else level
        kept, left = 0.0, 0.5 * eps  # the mass on N > 0 under h', and the mass that may still move
        below = 0.0
        for k in range(count):
            if scratch[k] < level:
                below += distribution[k]
            if counts[k] > 0.0:
                kept += distribution[k]
        left = max(0.0, left - below)  # children below λ give theirs first, all of which have N > 0
        for k in range(count):
            if counts[k] == 0.0:
                kept += min(left, distribution[k])
                left -= min(left, distribution[k])
        gain = 0.0
        for k in range(count):
            gain += distribution[k] * (scratch[k] - level)
        rise = (gain + highest_gain(scratch, distribution, count, eps)) / kept
        if not rise > 0.0:
            break
        level += rise
    return level


@compiled
def has_mass(distribution: Reals, counts: Reals, count: int) -> bool:
    """Whether h gives children with N > 0 any mass."""
    mass = 0.0
    for k in range(count):
        if counts[k] > 0.0:
            mass += distribution[k]
    return mass > 0.0


@compiled
def masked_range(
    q_lo: Reals, q_hi: Reals, distribution: Reals, counts: Reals, count: int, eps: float, scratch: Reals
) -> tuple[float, float]:
    """∪ { E_{c ~ h' · (N > 0)}[Q(c)] : h' ∈ B_eps(h) }, where `has_mass`. `q_lo` and `scratch` are overwritten."""
    top = masked_highest(q_hi, distribution, counts, count, eps, scratch)
    for k in range(count):
        q_lo[k] = -q_lo[k]
    return -masked_highest(q_lo, distribution, counts, count, eps, scratch), top

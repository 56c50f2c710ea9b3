"""The formulas of `docs/search.md` on plain lists. Sums go from left to right over the edges in their order."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log, sqrt

Values = list[float]
"""One number for each edge, or for each player."""
Ends = tuple[float, float]
"""The two ends of an interval."""


def add(terms: Iterable[float]) -> float:
    """The sum, from left to right (the built-in `sum` may compensate for rounding)."""
    total = 0.0
    for term in terms:
        total += term
    return total


def mean(distribution: Values, values: Values) -> float:
    """E_D[values]."""
    return add(p * v for p, v in zip(distribution, values, strict=True))


def negated(values: Values) -> Values:
    """What turns the largest into the smallest."""
    return [-v for v in values]


def worst(distribution: Values, values: Values, eps: float) -> Values:
    """The D' of B_eps(D) with the smallest expectation: eps / 2 of mass moves from the highest values to the lowest."""
    moved_to = list(distribution)
    left = eps / 2
    falling = sorted(range(len(values)), key=lambda e: values[e], reverse=True)
    bottom = falling[-1]
    for e in falling[:-1]:
        moved = min(left, distribution[e])
        moved_to[e] -= moved
        moved_to[bottom] += moved
        left -= moved
    return moved_to


def lowest(distribution: Values, values: Values, eps: float) -> float:
    """The smallest expectation within L1 distance eps."""
    return mean(worst(distribution, values, eps), values)


def spread(distribution: Values, low: Values, high: Values, eps: float) -> Ends:
    """∪ { E_{D'}[r] : D' ∈ B_eps(D) }, r any numbers between low and high."""
    return lowest(distribution, low, eps), -lowest(distribution, negated(high), eps)


def lowest_of_seen(distribution: Values, values: Values, seen: list[bool], eps: float) -> float:
    """The smallest expectation under D' · seen, normalised; D must give what was seen some mass.

    It is the y at which min E_{D'}[value − y] is 0, what was not seen counting 0. From above, y goes to the
    expectation under the D' of that minimum until it falls no more.
    """
    known = [v for v, s in zip(values, seen, strict=True) if s]
    y = max(known)
    while y > min(known):
        shifted = [v - y if s else 0.0 for v, s in zip(values, seen, strict=True)]
        masked = [p if s else 0.0 for p, s in zip(worst(distribution, shifted, eps), seen, strict=True)]
        below = mean(masked, values) / add(masked)
        if below >= y:
            break
        y = below
    return y


def luck(distribution: Values, low: Values, high: Values, c: int, eps: float) -> Ends:
    """{ R(c) − E_{D'}[R] : D' ∈ B_eps(D) } with any number from each R(e) = [low, high], the same R(c) in both places.

    It is linear in R(c), so both ends of R(c) are tried.
    """
    found = []
    for r in (low[c], high[c]):
        bottom, top = list(low), list(high)
        bottom[c] = top[c] = r
        least, most = spread(distribution, bottom, top, eps)
        found += [r - most, r - least]
    return min(found), max(found)


def mirror_step(prior: Values, q: Values, step: float, temperature: float) -> Values:
    """π(a) ∝ [ P(a) · ρ(a)^(ηα) · exp(η q(a)) ]^(1 / (1 + ηα)) with ρ uniform."""
    pull = step * temperature
    rho = 1 / len(prior)
    weights = [(p * rho**pull * exp(step * x)) ** (1 / (1 + pull)) for p, x in zip(prior, q, strict=True)]
    return [w / add(weights) for w in weights]


def sticky(prior: Values, counted: Values, n: int, delta: float) -> Values:
    """The point nearest to P of the L1 ball round f = N / n that holds the truth with probability 1 − δ."""
    radius = sqrt(2 * (len(prior) * log(2) + log(1 / delta)) / n)
    distance = add(abs(p - f) for p, f in zip(prior, counted, strict=True))
    share = 1.0 if distance <= radius else radius / distance
    return [f + (p - f) * share for p, f in zip(prior, counted, strict=True)]

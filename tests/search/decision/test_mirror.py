"""The mirror step: its closed form, its limits, and that it is where its objective is largest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdts.kernels import Reals
from qdts.search.decision.root import mirror_policy, value_within

few = settings(max_examples=60, deadline=None)


@st.composite
def policies(draw: st.DrawFn) -> tuple[Reals, Reals]:
    """P, zero in places, and q."""
    count = draw(st.integers(1, 6))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.02, 0.5, 2.0]), min_size=count, max_size=count)))
    weights[draw(st.integers(0, count - 1))] += 0.7
    return weights / weights.sum(), np.array(draw(st.lists(st.floats(-1, 1), min_size=count, max_size=count)))


steps, temperatures = st.floats(0, 20), st.floats(0, 2)


@few
@given(policies(), steps, temperatures)
def test_closed_form(policy: tuple[Reals, Reals], step: float, temperature: float) -> None:
    p, q = policy
    rho = 1 / len(p)
    weights = (p * rho ** (step * temperature) * np.exp(step * q)) ** (1 / (1 + step * temperature))
    assert mirror_policy(p, q, step, temperature) == pytest.approx(weights / weights.sum(), abs=1e-12)


@few
@given(policies())
def test_limits(policy: tuple[Reals, Reals]) -> None:
    p, q = policy
    assert mirror_policy(p, q, 0.0, 0.5) == pytest.approx(p, abs=1e-15)
    best = np.flatnonzero((p > 0) & (q == q[p > 0].max()))
    rest = [k for k in range(len(p)) if p[k] > 0 and k not in best]
    if not rest or q[best[0]] - q[rest].max() > 1e-6:
        large = mirror_policy(p, q, 1e9, 0.0)
        assert large[best].sum() == pytest.approx(1)
        assert large[best] == pytest.approx(p[best] / p[best].sum())
    support = p > 0
    assert mirror_policy(p, q, 1.0, 1e9) == pytest.approx(support / support.sum(), abs=1e-6)
    assert (mirror_policy(p, q, 3.0, 0.1)[~support] == 0).all()


@few
@given(policies(), st.floats(0.01, 10), temperatures, st.integers(0, 2**32))
def test_it_maximises_its_objective(policy: tuple[Reals, Reals], step: float, temperature: float, seed: int) -> None:
    """⟨π, q⟩ − α KL(π, ρ) − KL(π, P) / η: no other distribution on P's support does better."""
    p, q = policy
    on = p > 0

    def objective(x: Reals) -> float:
        at = x[on]
        entropy = np.where(at > 0, at * np.log(np.maximum(at, 1e-300)), 0.0)
        to_magnet = entropy.sum() + np.log(len(p))
        to_prior = (entropy - at * np.log(p[on])).sum()
        return float(at @ q[on] - temperature * to_magnet - to_prior / step)

    found = mirror_policy(p, q, step, temperature)
    top = objective(found)
    numbers = np.random.default_rng(seed)
    for size in (1.0, 0.1, 1e-3):
        other = np.zeros(len(p))
        other[on] = numbers.dirichlet(np.ones(on.sum()))
        assert objective((1 - size) * found + size * other) <= top + 1e-12


@few
@given(policies(), st.floats(0, 0.5), st.floats(0, 0.5))
def test_what_is_in_doubt_counts_as_equal(policy: tuple[Reals, Reals], half: float, doubt: float) -> None:
    """The nearest point, by trying many; P where all are in doubt, the middles where nothing is."""
    p, q = policy
    found, worth = value_within(p, q - half, q + half, doubt), p @ q
    for k in range(len(p)):
        points = np.linspace(q[k] - half - doubt, q[k] + half + doubt, 2001)
        nearest = points[np.abs(points - worth).argmin()]
        assert found[k] == pytest.approx(nearest, abs=2e-3)
        assert abs(found[k] - q[k]) <= half + doubt + 1e-12
    assert value_within(p, q - half, q + half, 4.0) == pytest.approx(np.full(len(p), worth))
    assert value_within(p, q, q, 0.0) == pytest.approx(q)

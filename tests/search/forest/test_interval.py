"""Expectations and luck over an L1 ball, against linear programs and brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from qdts.kernels import Reals
from qdts.search.forest.values.intervals import expectation_range, luck_range

CLOSE = 1e-8
few = settings(max_examples=60, deadline=None)
rounded = st.floats(0, 2).map(lambda x: round(x, 4))  # an LP has tolerances
radius = st.sampled_from([0.0, 0.05, 0.1, 0.7, 1.3, 2.0]) | rounded


@st.composite
def lotteries(draw: st.DrawFn) -> tuple[Reals, Reals]:
    """A distribution, some of it zero, and values, some of them equal."""
    count = draw(st.integers(1, 6))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.01, 0.3, 1.0, 5.0]), min_size=count, max_size=count)))
    weights[draw(st.integers(0, count - 1))] += 1.0
    value = st.integers(-2, 2).map(float) | st.floats(-3, 3).map(lambda x: round(x, 4))
    return weights / weights.sum(), np.array(draw(st.lists(value, min_size=count, max_size=count)))


def best_in_ball(d: Reals, payoff: Reals, eps: float) -> float:
    """max Σ d'(c) payoff(c) over distributions d' within L1 distance eps of d, in the variables (d', |d' − d|)."""
    k = len(d)
    eye, zero = np.eye(k), np.zeros(k)
    solved = linprog(
        np.r_[-payoff, zero],
        A_ub=np.block([[eye, -eye], [-eye, -eye], [zero, np.ones(k)]]),
        b_ub=np.r_[d, -d, eps],
        A_eq=[np.r_[np.ones(k), zero]],
        b_eq=[1.0],
    )
    assert solved.success
    return -float(solved.fun)


def spread(d: Reals, values: Reals, eps: float) -> tuple[float, float]:
    return expectation_range(values, d, len(d), eps, np.empty(len(d)))


@few
@given(lotteries(), radius)
def test_it_is_the_linear_program(lottery: tuple[Reals, Reals], eps: float) -> None:
    d, values = lottery
    lo, hi = spread(d, values, eps)
    assert hi == pytest.approx(best_in_ball(d, values, eps), abs=CLOSE)
    assert lo == pytest.approx(-best_in_ball(d, -values, eps), abs=CLOSE)


@few
@given(lotteries(), radius, radius)
def test_it_holds_the_point_and_grows_with_eps(lottery: tuple[Reals, Reals], one: float, other: float) -> None:
    d, values = lottery
    small, large = (spread(d, values, eps) for eps in sorted((one, other)))
    point = float(d @ values)
    assert large[0] - 1e-12 <= small[0] <= point + 1e-12
    assert point - 1e-12 <= small[1] <= large[1] + 1e-12
    assert spread(d, values, 0.0) == pytest.approx((point, point), abs=1e-12)
    assert spread(d, values, 0.0)[0] == spread(d, values, 0.0)[1]
    assert spread(d, values, 2.0) == pytest.approx((values.min(), values.max()), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(lotteries(), st.data())
def test_luck_is_the_program_over_the_ball_and_all_ends(lottery: tuple[Reals, Reals], data: st.DataObject) -> None:
    """φ = Q(c) − E[Q], Q(c) the same number in both places: linear in every Q, so its extremes are at the ends."""
    d, q_lo = lottery
    count = len(d)
    widths = st.sampled_from([0.0, 0.5]) | rounded
    q_hi = q_lo + np.array(data.draw(st.lists(widths, min_size=count, max_size=count)))
    drawn, eps = data.draw(st.integers(0, count - 1)), data.draw(radius)
    lo, hi = luck_range(q_lo, q_hi, d, count, drawn, eps, np.empty(count))
    lows, highs = [], []
    for ends in product(*zip(q_lo, q_hi, strict=True)):
        q = np.array(ends)
        highs.append(best_in_ball(d, q[drawn] - q, eps))
        lows.append(-best_in_ball(d, q - q[drawn], eps))
    assert hi == pytest.approx(max(highs), abs=CLOSE)
    assert lo == pytest.approx(min(lows), abs=CLOSE)

"""P̂ by its formulas, on counts and priors set by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numba import float64, int64, types

from qdts import load_game
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.search.evaluation.builtin import Uniform
from qdts.search.forest.lanes.lane import ROOT
from qdts.search.forest.lanes.layout import WhereType, lane_of
from qdts.search.forest.searcher import Searcher
from qdts.search.forest.values.opponent_estimate import write_estimate
from qdts.search.options.named import named
from qdts.search.options.packed import PackedOptions, PackedOptionsType, pack_options
from qdts.search.options.variants import Estimate

PRIOR = np.array([0.5, 0.3, 0.2])


@kernel(types.void(WhereType, PackedOptionsType, int64, float64[::1]))
def estimate_in(where: Ints, packed: PackedOptions, root: int, out: Reals) -> None:
    write_estimate(lane_of(where, 0, 0), packed, root, element(out, 0))


def estimated(name: Estimate, counts: list[int], prior: Reals = PRIOR, **changes: float) -> Reals:
    """P̂ of a root with these counts; with `mirror`, its values are 0.6, 0 and −0.6."""
    game = load_game("matrix_game")
    searcher = Searcher(game, [game.initial()], [0], named("qdts"), Uniform(game))
    searcher.run(1)
    f = searcher.forest
    f.n[0, :3], f.total[0, ROOT], f.prior[0, :3] = counts, sum(counts), prior
    f.child[0, :3], f.vc[0, :3, 0] = -1, [0.6, 0.0, -0.6]
    out = np.empty(3)
    estimate_in(f.where, pack_options(game, named("qdts", estimate=name, **changes)), ROOT, out)
    return out


@pytest.mark.parametrize("counts", [[0, 0, 0], [1, 0, 0], [3, 5, 2], [0, 0, 700]])
def test_formulas(counts: list[int]) -> None:
    n, total = np.array(counts), sum(counts)
    frequency = n / total if total else PRIOR
    assert estimated(Estimate.COUNTS, counts) == pytest.approx(frequency)
    assert estimated(Estimate.PRIOR, counts) == pytest.approx(PRIOR)
    for kappa in (10.0, 0.5):
        expected = (n + kappa * PRIOR) / (total + kappa)
        assert estimated(Estimate.DIRICHLET, counts, pseudo_visits=kappa) == pytest.approx(expected)
    for step in (0.0, 2.0):
        weights = PRIOR * np.exp(step * np.array([0.6, 0.0, -0.6]))
        assert estimated(Estimate.MIRROR, counts, step=step) == pytest.approx(weights / weights.sum())


def test_sticky_is_exactly_the_prior_while_counts_are_not_unlikely() -> None:
    """r = √(2 (3 ln 2 + ln(1/δ)) / n) against ‖P − f‖₁ = 1, for f all on the first and P half there."""
    delta = 0.05
    leaves = 2 * (3 * np.log(2) + np.log(1 / delta))
    assert 10 < leaves < 11
    for n in (1, 5, 10):
        assert estimated(Estimate.STICKY, [n, 0, 0], confidence=delta).tolist() == PRIOR.tolist()
    for n in (11, 50, 10_000):
        radius = np.sqrt(leaves / n)
        found = estimated(Estimate.STICKY, [n, 0, 0], confidence=delta)
        assert found.tolist() != PRIOR.tolist()
        assert np.abs(found - [1, 0, 0]).sum() == pytest.approx(radius)  # on the edge of the ball
        assert np.abs(found - PRIOR).sum() == pytest.approx(1 - radius)  # and nearest to P
        assert found.sum() == pytest.approx(1)
    assert estimated(Estimate.STICKY, [500, 300, 200]).tolist() == PRIOR.tolist()


def test_sticky_leaves_the_truth_as_rarely_as_it_says() -> None:
    stream = np.random.default_rng(0)
    left = [
        estimated(Estimate.STICKY, stream.multinomial(n, PRIOR).tolist(), confidence=0.2).tolist() != PRIOR.tolist()
        for n in (5, 50, 500)
        for _ in range(40)
    ]
    assert np.mean(left) < 0.2

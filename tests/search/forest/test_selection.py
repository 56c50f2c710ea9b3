"""PUCT intervals: what overlaps is mixed by the raw prior; temperature and noise only guide."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.kernels import Reals
from qdts.rng import State, seeded
from qdts.search.evaluation.evaluator import ACT, NOTHING, OPPONENT, SAMPLE, Evaluation, Query
from qdts.search.forest.lanes.lane import ROOT
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.options import Options
from search.naive_evaluators import Written

PRIOR = np.array([0.2, 0.7, 0.1])
SPREAD = {
    (ACT, 0, NOTHING): (0.0, [0.0] * 3, PRIOR.tolist()),
    (OPPONENT, 0, NOTHING): (0.0, [-1.0, 0.0, 1.0], [1 / 3] * 3),
    (ACT, 1, NOTHING): (0.0, [0.0] * 3, [1 / 3] * 3),
    (SAMPLE, 1, 0): (0.0, [0.0] * 3, [1 / 3] * 3),
    (SAMPLE, 1, 1): (0.0, [0.0] * 3, [1 / 3] * 3),
    (SAMPLE, 1, 2): (0.0, [0.0] * 3, [1 / 3] * 3),
}
CHANGES = [{}, {"noise": 0.8}, {"prior_temperature": 3.0}, {"noise": 0.5, "prior_temperature": 0.3}]


class Rising:
    """Every value is 0; P rises with the number of the action."""

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        count = len(query.choices)
        prior = np.sqrt(np.arange(9.0, 9.0 + count))  # so that no two P(e) / (1 + N(e)) are equal
        return Evaluation(np.zeros(2), np.zeros((count, 2)), prior / prior.sum())


def guided(prior: Reals, options: Options, seed: int) -> Reals:
    """P' = (1 − noise) P^(1/T) / Σ + noise · Dirichlet."""
    noise = np.random.default_rng(seeded(seed)).dirichlet([options.noise_alpha] * len(prior))
    tempered = prior ** (1 / options.prior_temperature)
    return (1 - options.noise) * tempered / tempered.sum() + options.noise * noise


@pytest.mark.parametrize("changes", CHANGES)
def test_where_all_overlap_the_raw_prior_mixes(changes: dict[str, float]) -> None:
    """The three rows are worth [−1, 1] each before any visit: whatever P' says, each visit adds P to W."""
    game = load_game("matrix_game")
    options = named("qdts", eps_opponent=2.0, widen=True, c=0.001, estimate="prior", **changes)
    searcher = Searcher(game, [game.initial()], [0], options, Written(SPREAD), seeds=[3])
    visits = 400
    searcher.run(visits)
    f = searcher.forest
    assert f.mixed[0, ROOT] == visits
    of = slice(f.first[0, ROOT], f.first[0, ROOT] + 3)
    assert f.w[0, of] == pytest.approx(visits * PRIOR)
    assert f.n[0, of] / visits == pytest.approx(PRIOR, abs=0.08)
    assert searcher.result(0).prior.tolist() == PRIOR.tolist()


@pytest.mark.parametrize("changes", CHANGES)
def test_where_none_overlap_the_guide_chooses(changes: dict[str, float]) -> None:
    """Where every value is 0, one visit is mixed (√ΣN is 0), then the largest P'(e) / (1 + N(e)) is chosen."""
    game = load_game("tic_tac_toe")
    options = named("puct", **changes)
    searcher = Searcher(game, [game.initial()], [0], options, Rising(), seeds=[7])
    prior = np.sqrt(np.arange(9.0, 18.0)) / np.sqrt(np.arange(9.0, 18.0)).sum()
    guide = guided(prior, options, 7) if changes else prior
    counts = np.zeros(9)
    f = searcher.forest
    for visit in range(25):
        searcher.run(1)
        f = searcher.forest
        of = slice(f.first[0, ROOT], f.first[0, ROOT] + 9)
        if visit == 0:
            counts = f.n[0, of].astype(float)
            first = counts.copy()
        else:
            counts[np.argmax(guide / (1 + counts))] += 1
        assert f.n[0, of].tolist() == counts.tolist()
        assert f.w[0, of] == pytest.approx(prior + counts - first)
    assert f.mixed[0, ROOT] == 1
    if changes:
        assert f.guide[0, :9] == pytest.approx(guide)


def test_a_low_temperature_does_not_underflow() -> None:
    game = load_game("tic_tac_toe")
    searcher = Searcher(game, [game.initial()], [0], named("puct", prior_temperature=1e-3), Rising(), seeds=[1])
    searcher.run(5)
    assert searcher.forest.guide[0, :9] == pytest.approx([0] * 8 + [1])


def test_what_was_not_visited_is_worth_v_c_or_v_less_the_urgency() -> None:
    """S = 1. By V_c the first row is above the others; by first-play urgency all are V − 0.3: mixed as P says."""
    game = load_game("matrix_game")
    evaluations = {
        (ACT, 0, NOTHING): (0.1, [0.5, -0.2, 0.0], PRIOR.tolist()),
        (OPPONENT, 0, NOTHING): (-0.4, [0.0] * 3, [1 / 3] * 3),
    }
    of = slice(0, 3)
    for unvisited, w, mixed in (("child", [1, 0, 0], 0), ("fpu", PRIOR, 1)):
        options = named("a-ismcts", unvisited=unvisited, fpu=0.3)
        searcher = Searcher(game, [game.initial()], [0], options, Written(evaluations), seeds=[3])
        searcher.run(1)
        f = searcher.forest
        assert f.w[0, of] == pytest.approx(w)
        assert f.mixed[0, ROOT] == mixed
        values = [0.5, -0.2, 0.0] if unvisited == "child" else [0.1 - 0.3] * 3
        values[int(np.argmax(f.n[0, of]))] = -0.4
        assert f.lo[0, ROOT, 0] == pytest.approx(np.array(w) @ values)
        assert searcher.result(0).q_lo == pytest.approx(values)

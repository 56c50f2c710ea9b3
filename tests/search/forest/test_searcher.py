"""Many searches side by side: nothing depends on neighbours, threads or room; the cap; what evaluators may not say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.games import Game
from qdts.kernels import Reals
from qdts.rng import State
from qdts.search.evaluation.builtin import Playouts, Table, Uniform
from qdts.search.evaluation.evaluator import ACT, SAMPLE, Evaluation, Evaluator, Query
from qdts.search.forest.lanes.lane import NODES, ROOT, VISITS
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.solving.uniform import uniform_policy
from search.comparison import assert_same
from search.naive_evaluators import Hashed
from search.samples import first_view


def grown(
    game: Game, options: Options, evaluator: Evaluator, *, lanes: int = 1, visits: int = 100, threads: int = 1,
    first_nodes: int = 64,
) -> Searcher:  # fmt: skip
    """Searches from different views, with different seeds; lane 0 is always the same."""
    views, players = zip(*(first_view(game, 8 + s) for s in range(lanes)), strict=True)
    searcher = Searcher(
        game, views, players, options, evaluator, seeds=range(5, 5 + lanes), threads=threads, first_nodes=first_nodes
    )
    searcher.run(visits)
    return searcher


@cache
def evaluator_of(name: str, spec: str) -> Evaluator:
    game = load_game(spec)
    if name == "table":
        return Table(uniform_policy(game), value_noise=0.1)
    return Uniform(game) if name == "uniform" else Playouts(game)


@pytest.mark.parametrize("name", ["uniform", "playouts", "table"])
@pytest.mark.parametrize("spec", ["leduc_poker", "kuhn_poker(players=3)"])
def test_a_search_is_the_same_alone_and_among_64(spec: str, name: str) -> None:
    game, evaluator = load_game(spec), evaluator_of(name, spec)
    for options in (named("qdts"), named("mmds", share=True, step=1.0)):
        alone = grown(game, options, evaluator)
        among = grown(game, options, evaluator, lanes=64)
        assert_same(alone, among)
        threaded = grown(game, options, evaluator, lanes=64, threads=2)
        for s in range(64):
            assert_same(among, threaded, s)


@pytest.mark.parametrize("spec", ["leduc_poker", "tic_tac_toe"])
def test_room_makes_no_difference(spec: str) -> None:
    game = load_game(spec)
    for evaluator in (Playouts(game), Hashed(game, 1)):
        small = grown(game, named("qdts"), evaluator, first_nodes=1)
        large = grown(game, named("qdts"), evaluator, first_nodes=100_000)
        assert small.forest.kind.shape[1] < 100_000 == large.forest.kind.shape[1]
        assert_same(small, large)
        assert small.forest.stack.shape == large.forest.stack.shape  # nodes ran out, the stack did not


@pytest.mark.parametrize("options", [named("qdts"), named("qdts", widen=True), named("mmds"), named("a-ismcts")])
def test_at_the_cap_a_search_goes_on_without_growing(options: Options) -> None:
    game = load_game("leduc_poker")
    free = grown(game, options, Uniform(game))
    assert not free.result(0).full
    for most in (1, 2, 7, 50):
        capped = Options(**{**options.__dict__, "max_nodes": most})
        searcher = grown(game, capped, Uniform(game), visits=100)
        searcher.run(100)
        result = searcher.result(0)
        assert result.full
        assert result.nodes <= most
        assert result.nodes == searcher.forest.registers[0, NODES] <= searcher.forest.kind.shape[1] <= most
        assert result.visits.sum() == 200
        assert np.isfinite(result.q_lo).all()
        assert result.move.sum() == pytest.approx(1)


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four", "pig(winscore=20)"])
def test_where_nothing_is_hidden_qdts_is_puct(spec: str) -> None:
    game = load_game(spec)
    for evaluator in (Uniform(game), Playouts(game), Hashed(game, 2)):
        puct = grown(game, named("puct"), evaluator, visits=300)
        for name in ("qdts", "a-ismcts"):
            assert_same(puct, grown(game, named(name), evaluator, visits=300))


@pytest.mark.parametrize(
    "spec", ["liars_dice(numdice=2,dice_sides=3)", "hearts", "liars_dice(dice_sides=3,split=true)"]
)
def test_every_visit_gets_past_the_chain(spec: str) -> None:
    """As many visits leave a SAMPLE node as come to it, so all of the root's end behind its holes."""
    game = load_game(spec)
    visits = 40
    searcher = grown(game, named("qdts"), Uniform(game), visits=visits)
    f, nodes = searcher.forest, int(searcher.forest.registers[0, NODES])
    arrived, past = np.zeros(nodes, int), 0
    for node in range(nodes):
        for e in range(f.first[0, node], f.first[0, node] + f.degree[0, node]):
            if f.child[0, e] >= 0:
                arrived[f.child[0, e]] += f.n[0, e]
                if f.kind[0, node] == SAMPLE != f.kind[0, f.child[0, e]] and f.tree[0, node] == ROOT:
                    past += f.n[0, e]
    samples = np.flatnonzero(f.kind[0, :nodes] == SAMPLE)
    assert len(samples) > 10
    assert (arrived[samples] == f.total[0, samples]).all()
    midway = [n for n in range(1, nodes) if f.kind[0, n] == ACT and f.passing[0, n] and f.tree[0, n] != n]
    assert (arrived[midway] == f.total[0, midway]).all()
    assert past >= visits
    if spec == "hearts":
        assert (f.vector[0, ROOT] < 0).sum() >= 39


class Saying:
    """An evaluator that is right until a certain kind of node; then it gives something else."""

    def __init__(self, game: Game, kind: int, **wrong: object) -> None:
        self.inner, self.kind, self.wrong = Hashed(game, 1), kind, wrong

    def evaluate(self, query: Query, state: State) -> Evaluation:
        right = self.inner.evaluate(query, state)
        if query.kind != self.kind:
            return right
        return right._replace(**{k: change(getattr(right, k)) for k, change in self.wrong.items()})  # type: ignore[operator]


def with_nan(x: Reals) -> Reals:
    x = x.copy()
    x.flat[-1] = np.nan
    return x


@pytest.mark.parametrize(
    ("field", "change", "text"),
    [
        ("value", with_nan, "not finite"),
        ("child_values", with_nan, "not finite"),
        ("child_values", lambda x: x * np.inf, "not finite"),
        ("prior", with_nan, "not finite"),
        ("value", lambda x: np.r_[x, x], "shapes"),
        ("value", lambda x: float(x[0]), "shapes"),
        ("child_values", lambda x: x[:-1], "shapes"),
        ("child_values", lambda x: x[:, 0], "shapes"),
        ("prior", lambda x: np.r_[x, 0.0], "shapes"),
        ("prior", lambda x: 0.9 * x, "sums to 1"),
        ("prior", lambda x: 0 * x, "sums to 1"),
        ("prior", lambda x: np.r_[-0.5, 1.5, 0 * x[2:]], "sums to 1"),
    ],
)
@pytest.mark.parametrize("kind", [ACT, SAMPLE])
def test_a_wrong_answer_is_an_error_that_names_the_node(kind: int, field: str, change: object, text: str) -> None:
    game = load_game("leduc_poker")
    view, player = first_view(game, 8)
    searcher = Searcher(game, [view], [player], named("qdts"), Saying(game, kind, **{field: change}))
    with pytest.raises(InputError, match=text) as error:
        searcher.run(10)
    assert f"the {['act', 'sample'][kind]} node {game.layout.write(view)}" in str(error.value)


def test_a_table_asked_about_what_it_lacks_is_an_error() -> None:
    game = load_game("kuhn_poker")
    view, player = first_view(game, 8)
    broken = view.copy()
    broken[-1] = 2  # a third bet, before the first
    table = Table(uniform_policy(game))
    for threads in (1, 2):
        with pytest.raises(InputError, match="play never gets to the act node"):
            run_searches(game, [view, broken], [player] * 2, named("qdts"), 20, evaluator=table, threads=threads)


class Failing:
    """An evaluator that fails at every seventh question."""

    def __init__(self, inner: Evaluator) -> None:
        self.inner, self.count = inner, 0

    def evaluate(self, query: Query, state: State) -> Evaluation:
        self.count += 1
        if self.count % 7 == 0:
            raise KeyboardInterrupt
        return self.inner.evaluate(query, state)


@pytest.mark.parametrize("options", [named("qdts"), named("mmds", widen=True)])
def test_a_search_goes_on_after_a_failure_as_if_nothing_had_been(options: Options) -> None:
    game = load_game("leduc_poker")
    views, players = zip(*(first_view(game, 8 + s) for s in range(3)), strict=True)
    searcher = Searcher(game, views, players, options, Failing(Hashed(game, 1)), seeds=[5, 6, 7])
    failures, over = 0, False
    while not over:
        try:
            searcher.run(5)
            over = searcher.forest.registers[:, VISITS].min() >= 30
        except KeyboardInterrupt:
            failures += 1
    assert failures > 5
    for s in range(3):
        visits = int(searcher.forest.registers[s, VISITS])
        assert_same(searcher, grown(game, options, Hashed(game, 1), lanes=3, visits=visits), s)


def test_a_result_needs_visits() -> None:
    game = load_game("kuhn_poker")
    view, player = first_view(game, 8)
    searcher = Searcher(game, [view], [player], named("qdts"), Uniform(game))
    with pytest.raises(InputError, match="expected visits"):
        searcher.result(0)


def test_what_belongs_to_another_game_or_machine_is_refused() -> None:
    game, other = load_game("kuhn_poker"), load_game("leduc_poker")
    view, player = first_view(game, 8)
    for evaluator in (Table(uniform_policy(other)), Uniform(other), Playouts(load_game("kuhn_poker(players=3)"))):
        with pytest.raises(InputError, match="expected one for kuhn_poker"):
            Searcher(game, [view], [player], named("qdts"), evaluator)
    with pytest.raises(InputError, match="expected forest"):
        Searcher(game, [view], [player], named("ismcts"), Uniform(game))


def test_no_searches_are_no_work() -> None:
    game = load_game("kuhn_poker")
    assert run_searches(game, [], [], named("qdts"), 10) == []
    with pytest.raises(InputError, match="visits=0"):
        run_searches(game, [], [], named("qdts"), 0)

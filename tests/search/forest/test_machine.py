"""The engine against its twin: every node of every tree, for every named search and for each option on its own."""

from __future__ import annotations

from typing import Any

import pytest

from qdts import load_game
from qdts.games import Game
from qdts.rng import State
from qdts.search.evaluation.builtin import Playouts, Uniform
from qdts.search.evaluation.evaluator import Evaluation, Evaluator, Query
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.options.variants import Ball, Form, LuckBase, LuckChild
from search.comparison import both
from search.naive_evaluators import Drawing, Hashed
from search.samples import FOREST, noisy_table


class Kept:
    """Evaluations that do not draw, kept: a compiled evaluator is slow to ask from Python."""

    def __init__(self, inner: Evaluator) -> None:
        self.inner = inner
        self.known: dict[tuple[int, bytes, int, int], Evaluation] = {}

    def evaluate(self, query: Query, state: State) -> Evaluation:
        key = (query.kind, query.vector.tobytes(), query.player, query.pending)
        if key not in self.known:
            self.known[key] = self.inner.evaluate(query, state)
        return self.known[key]


HIDDEN = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=2,dice_sides=3)",
    "goofspiel(num_cards=3,imp_info=true)",
    "phantom_ttt",
)
SEEDS = 20


@pytest.mark.parametrize("name", FOREST)
@pytest.mark.parametrize("spec", HIDDEN)
def test_every_named_search_equals_its_twin(spec: str, name: str) -> None:
    game = load_game(spec)
    deepest = [both(game, FOREST[name], Hashed(game, seed), seed, 200).depth for seed in range(SEEDS)]
    assert max(deepest) >= {"mmds": 1, "qdts-descent": 2}.get(name, 3) or spec == "kuhn_poker"


@pytest.mark.parametrize("name", FOREST)
@pytest.mark.parametrize("spec", [spec for spec in HIDDEN if spec != "phantom_ttt"])  # too large for a table
def test_noisy_tables(spec: str, name: str) -> None:
    game = load_game(spec)
    table = noisy_table(game, 7)
    plain = Kept(table)
    assert max(both(game, FOREST[name], table, seed, 200, plain=plain).depth for seed in range(SEEDS)) >= 1


@pytest.mark.parametrize("spec", ["pig(winscore=20)", "tic_tac_toe", "connect_four"])
def test_perfect_information(spec: str) -> None:
    game = load_game(spec)
    for seed in range(SEEDS):
        assert both(game, named("puct"), Hashed(game, seed), seed, 200).depth == 0


RUNNING: dict[str, Any] = {"sample_q": "running", "opponent_q": "running", "backup": "running"}
OPTIONS = {
    "counts": named("qdts", estimate="counts"),
    "sticky": named("qdts", estimate="sticky"),
    "prior": named("qdts", estimate="prior"),
    "mirror": named("qdts", estimate="mirror", step=3.0),
    "mirror, doubt": named("qdts", estimate="mirror", backup="mirror", step=3.0, doubt=0.2),
    "mirror everywhere": named("mmds", step=2.0, root_select="mirror"),
    "fpu": named("qdts", unvisited="fpu", fpu=0.2),
    "widen": named("qdts", widen=True),
    "share": named("qdts", share=True),
    "running, shared": named("nash-ismcts", belief="model", share=True),
    "widen and share": named("qdts", widen=True, share=True),
    "widen, mirror": named("mmds", widen=True),
    "wide": named("qdts", eps_sample=1.5, eps_opponent=2.0),
    "full": named("qdts", max_nodes=40),
    "widen, full": named("qdts", widen=True, max_nodes=40),
    "full at once": named("nash-ismcts", belief="model", max_nodes=7),
    "mix": named("qdts", estimate="mix"),
    "ucb": named("qdts", select="ucb", root_select="ucb"),
    "guided": named("qdts", select="guided", root_select="guided"),
    "guided roots": named("qdts", root_select="guided", widen=True),
    "expected": named("qdts", sample_q="expected", opponent_q="expected"),
    "expected, mirror": named("mmds", step=2.0, sample_q="expected", opponent_q="expected"),
    "masked": named("qdts", sample_q="masked", opponent_q="masked"),
    "masked, eps 0": named("a-ismcts", estimate="prior", sample_q="masked", opponent_q="masked"),
    "masked, wide": named("qdts", sample_q="masked", opponent_q="masked", eps_sample=1.0, eps_opponent=1.0),
    "masked, widen and share": named("qdts", sample_q="masked", opponent_q="masked", widen=True, share=True),
    "running samples": named("qdts", sample_q="running"),
    "running opponents": named("qdts", opponent_q="running"),
    "running actions": named("qdts", backup="running"),
    "running, wide": named("qdts", **RUNNING, eps_sample=1.5, eps_opponent=2.0),
    "running, mirror": named("mmds", **RUNNING, step=2.0, root_select="mirror", eps_opponent=0.1),
    "running, uniform": named("mmds", **RUNNING),
    "running, urgent": named("qdts", **RUNNING, unvisited="fpu", fpu=0.2),
    "running, widen and share": named("qdts", **RUNNING, widen=True, share=True),
    "running, ucb": named("qdts", **RUNNING, select="ucb", root_select="guided"),
    "running, full": named("qdts", **RUNNING, max_nodes=40),
}


def equal_nodes(game: Game, options: Options) -> int:
    """How many nodes are equal in the smaller of two searches."""
    return min(both(game, options, Hashed(game, seed), seed, 60).nodes for seed in (1, 2))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "leduc_poker", "liars_dice(split=true)", "matrix_game"])
def test_each_option(spec: str, name: str) -> None:
    assert equal_nodes(load_game(spec), OPTIONS[name]) > 1


@pytest.mark.parametrize("luck_child", LuckChild)
@pytest.mark.parametrize("luck_base", LuckBase)
@pytest.mark.parametrize("ball", Ball)
def test_every_kind_of_luck(ball: Ball, luck_base: LuckBase, luck_child: LuckChild) -> None:
    """Of two holes in a chain."""
    options = named("qdts", **RUNNING, ball=ball, luck_base=luck_base, luck_child=luck_child)
    assert equal_nodes(load_game("kuhn_poker(players=3)"), options) > 1


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "liars_dice(numdice=2,dice_sides=3)", "phantom_ttt"])
def test_whole_routes_by_every_form(spec: str, eps: float, form: Form) -> None:
    assert equal_nodes(load_game(spec), named("qdts", ball="route", sample_q=form, eps_sample=eps)) > 1


OPEN = {
    "running": named("puct", sample_q="running", backup="running"),
    "running, no luck": named("puct", sample_q="running", backup="running", luck_base="none"),
    "running, child values": named("puct", sample_q="running", luck_child="vc"),
    "running, mirror": named("puct", sample_q="running", backup="running", select="mirror", step=2.0),
    "expected": named("puct", sample_q="expected"),
    "masked": named("puct", sample_q="masked"),
    "ucb": named("puct", select="ucb", root_select="ucb"),
    "tree search": named(
        "puct", select="guided", root_select="guided", backup="running", luck_base="none", decision="ucb"
    ),
    "full": named("puct", sample_q="running", backup="running", max_nodes=20),
}


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("spec", ["pig(winscore=20)", "tic_tac_toe"])
def test_each_option_with_perfect_information(spec: str, name: str) -> None:
    assert equal_nodes(load_game(spec), OPEN[name]) > 1


def test_four_players_and_39_holes() -> None:
    game = load_game("hearts")
    assert both(game, named("qdts"), Hashed(game, 0), 0, 8).nodes > 40


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "phantom_ttt", "pig(winscore=20)"])
def test_draws_come_in_the_order_of_the_page(spec: str) -> None:
    game = load_game(spec)
    for seed in range(3):
        assert both(game, named("qdts"), Drawing(game, Hashed(game, seed)), seed, 100).nodes > 1


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "tic_tac_toe"])
def test_inside_the_machine_and_outside_are_the_same(spec: str) -> None:
    game = load_game(spec)
    for evaluator in (Uniform(game), Playouts(game)):
        assert both(game, named("qdts"), evaluator, 3, 60).nodes > 1

"""The bandit machine against its twin, and what its results may not depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from qdts import Game, InputError, load_game
from qdts.games import defaults
from qdts.games.interface import compile_rules, rule
from qdts.games.rules import kuhn_poker
from qdts.kernels import Ints
from qdts.search.bandit.searcher import Bandit, bandit_search
from qdts.search.bandit.tree import ROOT
from qdts.search.decision.result import Result
from qdts.search.evaluation.rollouts import rollout_table
from qdts.search.options.compatibility import options_for
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.solving.policy.table import Policy
from search.bandit_twin import BanditTwin
from search.naive_beliefs import listed_worlds
from search.samples import known_views, policy_for, some_root

TWINS = [
    # game, seeds, visits
    ("kuhn_poker", 20, 200),
    ("kuhn_poker(players=3)", 20, 200),
    ("leduc_poker", 20, 200),
    ("liars_dice(numdice=2,dice_sides=3)", 20, 200),
    ("liars_dice(split=true)", 20, 200),
    ("goofspiel(num_cards=3)", 20, 200),
    ("phantom_ttt", 20, 200),
    ("tic_tac_toe", 20, 200),
    ("connect_four", 10, 200),
    ("pig", 2, 100),
    ("pig(players=3,horizon=9,winscore=4,diceoutcomes=3)", 20, 200),
    ("hearts", 2, 40),
]

MANY = [
    # game, seeds and visits, seeds and visits where beliefs are inferred
    ("kuhn_poker", (20, 200), (20, 200)),
    ("kuhn_poker(players=3)", (20, 200), (5, 60)),
    ("leduc_poker", (20, 200), (5, 100)),
    ("liars_dice(numdice=2,dice_sides=3)", (20, 200), (2, 20)),
    ("goofspiel(num_cards=3)", (20, 200), (10, 100)),
    ("goofspiel(num_cards=3,imp_info=true)", (20, 200), (10, 100)),
    ("phantom_ttt", (20, 200), (2, 20)),
]


ROLLOUTS = [
    ("ismcts", "kuhn_poker(players=3)"),
    ("ismcts", "leduc_poker"),
    ("mt-ismcts", "leduc_poker"),
    ("mt-ismcts", "liars_dice(numdice=2,dice_sides=3)"),
    ("uct", "tic_tac_toe"),
    ("uct", "pig(players=3,horizon=9,winscore=4,diceoutcomes=3)"),
]


def name_for(game: Game) -> str:
    return "ismcts" if game.hidden else "uct"


def assert_same_tree(bandit: Bandit, twin: BanditTwin) -> None:
    tree, number = bandit.tree, {id(node): k for k, node in enumerate(twin.nodes, ROOT)}
    result = bandit.results()[0]
    assert (result.nodes, result.full) == (len(twin.nodes), twin.full)
    for k, node in enumerate(twin.nodes, ROOT):
        assert np.array_equal(tree.views[k], node.view)
        assert tree.mover[k] == node.mover
        assert (tree.parent[k], tree.action[k]) == (number[id(node.parent)] if node.parent else 0, node.action)
        edges = slice(tree.first[k], tree.first[k] + tree.width[k])
        expected = sorted(node.edges.items())
        assert tree.edge_action[edges].tolist() == [action for action, _ in expected]
        assert tree.visits[edges].tolist() == [edge.N for _, edge in expected]
        assert (tree.passes[k] - tree.missed[edges]).tolist() == [edge.N_avail for _, edge in expected]
        assert tree.total[edges] == pytest.approx([edge.W for _, edge in expected], abs=1e-12)
    assert int(bandit.lanes.state[0]) == twin.stream.state


def assert_same(one: Result, other: Result) -> None:
    for name in ("actions", "visits", "q_lo", "q_hi", "prior", "move", "target", "nodes", "full"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def single(
    game: Game,
    seed: int,
    visits: int,
    capacity: int = 1 << 14,
    *,
    name: str | None = None,
    rollout: Policy | None = None,
    **changes: Any,
) -> tuple[Bandit, BanditTwin]:
    """A search and its twin, both run."""
    view, player = some_root(game, seed)
    options = named(name or name_for(game), **changes)
    bandit = Bandit(game, [view], [player], options, visits, [seed], capacity, table=rollout_table(game, rollout))
    while not bandit.done:
        bandit.run(visits)
    worlds = listed_worlds(game, view, player, options, visits, seed)
    twin = BanditTwin(game, view, player, options, seed, worlds, None if rollout is None else known_views(rollout))
    twin.run(visits)
    return bandit, twin


@pytest.mark.parametrize(("spec", "seeds", "visits"), TWINS, ids=[t[0] for t in TWINS])
def test_equal_to_the_twin_node_by_node(spec: str, seeds: int, visits: int) -> None:
    game = load_game(spec)
    for seed in range(seeds):
        assert_same_tree(*single(game, seed, visits))


@pytest.mark.parametrize("self_determinization", ["none", "pure", "split"])
@pytest.mark.parametrize("belief", ["rules", "holes", "completions", "visits"])
@pytest.mark.parametrize(("spec", "some", "few"), MANY, ids=[m[0] for m in MANY])
def test_many_trees_are_those_of_the_twin(
    spec: str, some: tuple[int, int], few: tuple[int, int], belief: str, self_determinization: str
) -> None:
    game, (seeds, visits) = load_game(spec), few if belief == "visits" else some
    if belief != "rules" or self_determinization != "none":
        seeds = min(seeds, 5)
    for seed in range(seeds):
        assert_same_tree(
            *single(game, seed, visits, name="mt-ismcts", belief=belief, self_determinization=self_determinization)
        )


@pytest.mark.parametrize("belief", ["holes", "completions"])
@pytest.mark.parametrize("spec", ["leduc_poker", "phantom_ttt"])
def test_one_tree_with_other_beliefs(spec: str, belief: str) -> None:
    for seed in range(5):
        assert_same_tree(*single(load_game(spec), seed, 200, belief=belief))


def test_where_nothing_is_hidden_many_trees_are_one() -> None:
    game = load_game("connect_four")
    view, player = some_root(game, 1)
    [plain] = bandit_search(game, [view], [player], named("ismcts"), 200, [1])
    for kind in ("none", "pure", "split"):
        assert_same(single(game, 1, 200, name="mt-ismcts", self_determinization=kind)[0].results()[0], plain)


def test_many_trees_grow_out_of_any_room() -> None:
    for spec in ("phantom_ttt", "leduc_poker"):
        bandit, twin = single(load_game(spec), 3, 300, capacity=1, name="mt-ismcts", self_determinization="split")
        assert len(bandit.tree.mover) > 2
        assert_same_tree(bandit, twin)


@pytest.mark.parametrize("max_nodes", [1, 2, 9])
def test_many_trees_beyond_the_cap(max_nodes: int) -> None:
    for kind in ("none", "pure", "split"):
        game = load_game("phantom_ttt")
        bandit, twin = single(game, 5, 200, name="mt-ismcts", max_nodes=max_nodes, self_determinization=kind)
        assert_same_tree(bandit, twin)
        assert bandit.results()[0].full


def test_a_root_without_visits_decides_evenly() -> None:
    """Of three Kuhn cards the player's own is sampled anew: with one visit it can be another one."""
    game = load_game("kuhn_poker")
    view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
    options = named("mt-ismcts", self_determinization="pure")
    found = bandit_search(game, [view] * 20, [0] * 20, options, 1, list(range(20)))
    missed = [result for result in found if not result.visits.any()]
    assert 0 < len(missed) < 20
    for result in missed:
        assert result.actions.tolist() == game.legal(view)
        assert result.move.tolist() == result.target.tolist() == [0.5, 0.5]
        assert result.q_lo.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("name", "spec"), ROLLOUTS)
def test_rollouts_are_those_of_the_twin(name: str, spec: str) -> None:
    """By a policy with zeros that lacks every third view."""
    game = load_game(spec)
    whole = policy_for(game, 3, zeros=True)
    kept = np.arange(len(whole)) % 3 > 0
    widths = np.diff(whole.offset)
    policy = replace(
        whole,
        views=whole.views[kept],
        offset=np.concatenate([[0], np.cumsum(widths[kept])]).astype(np.int32),
        action=whole.action[np.repeat(kept, widths)],
        probability=whole.probability[np.repeat(kept, widths)],
    )
    for seed in range(10):
        assert_same_tree(*single(game, seed, 200, name=name, rollout=policy))
    views, players = zip(*(some_root(game, seed) for seed in range(10)), strict=True)
    guided, uniform = (
        bandit_search(game, views, players, named(name), 200, range(10), rollout=rollout) for rollout in (policy, None)
    )
    assert any(not np.array_equal(one.q_lo, other.q_lo) for one, other in zip(guided, uniform, strict=True))


def test_a_policy_that_does_not_fit_is_refused() -> None:
    kuhn, leduc = load_game("kuhn_poker"), load_game("leduc_poker")
    policy, (view, player) = policy_for(kuhn, 1), some_root(leduc, 0)
    with pytest.raises(InputError, match=r"kuhn_poker .* leduc_poker"):
        bandit_search(leduc, [view], [player], named("ismcts"), 10, [1], rollout=policy)
    broken = replace(policy, action=policy.action[::-1].copy())
    with pytest.raises(InputError, match="other legal actions"):
        rollout_table(kuhn, broken)


@pytest.mark.parametrize("spec", ["connect_four", "phantom_ttt", "leduc_poker"])
def test_a_tree_grows_out_of_any_room(spec: str) -> None:
    bandit, twin = single(load_game(spec), 3, 300, capacity=1)
    assert len(bandit.tree.mover) > 2
    assert_same_tree(bandit, twin)


@pytest.mark.parametrize("spec", ["tic_tac_toe", "phantom_ttt"])
@pytest.mark.parametrize("max_nodes", [1, 7])
def test_beyond_the_cap_it_goes_on_without_growing(spec: str, max_nodes: int) -> None:
    bandit, twin = single(load_game(spec), 1, 200, max_nodes=max_nodes)
    assert_same_tree(bandit, twin)
    [result] = bandit.results()
    assert (result.nodes, result.full, result.visits.sum()) == (max_nodes, True, 200)


def test_a_tree_that_stays_below_the_cap_is_not_full() -> None:
    bandit, _ = single(load_game("kuhn_poker"), 0, 200, max_nodes=100)
    assert not bandit.results()[0].full


@pytest.mark.parametrize("spec", ["leduc_poker", "connect_four", "pig(horizon=10,winscore=5,diceoutcomes=3)"])
def test_neither_batch_nor_threads_nor_slices_change_a_result(spec: str) -> None:
    game, count = load_game(spec), 64
    roots = [some_root(game, seed) for seed in range(count)]
    views, players, seeds = [v for v, _ in roots], [p for _, p in roots], list(range(count))
    options = named(name_for(game))
    together = bandit_search(game, views, players, options, 300, seeds)
    threaded = bandit_search(game, views, players, options, 300, seeds, threads=2)
    for k in (0, 31, 63):
        [alone] = bandit_search(game, views[k : k + 1], players[k : k + 1], options, 300, seeds[k : k + 1])
        assert_same(together[k], alone)
    sliced = Bandit(game, views, players, options, 300, seeds)
    while not sliced.done:
        assert 0 < sliced.run(170) <= 170
    for one, two, three in zip(together, threaded, sliced.results(), strict=True):
        assert_same(one, two)
        assert_same(one, three)


def test_a_seed_decides_everything() -> None:
    game = load_game("leduc_poker")
    view, player = some_root(game, 0)
    one, again, other = bandit_search(game, [view] * 3, [player] * 3, named("ismcts"), 500, [7, 7, 8])
    assert_same(one, again)
    assert not np.array_equal(one.q_lo, other.q_lo)


def test_what_a_result_says() -> None:
    game = load_game("connect_four")
    reports: list[int] = []
    [result] = bandit_search(game, [game.initial()], [0], named("uct"), 500, [1], report=reports.append)
    assert result.actions.tolist() == list(range(7))
    assert result.visits.sum() == sum(reports) == 500
    assert np.array_equal(result.q_lo, result.q_hi)
    assert result.prior.tolist() == [1 / 7] * 7
    assert result.target == pytest.approx(result.visits / 500)
    assert result.move[np.argmax(result.visits)] == 1.0
    [few] = bandit_search(game, [game.initial()], [0], named("uct"), 3, [1])
    assert sorted(few.visits) == [0, 0, 0, 0, 1, 1, 1]
    seen = few.visits > 0
    assert few.q_lo[~seen] == pytest.approx(few.q_lo[seen].mean())


def test_no_roots_no_results() -> None:
    assert bandit_search(load_game("kuhn_poker"), [], [], named("ismcts"), 5, []) == []


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Nothing may be done."""
    return 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_depth": 2}, "longer than max_depth"),
        ({"kernels": {"legal": legal}}, "no legal action"),
        ({"kernels": {"values": defaults.values}}, "can't be filled"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_game_that_breaks_its_promises_is_told(changes: dict[str, Any], words: str) -> None:
    game = load_game("kuhn_poker")
    view, player = some_root(game, 0)
    if "kernels" in changes:
        changes = {"kernels": compile_rules(vars(kuhn_poker) | changes["kernels"])}
    with pytest.raises(InputError, match=words):
        bandit_search(replace(game, **changes), [view], [player], named("ismcts"), 100, [1])


def test_wrong_input_is_told() -> None:
    game = load_game("kuhn_poker")
    view, player = some_root(game, 0)
    world = game.step(game.step(game.initial(), 0), 1)

    def refused(*words: str, options: Options = named("ismcts"), **changes: object) -> None:  # noqa: B008
        arguments = {"views": [view], "players": [player], "options": options, "visits": 10, "seeds": [1]} | changes
        with pytest.raises(InputError) as error:
            bandit_search(game, **arguments)  # type: ignore[arg-type]
        assert all(word in str(error.value) for word in words), str(error.value)

    refused("visits=0", "at least 1", visits=0)
    refused("threads=0", "at least 1", threads=0)
    refused("forest", "uct, ismcts or mt-ismcts", options=named("qdts"))
    refused("player 1", "not to move", views=[game.view(world, 1)], players=[1])
    refused("can't know", "player 0", views=[world], players=[0])
    refused("2 seeds", seeds=[1, 2])
    refused("belief=bayes", "bandit", "visits", options=named("ismcts", belief="bayes"))
    refused("belief=visits", "mt-ismcts", options=named("ismcts", belief="visits"))
    refused("self_determinization=pure", "mt-ismcts", options=named("ismcts", self_determinization="pure"))


SENSELESS = [
    # search, option, value, words
    ("ismcts", "eps_sample", 0.2, "means nothing to ismcts"),
    ("mt-ismcts", "sample_q", "running", "means nothing to mt-ismcts"),
    ("uct", "widen", True, "means nothing to uct"),
    ("qdts", "trees", "many", "means nothing to qdts"),
    ("qdts", "self_determinization", "split", "means nothing to qdts"),
    ("qdts", "machine", "bandit", "means nothing to qdts"),
    ("qdts", "belief", "visits", "not possible for the forest"),
    ("ismcts", "belief", "model", "not possible for the bandit"),
    ("ismcts", "belief", "exact", "not possible for the bandit"),
    ("ismcts", "belief", "visits", "trees=one"),
    ("ismcts", "self_determinization", "pure", "trees=one"),
]


@pytest.mark.parametrize(("name", "option", "value", "words"), SENSELESS)
def test_options_that_a_search_does_not_read_are_refused(name: str, option: str, value: Any, words: str) -> None:
    game = load_game("tic_tac_toe" if name == "uct" else "kuhn_poker")
    with pytest.raises(InputError) as error:
        options_for(game, name, **{option: value})
    assert words in str(error.value)
    assert f"{option}={value}" in str(error.value)


def test_options_that_fit() -> None:
    game = load_game("kuhn_poker")
    with pytest.raises(InputError, match=r"uct .* kuhn_poker .* ismcts"):
        options_for(game, "uct")
    assert options_for(game, "ismcts", c=2.0).c == 2.0
    assert options_for(game, "ismcts", eps_sample=0.1) == named("ismcts")
    assert options_for(game, "mt-ismcts", belief="visits", self_determinization="split", decision="lcb", c_lcb=2.0)
    assert options_for(game, "nash-ismcts") == named("nash-ismcts")
    assert options_for(load_game("tic_tac_toe"), "uct") == named("uct")

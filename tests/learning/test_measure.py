"""What is measured of networks is zero where they are exact, and otherwise what they were made to be off by."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learning.samples import HIDDEN
from qdts import load_game
from qdts.games import Game
from qdts.kernels import Reals
from qdts.learning import search_measure
from qdts.learning.config import Config, changed
from qdts.learning.measure import (
    Measured,
    belief_error,
    is_measurable,
    measure,
    network_policy,
    value_error,
)
from qdts.learning.search_measure import measure_search, time_allowed
from qdts.nets.evaluator import Network
from qdts.nets.model import Size
from qdts.nets.networks import Networks, groups_of
from qdts.search.evaluation.batches import OneByOne
from qdts.search.evaluation.builtin import Table, Uniform
from qdts.search.evaluation.evaluator import ACT, SAMPLE, Evaluations, Queries
from qdts.search.everywhere import searched_policy
from qdts.search.options.named import named
from qdts.solving.exact.values import reach, view_reach
from qdts.solving.measure import measure_policy
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree
from qdts.solving.uniform import uniform_policy


def random_policy(game: Game, seed: int = 1) -> Policy:
    """One that goes everywhere."""
    tree = game_tree(game)
    weight = np.random.default_rng(seed).uniform(0.05, 1.0, len(tree.infosets.action))
    total = np.add.reduceat(weight, tree.infosets.offset[:-1])
    return policy_on(tree, weight / np.repeat(total, np.diff(tree.infosets.offset)))


class Stub(OneByOne):
    """As a network: exact evaluations, with V of players' own views and H of the first of two values off by so much."""

    def __init__(self, policy: Policy, inner: Any = None, *, value: float = 0.0, belief: float = 0.0) -> None:
        super().__init__(policy.game, inner or Table(policy))
        self.value, self.belief, self.kinds = value, belief, set[int]()

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        super().evaluate_batch(queries, evaluations)
        self.kinds |= set(queries.kind.tolist())
        evaluations.value[queries.kind == ACT] += self.value
        evaluations.prior[queries.kind == SAMPLE, :2] += np.array([self.belief / 2, -self.belief / 2])


def as_network(stub: Stub) -> Any:
    return stub


@pytest.mark.parametrize("spec", [*HIDDEN, "liars_dice(numdice=2,dice_sides=2)"])  # two histories lead to one world
def test_exact_networks_have_no_error(spec: str) -> None:
    policy = random_policy(load_game(spec))
    stub = Stub(policy)
    np.testing.assert_allclose(network_policy(as_network(stub)).probability, policy.probability, atol=1e-15)
    assert value_error(as_network(stub), policy) < 1e-9
    assert belief_error(as_network(stub), policy) < 1e-9
    assert stub.kinds == {ACT, SAMPLE}
    found = measure(as_network(stub))
    assert found.nash_conv == pytest.approx(measure_policy(policy.game, policy).nash_conv, abs=1e-12)
    assert (found.value_error, found.belief_error) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_where_the_others_never_go_nothing_counts() -> None:
    """A policy with zeros: even an exact H of another policy is told apart only where the others go."""
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    p = np.tile([1.0, 0.0], tree.num_infosets)  # nobody ever bets
    policy = policy_on(tree, p)
    weights = view_reach(tree, p)
    assert 0 < (weights == 0.0).sum() < len(weights)
    assert value_error(as_network(Stub(policy)), policy) < 1e-9
    assert belief_error(as_network(Stub(policy)), policy) < 1e-9


@pytest.mark.parametrize("spec", HIDDEN)
def test_uniform_play_reveals_nothing(spec: str) -> None:
    """Where all play uniformly, and may do the same whatever they hold, the rules' weights are the belief."""
    game = load_game(spec)
    stub = Stub(uniform_policy(game), Uniform(game))
    policy = network_policy(as_network(stub))
    np.testing.assert_allclose(policy.probability, uniform_policy(game).probability)
    assert belief_error(as_network(stub), policy) < 1e-9
    assert measure(as_network(stub), policy_only=True) == Measured(measure_policy(game, policy).nash_conv)


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
def test_errors_are_those_that_were_planted(spec: str) -> None:
    game = load_game(spec)
    policy = uniform_policy(game)
    scale = game.scale
    assert value_error(as_network(Stub(policy, value=0.3 * scale)), policy) == pytest.approx(0.3)
    assert value_error(as_network(Stub(policy, value=-0.2 * scale)), policy) == pytest.approx(0.2)
    assert belief_error(as_network(Stub(policy, belief=0.1)), policy) == pytest.approx(0.1)
    tree = game_tree(game)
    other = random_policy(game)
    exact, other_beliefs = (own_beliefs(p) for p in (policy, other))
    sets = [tree.histories.infoset[h] for h in exact]
    distance = np.bincount(sets, [abs(exact[h] - other_beliefs[h]) for h in exact], tree.num_infosets)
    expected = np.average(distance, weights=view_reach(tree, policy.probability))
    assert belief_error(as_network(Stub(other)), policy) == pytest.approx(expected)
    assert expected > 0.1


def own_beliefs(policy: Policy) -> dict[int, float]:
    """How likely the mover thinks each history is, given their view."""
    tree = game_tree(policy.game)
    sets = tree.histories.infoset
    total = np.zeros(tree.num_infosets)
    weight: dict[int, float] = {}
    for player in range(policy.game.players):
        r: Reals = reach(tree, policy.probability, player)
        for h in np.flatnonzero(tree.histories.mover == player):
            weight[int(h)] = float(r[h])
            total[sets[h]] += r[h]
    return {h: w / total[sets[h]] for h, w in weight.items()}


def test_views_weigh_what_the_others_and_chance_make_likely() -> None:
    """On Kuhn poker with uniform play: each card a third; the first turn always, later ones by the other's moves."""
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    weights = view_reach(tree, uniform_policy(game).probability)
    assert sorted(weights.tolist()) == pytest.approx([1 / 6] * 9 + [1 / 3] * 3)


def test_perfect_information_has_no_belief_and_everyones_values() -> None:
    game = load_game("tic_tac_toe")
    policy = uniform_policy(game)
    stub = Stub(policy)
    np.testing.assert_allclose(network_policy(as_network(stub)).probability, policy.probability)
    assert value_error(as_network(stub), policy) < 1e-9
    assert value_error(as_network(Stub(policy, value=0.25)), policy) == pytest.approx(0.25)


def test_what_can_be_measured() -> None:
    game = load_game("leduc_poker")
    assert is_measurable(game, 936)
    assert not is_measurable(game, 935)
    assert not is_measurable(load_game("phantom_ttt"), 10**9)


def reporting_to(reported: list[tuple[str, float]]) -> search_measure.Report:
    return lambda what, share: reported.append((what, share))


def test_the_searched_policy() -> None:
    """That of the search for networks with averaged weights, its moves averaged over seeds."""
    game = load_game("kuhn_poker")
    config = changed(Config(), {"measure.seeds": 2, "measure.visits": (2, 8)})
    networks = Networks(game, Size(16, 1))
    for p in networks.average.parameters():
        p.data *= 3.0
    reported: list[tuple[str, float]] = []
    model, belief = groups_of(average=True, source=config.belief.source)
    network = networks.evaluator(model, belief, batch=16, cache=1024)
    found = measure_search(lambda: network, config, report=reporting_to(reported))
    assert [line["visits"] for line in found.rows] == [2, 8]
    assert (found.left_out, found.interrupted) == ([], False)
    for line in found.rows:
        played = [
            searched_policy(game, named("qdts-descent"), int(line["visits"]), evaluator=network, seed=s)
            for s in range(2)
        ]
        mean = replace(played[0], probability=(played[0].probability + played[1].probability) / 2)
        assert line["nash_conv"] == pytest.approx(measure_policy(game, mean).nash_conv, abs=1e-12)
    assert [share for what, share in reported if "8 visits" in what][-1] == 1.0
    assert re.fullmatch(r"measuring the searched policy: about \d+ s, 2 visits", reported[0][0])


def untrained(config: Config) -> Network:
    model, belief = groups_of(average=True, source=config.belief.source)
    return Networks(load_game("kuhn_poker"), Size(16, 1)).evaluator(model, belief, batch=16, cache=1024)


def test_the_searched_policy_is_measured_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    config = changed(Config(), {"measure.visits": (2, 4, 8)})
    network = untrained(config)
    monkeypatch.setattr(search_measure._Sample, "seconds", lambda *_: [100.0, 200.0])
    for seconds, measured, announced in ((90.0, [], None), (150.0, [2], "100 s"), (350.0, [2, 4], "300 s")):
        said: list[tuple[str, float]] = []
        found = measure_search(lambda: network, config, seconds=seconds, report=reporting_to(said))
        assert [line["visits"] for line in found.rows] == measured
        assert (found.left_out, found.interrupted) == ([2, 4, 8][len(measured) :], False)
        assert announced is None or f"about {announced}, 2 visits" in said[0][0]
    assert [time_allowed(seconds) for seconds in (5.0, 240.0)] == [10.0, 24.0]


def test_a_sample_tells_how_long_searches_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 12 views: 2 that fill the cache, 2 that stand for the other 10; a second of time for each visit."""
    sample = search_measure._Sample(untrained(Config()), named("qdts-descent"), 1)
    assert (len(sample.first), len(sample.second), {*sample.first} & {*sample.second}) == (2, 2, set())
    monkeypatch.setattr(sample, "_search", lambda some, visits: float(len(some) * visits))
    assert sample.seconds([2, 4, 8], 1, 1e9) == [2 * 12, 4 * 12, 8 * 12]
    assert sample.seconds([2, 4], 3, 1e9) == [2 * 36, 4 * 36]
    assert sample.seconds([2, 4, 8], 1, 30.0) == [2 * 12, 4 * 12], "the last one is beyond the bound already"
    assert sample.seconds([2, 1000], 1, 30.0) == [2 * 12], "4000 s for the sample alone"


@pytest.mark.parametrize("spec", ["matrix_game", "leduc_poker"])
def test_samples_of_small_and_large_games(spec: str) -> None:
    game = load_game(spec)
    model, belief = groups_of(average=True, source="model")
    network = Networks(game, Size(8, 1)).evaluator(model, belief, batch=16, cache=1024)
    sample = search_measure._Sample(network, named("qdts-descent"), 1)
    assert 1 <= len(sample.first) == len(sample.second) <= 64
    assert 0.0 < sample.seconds([2], 1, 1e9)[0] < 1e9


def test_what_takes_longer_than_expected_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    config = changed(Config(), {"measure.visits": (2, 4)})
    network = untrained(config)
    monkeypatch.setattr(search_measure._Sample, "seconds", lambda *_: [0.0, 0.0])
    given_up = measure_search(lambda: network, config, seconds=1e-9)
    assert (given_up.rows, given_up.left_out, given_up.interrupted) == ([], [2, 4], False)


def test_ctrl_c_keeps_what_was_measured() -> None:
    config = changed(Config(), {"measure.visits": (2, 4)})
    network = untrained(config)

    def interrupt(what: str, _: float) -> None:
        if "4 visits" in what:
            raise KeyboardInterrupt

    found = measure_search(lambda: network, config, report=interrupt)
    assert ([line["visits"] for line in found.rows], found.left_out, found.interrupted) == ([2], [4], True)

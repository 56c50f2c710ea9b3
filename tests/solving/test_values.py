"""Expected values, beliefs and values at every kind of node, against plain recursion and Bayes' rule by hand."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import Game, InputError, Policy, expected_values, load_game
from qdts.games.interface import NO_HOLE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.solving import uniform_probabilities
from qdts.solving.exact.belief import belief, node_value, tree_worlds
from qdts.solving.exact.values import history_values, infoset_values, merged_values
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree
from solving import naive
from solving.policies import random_policy

GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "liars_dice(dice_sides=3)", "liars_dice(dice_sides=2,split=true)"]


def own_reach(game: Game, policy: Policy, player: int) -> dict[bytes, list[tuple[Ints, float]]]:
    """By hand: every world with each view of a player, with the probability that the others take play there."""
    worlds: dict[bytes, list[tuple[Ints, float]]] = {}

    def walk(world: Ints, others: float) -> None:
        worlds.setdefault(game.view(world, player).tobytes(), []).append((world, others))
        for action, p in naive.branches(game, world, policy):
            walk(game.step(world, action), others if game.mover(world) == player else others * p)

    walk(game.initial(), 1.0)
    return worlds


def test_both_forms_of_expected_values() -> None:
    game, other = load_game("kuhn_poker"), load_game("matrix_game")
    policy = random_policy(game, 1)
    values = expected_values(game, policy)
    with pytest.warns(FutureWarning, match=r"expected_values\(policy\) is now called expected_values\(game, policy\)"):
        assert expected_values(policy) == pytest.approx(values)
    uniform = expected_values(game, uniform_probabilities)
    assert uniform == pytest.approx([0.125, -0.125])
    with pytest.raises(InputError, match="kuhn_poker"):
        expected_values(other, policy)
    with pytest.raises(InputError, match=r"expected_values\(kuhn_poker\): expected a game and a policy"):
        expected_values(game)


@pytest.mark.parametrize("spec", GAMES)
def test_expected_values(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 1)
    assert expected_values(game, policy) == pytest.approx(naive.expected_return(game, policy), abs=1e-12)
    tree = game_tree(game)
    values, worlds = history_values(tree, policy.probability), tree_worlds(tree)
    for h in range(0, tree.num_histories, 7):
        assert values[h] == pytest.approx(naive.expected_return(game, policy, worlds[h]), abs=1e-12)


@pytest.mark.parametrize("spec", GAMES)
def test_belief_is_bayes_rule(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 2)
    for player in range(game.players):
        for key, worlds in list(own_reach(game, policy, player).items())[::3]:
            view = np.frombuffer(key, np.int64)
            got = belief(policy, view, player)
            weight: dict[bytes, float] = {}
            for world, p in worlds:
                weight[world.tobytes()] = weight.get(world.tobytes(), 0.0) + p
            total = sum(weight.values())
            assert {w.tobytes() for w in got.worlds} == weight.keys()
            for world, p in zip(*got, strict=True):
                assert p == pytest.approx(weight[world.tobytes()] / total, abs=1e-12)


@pytest.mark.parametrize("spec", GAMES)
def test_value_of_own_views(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 3)
    tree = game_tree(game)
    values = infoset_values(tree, policy.probability)
    for player in range(game.players):
        reach = own_reach(game, policy, player)
        for i in np.flatnonzero(tree.infosets.owner == player)[::5]:
            worlds = reach[tree.infosets.views[i].tobytes()]
            total = sum(p for _, p in worlds)
            by_hand = sum(p * naive.expected_return(game, policy, w)[player] for w, p in worlds) / total
            assert values[i] == pytest.approx(by_hand, abs=1e-12)
            assert node_value(policy, tree.infosets.views[i], player) == pytest.approx(by_hand, abs=1e-12)


def next_own_view(game: Game, policy: Policy, world: Ints, player: int, at_view: dict[bytes, float]) -> float:
    """By hand: the expectation of the value of a player's next own view."""
    if game.mover(world) == player:
        return at_view[game.view(world, player).tobytes()]
    if game.mover(world) == TERMINAL:
        return float(game.returns(world)[player])
    return sum(
        p * next_own_view(game, policy, game.step(world, a), player, at_view)
        for a, p in naive.branches(game, world, policy)
    )


@pytest.mark.parametrize("spec", GAMES)
def test_merged_values(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 4)
    tree = game_tree(game)
    worlds = tree_worlds(tree)
    at_view: Reals = infoset_values(tree, policy.probability)
    by_key = {v.tobytes(): float(x) for v, x in zip(tree.infosets.views, at_view, strict=True)}
    for player in range(game.players):
        merged = merged_values(tree, policy.probability, player)
        for h in range(0, tree.num_histories, 5):
            assert merged[h] == pytest.approx(next_own_view(game, policy, worlds[h], player, by_key), abs=1e-12)


@pytest.mark.parametrize("spec", GAMES)
def test_half_filled_views_obey_total_expectation(spec: str) -> None:
    """V at a SAMPLE node is the belief-weighted mean of V with its next hole filled."""
    game = load_game(spec)
    policy = random_policy(game, 5)
    checked = 0
    for player in range(game.players):
        for key in list(own_reach(game, policy, player))[::6]:
            view = np.frombuffer(key, np.int64).copy()
            while (hole := game.hole(view)) != NO_HOLE:
                worlds = belief(policy, view, player)
                filled = [game.fill(view, hole, v) for v, _ in game.values(view, hole)]
                share = [float(worlds.probability[(worlds.worlds[:, hole] == f[hole])].sum()) for f in filled]
                assert sum(share) == pytest.approx(1, abs=1e-12)
                mean = sum(s * node_value(policy, f, player) for s, f in zip(share, filled, strict=True))
                assert node_value(policy, view, player) == pytest.approx(mean, abs=1e-12)
                view = filled[0]
                checked += 1
    assert checked > 0


def test_where_the_others_never_go_chance_alone_weighs() -> None:
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    passing = policy_on(tree, (tree.infosets.action == 0).astype(float))
    world = game.initial()
    for action in (0, 2, 1):  # J against K, and the first player bets, which they never do
        world = game.step(world, action)
    view = game.view(world, 1)
    assert belief(passing, view, 1).probability == pytest.approx([0.5, 0.5])
    assert node_value(passing, view, 1) == pytest.approx(-1.0)


def test_a_vector_that_play_never_gets_to_is_refused() -> None:
    game = load_game("kuhn_poker")
    policy = random_policy(game, 0)
    odd = game.layout.read("turn=2 bettor=3 cards=J? bets=---")
    with pytest.raises(InputError, match="play never gets to turn=2 bettor=3"):
        belief(policy, odd, 0)

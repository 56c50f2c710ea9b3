"""Our seats at OpenSpiel's table, measured by its own functions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from qdts import (
    InputError,
    Policy,
    expected_values,
    load_game,
    nash_conv,
    play_match,
    read_search,
    read_seat,
    searched_policy,
    solve,
    uniform_policy,
)
from qdts import openspiel as both
from qdts.games.game import Game
from qdts.play.lockstep import Follower
from qdts.search.seeds import view_seed
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree

pyspiel = pytest.importorskip("pyspiel")
exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
expected_game_score = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")


def random_policy(game: Game) -> Policy:
    tree, stream = game_tree(game), np.random.default_rng(4)
    weights = stream.random(len(tree.infosets.action)) ** 3
    counts = np.diff(tree.infosets.offset)
    return policy_on(tree, weights / np.repeat(np.add.reduceat(weights, tree.infosets.offset[:-1]), counts))


def policies(game: Game) -> dict[str, tuple[Any, Policy]]:
    """What OpenSpiel gets, and the same as a table of ours."""
    equilibrium, arbitrary = solve(game, "cfr+", iterations=500).policy, random_policy(game)
    searched = searched_policy(game, read_search(game, "qdts[c=0.3]"), 8, seed=3)
    return {
        "equilibrium": (both.policy(game, equilibrium), equilibrium),
        "random": (both.policy(game, arbitrary), arbitrary),
        "searched": (both.policy(game, "qdts[c=0.3]:8", seed=3), searched),
    }


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
def test_nash_conv_is_the_same(spec: str) -> None:
    """Theirs walks their states and asks ours at each; ours never sees their states."""
    game = load_game(spec)
    theirs = pyspiel.load_game(spec)
    for name, (given, table) in policies(game).items():
        assert exploitability.nash_conv(theirs, given) == pytest.approx(nash_conv(game, table), abs=1e-9), name
        values = expected_game_score.policy_value(theirs.new_initial_state(), [given] * 2)
        np.testing.assert_allclose(values, expected_values(game, table), atol=1e-9)


@pytest.mark.parametrize("spec", ["liars_dice(dice_sides=3)", "goofspiel(num_cards=3)", "openspiel:tiny_hanabi"])
def test_values_are_the_same(spec: str) -> None:
    game = load_game(spec)
    theirs = pyspiel.load_game(spec.removeprefix("openspiel:"))
    policy = random_policy(game)
    given = both.policy(spec, policy)
    at_once = theirs.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    values = expected_game_score.policy_value(theirs.new_initial_state(), given if at_once else [given] * 2)
    np.testing.assert_allclose(values, expected_values(game, policy), atol=1e-9)


def test_a_whole_table_of_a_searched_policy() -> None:
    game = load_game("kuhn_poker")
    table = both.policy(game, "mmds:12").to_tabular()
    np.testing.assert_allclose(
        both.from_openspiel(game, table).probability,
        searched_policy(game, read_search(game, "mmds"), 12).probability,
        atol=1e-12,
    )


def test_seeds_follow_from_views() -> None:
    views = game_tree(load_game("kuhn_poker")).infosets.views
    seeds = {view_seed(view, seed) for view in views for seed in (0, 1)}
    assert len(seeds) == 2 * len(views)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert view_seed(views[3], 7) == view_seed(views[3].copy(), 7)


@pytest.mark.parametrize(
    ("spec", "seat"),
    [
        ("kuhn_poker(players=3)", "qdts:20"),
        ("leduc_poker", "ismcts:20"),
        ("liars_dice", "qdts:10"),
        ("goofspiel(num_cards=4)", "ismcts:20"),
        ("goofspiel(num_cards=4,imp_info=true)", "mmds:10"),
        ("phantom_ttt", "a-ismcts:10"),
        ("tic_tac_toe", "puct:20@playouts"),
        ("pig(winscore=10)", "uct:20"),
        ("hearts", "random"),
    ],
)
def test_bots_play_in_every_seat(spec: str, seat: str) -> None:
    """In OpenSpiel's own loop, simultaneous moves at once, ours beside its own bot."""
    theirs = pyspiel.load_game(spec)
    for sits in range(theirs.num_players()):
        bots = [pyspiel.make_uniform_random_bot(player, 1) for player in range(theirs.num_players())]
        bots[sits] = both.bot(spec, seat, sits, seed=5)
        returns = [pyspiel.evaluate_bots(theirs.new_initial_state(), bots, seed) for seed in range(3)]
        bots[sits] = both.bot(spec, seat, sits, seed=5)
        for player in range(theirs.num_players()):
            if player != sits:
                bots[player] = pyspiel.make_uniform_random_bot(player, 1)
        assert [pyspiel.evaluate_bots(theirs.new_initial_state(), bots, seed) for seed in range(3)] == returns


def test_ours_against_theirs_in_their_loop() -> None:
    """A strong bot of ours wins against one of theirs as it does in a match of ours."""
    theirs, total = pyspiel.load_game("tic_tac_toe"), np.zeros(2)
    for seed in range(10):
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        weak = pyspiel.MCTSBot(theirs, evaluator, 2.0, 2, 100, False, seed, False)
        total += pyspiel.evaluate_bots(theirs.new_initial_state(), [both.bot("tic_tac_toe", "uct:200", 0), weak], seed)
    assert total[0] >= 7
    game = load_game("tic_tac_toe")
    weak_seat = read_seat(game, "openspiel:mcts(simulations=2,solve=false)")
    assert play_match(game, read_seat(game, "uct:200"), weak_seat, 20).mean > 0.5


def test_what_a_bot_says() -> None:
    theirs = pyspiel.load_game("leduc_poker")
    state = theirs.new_initial_state()
    for action in (0, 3, 2):
        state.apply_action(action)
    bot = both.bot("leduc_poker", uniform_policy(load_game("leduc_poker")), 1)
    assert (bot.player_id(), bot.provides_policy(), bot.provides_force_action()) == (1, True, True)
    bot.restart_at(state)
    policy, action = bot.step_with_policy(state)
    assert dict(policy) == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    assert action in state.legal_actions()
    assert bot.get_policy(state) == policy
    assert {bot.step(state) for _ in range(40)} == {0, 1, 2}
    bot.force_action(state, 1)
    state.apply_action(1)
    bot.inform_action(state, 0, 1)
    with pytest.raises(InputError, match="it is not player 1's turn in leduc_poker after the moves"):
        bot.step(state)


@pytest.mark.parametrize("spec", ["leduc_poker", "goofspiel(num_cards=4,imp_info=true)", "phantom_ttt"])
def test_hidden_moves_change_nothing(spec: str) -> None:
    """Histories that are one information state in OpenSpiel are one view, and get one answer."""
    theirs, game = pyspiel.load_game(spec), load_game(spec)
    policy, follower = both.policy(game, "ismcts:10"), Follower(game)
    seen: dict[tuple[int, str], Any] = {}
    met = 0
    for seed in range(60):
        stream, state = random.Random(seed), theirs.new_initial_state()
        while not state.is_terminal():
            if state.is_simultaneous_node():
                for player in range(theirs.num_players()):
                    key = player, state.information_state_string(player)
                    met += key in seen
                    found = follower.view(state, player).tolist(), policy.action_probabilities(state, player)
                    assert seen.setdefault(key, found) == found
                state.apply_actions([stream.choice(state.legal_actions(p)) for p in range(theirs.num_players())])
                continue
            if not state.is_chance_node():
                player = state.current_player()
                key = player, state.information_state_string(player)
                met += key in seen
                found = follower.view(state, player).tolist(), policy.action_probabilities(state)
                assert seen.setdefault(key, found) == found
            state.apply_action(stream.choice(state.legal_actions()[:3]))
    assert met > 30


def test_what_is_refused() -> None:
    kuhn, leduc = load_game("kuhn_poker"), load_game("leduc_poker")
    with pytest.raises(InputError, match="the policy is for kuhn_poker version 1, expected leduc_poker"):
        both.policy(leduc, uniform_policy(kuhn))
    with pytest.raises(InputError, match="the seat is for kuhn_poker, expected one for leduc_poker"):
        both.bot(leduc, read_seat(kuhn, "qdts:10"), 0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="openspiel:uniform is a bot of OpenSpiel already"):
        both.bot(kuhn, "openspiel:uniform", 0)
    with pytest.raises(InputError, match="player 2, expected 0 to 1"):
        both.bot(kuhn, "random", 2)
    with pytest.raises(InputError, match="unknown game of OpenSpiel 'matrix_game'"):
        both.policy("matrix_game", "random")
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    with pytest.raises(InputError, match="turn"):
        both.policy(kuhn, "random").action_probabilities(state, 0)

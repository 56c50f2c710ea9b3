"""Best responses and NashConv: known values, every pure strategy by brute force, and OpenSpiel."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability

from qdts import best_response, expected_values, load_game, nash_conv, uniform_policy
from qdts.solving.exact.best_response import gains
from qdts.solving.policy.openspiel import to_openspiel
from qdts.solving.sequence.form import sequence_form
from qdts.solving.solver import solve
from qdts.solving.tree.recent import game_tree
from solving import naive
from solving.policies import random_policy


@pytest.mark.parametrize(
    ("spec", "known"),
    [("kuhn_poker", 0.91667), ("leduc_poker", 4.74722), ("liars_dice", 1.56149), ("matrix_game", 0.0)],
)
def test_nash_conv_of_the_uniform_policy(spec: str, known: float) -> None:
    game = load_game(spec)
    assert nash_conv(game, uniform_policy(game)) == pytest.approx(known, abs=5e-6)


@pytest.mark.parametrize("spec", ["kuhn_poker", "liars_dice(dice_sides=2)", "matrix_game", "tree_game"])
def test_equals_the_best_pure_strategy(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 7)
    for player in range(game.players):
        value, response = best_response(policy, player)
        assert value == pytest.approx(naive.best_response_value(game, policy, player), abs=1e-12)
        assert expected_values(game, response)[player] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "spec",
    [
        "kuhn_poker",
        "kuhn_poker(players=3)",
        "leduc_poker",
        "leduc_poker(suit_isomorphism=true,action_mapping=true)",
        "liars_dice(dice_sides=3)",
    ],
)
def test_equals_openspiel(spec: str, seed: int) -> None:
    game = load_game(spec)
    policy = random_policy(game, seed)
    theirs = exploitability.nash_conv(pyspiel.load_game(spec), to_openspiel(policy))
    assert nash_conv(game, policy) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "liars_dice(numdice=2,dice_sides=3)", "matrix_game"])
def test_sequence_form_equals_the_sweep_over_histories(spec: str) -> None:
    game = load_game(spec)
    tree = game_tree(game)
    form = sequence_form(tree)
    for seed in range(5):
        p = random_policy(game, seed).probability
        assert form.nash_conv(p) == pytest.approx(gains(tree, p).sum(), abs=1e-11)
        plans = (form.plan(p, 0), form.plan(p, 1))
        assert form.policy(plans) == pytest.approx(p, abs=1e-12)
        assert form.value(plans, 0) == pytest.approx(expected_values(game, random_policy(game, seed))[0], abs=1e-11)


def test_general_sum() -> None:
    game = load_game("matrix_game", payoffs=[[3, 0], [5, 1]], column_payoffs=[[3, 5], [0, 1]])
    assert not game.zero_sum
    assert nash_conv(game, uniform_policy(game)) == pytest.approx(2 * (3.0 - 2.25))
    assert nash_conv(game, solve(game, "cfr+", 200).policy) < 1e-2


def test_perfect_information_takes_the_best_at_every_position() -> None:
    game = load_game("tic_tac_toe")
    policy = uniform_policy(game)
    value, response = best_response(policy, 0)
    assert expected_values(game, response)[0] == pytest.approx(value, abs=1e-12)
    theirs = exploitability.nash_conv(pyspiel.load_game("tic_tac_toe"), _UniformOpenSpiel())
    assert nash_conv(game, policy) == pytest.approx(theirs, abs=1e-9)


class _UniformOpenSpiel:
    """Uniform play on OpenSpiel states, with what its evaluation calls."""

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> dict[int, float]:  # noqa: ARG002
        actions = state.legal_actions()
        return dict.fromkeys(actions, 1 / len(actions))


def test_gains_are_never_negative() -> None:
    for spec in ("kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"):
        game = load_game(spec)
        for seed in range(3):
            assert (gains(game_tree(game), random_policy(game, seed).probability) >= -1e-12).all()
            assert np.isfinite(nash_conv(game, random_policy(game, seed)))

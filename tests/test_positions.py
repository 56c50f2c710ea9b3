"""Value iteration on positions: against search, against histories, and on a game whose positions come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from qdts import InputError, Policy, best_response, load_game, nash_conv, solve
from qdts.games.interface import CHANCE, SIGNATURES, TERMINAL, FunctionPointer
from qdts.kernels import Ints, Reals, compiled
from qdts.solving.minmax import alpha_beta
from qdts.solving.positions import Graph, iterate, optimal_play, position_gains, position_graph
from test_values import random_policy


def test_tic_tac_toe() -> None:
    game = load_game("tic_tac_toe")
    optimum = optimal_play(game)
    assert len(optimum.graph.mover) == 5478
    assert optimum.values[0].tolist() == [0, 0]
    assert nash_conv(game, optimum.policy) == 0
    board = game.layout.read("board=xx-/oo-/---")
    assert optimum.value(board).tolist() == [1, -1]
    with pytest.raises(InputError, match="play never gets to"):
        optimum.value(game.layout.read("board=xxx/xxx/xxx"))


@pytest.mark.parametrize("spec", ["tree_game", "tree_game(tree=[1,[2,[3,-4]],[[0,5],-1]])"])
def test_equals_search(spec: str) -> None:
    game = load_game(spec)
    assert optimal_play(game).values[0, 0] == alpha_beta(game).value == solve(game, "value-iteration").value


@pytest.mark.parametrize("spec", ["tree_game", "tree_game(tree=[1,[2,[3,-4]],[[0,5],-1]])"])
def test_gains_equal_the_best_pure_strategy(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 3)
    value = naive.expected_return(game, policy)
    for player, gain in enumerate(position_gains(policy)):
        best = naive.best_response_value(game, policy, player)
        assert gain == pytest.approx(best - value[player], abs=1e-12)
        found, response = best_response(policy, player)
        assert found == pytest.approx(best, abs=1e-12)
        assert naive.expected_return(game, response)[player] == pytest.approx(best, abs=1e-12)


def test_positions_that_come_back() -> None:
    """A coin is tossed until someone wins: the mover wins at heads, else it is the other's turn.

    He wins with probability 2/3, and returns are 1 and -1, so that his value is 1/3.
    """
    graph = Graph(
        worlds=np.arange(4)[:, None],
        mover=np.array([CHANCE, TERMINAL, CHANCE, TERMINAL]),
        first=np.array([0, 2, 2, 4, 4]),
        child=np.array([1, 2, 3, 0]),
        action=np.array([0, 1, 0, 1]),
        probability=np.full(4, 0.5),
        utility=np.array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]]),
    )
    values, _ = iterate(load_game("tree_game"), graph, graph.probability, np.ones(2, np.bool_))
    assert values[0] == pytest.approx([1 / 3, -1 / 3], abs=1e-12)
    assert values[2] == pytest.approx([-1 / 3, 1 / 3], abs=1e-12)


def test_refusals() -> None:
    with pytest.raises(InputError, match="kuhn_poker hides something"):
        position_graph(load_game("kuhn_poker"))
    with pytest.raises(InputError, match="more than 1,000 positions"):
        optimal_play(load_game("tic_tac_toe"), limit=1_000)
    game = load_game("tic_tac_toe")
    first = Policy(
        game, game.initial()[None], np.array([0, 9], np.int32), np.arange(9, dtype=np.int32), np.full(9, 1 / 9)
    )
    with pytest.raises(InputError, match="lacks the view"):
        position_gains(first)


def lopsided(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Two outcomes that are too likely."""
    outcomes[0], outcomes[1] = 0, 1
    probabilities[0], probabilities[1] = 0.5, 0.7
    return 2


def test_chance_must_sum_to_one() -> None:
    game = load_game("pig(winscore=4,horizon=6,diceoutcomes=3)")
    kernels = game.kernels._replace(chance=FunctionPointer(compiled(lopsided), SIGNATURES["chance"]))
    with pytest.raises(InputError, match=r"the chance distribution at .* sums to 1.2, expected 1"):
        optimal_play(replace(game, kernels=kernels))


def test_pig_equals_its_histories() -> None:
    """The same value by positions and by regret minimisation over histories."""
    game = load_game("pig(winscore=4,horizon=6,diceoutcomes=3)")
    exact = solve(game, "value-iteration")
    assert exact.nash_conv == pytest.approx(0, abs=1e-12)
    solved = solve(game, "cfr+", 300)
    assert solved.value == pytest.approx(exact.value, abs=1e-2)
    assert solved.nash_conv < 1e-2

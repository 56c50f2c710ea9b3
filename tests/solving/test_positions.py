"""Value iteration on positions: against search, against histories, and on a game whose positions come back."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdts import InputError, Policy, best_response, load_game, nash_conv, solve
from qdts.games.interface import CHANCE, SIGNATURES, TERMINAL, FunctionPointer
from qdts.games.rules import pig
from qdts.kernels import Ints, Reals, compiled
from qdts.solving.perfect.components import components
from qdts.solving.perfect.minmax import alpha_beta
from qdts.solving.perfect.positions import Graph, position_graph
from qdts.solving.perfect.value_iteration import iterate, optimal_play, position_gains
from solving import naive
from solving.policies import random_policy


def test_tic_tac_toe() -> None:
    game = load_game("tic_tac_toe")
    optimum = optimal_play(game)
    assert len(optimum.graph.mover) == 5478
    assert optimum.values[0].tolist() == [0, 0]
    assert nash_conv(game, optimum.policy) == 0
    board = game.layout.read("crosses=a3+b3 noughts=a2+b2 turn=x")
    assert optimum.value(board).tolist() == [1, -1]
    with pytest.raises(InputError, match="play never gets to"):
        optimum.value(game.layout.read("crosses=a3+b3+c3 noughts=- turn=x"))


@pytest.mark.parametrize("spec", ["tree_game", "tree_game(tree=[1,[2,[3,-4]],[[0,5],-1]])"])
def test_equals_search(spec: str) -> None:
    game = load_game(spec)
    assert optimal_play(game).values[0, 0] == alpha_beta(game).value == solve(game, "value-iteration").value


@pytest.mark.parametrize("spec", ["tree_game", "tree_game(tree=[1,[2,[3,-4]],[[0,5],-1]])"])
def test_gains_equal_the_best_pure_strategy(spec: str) -> None:
    game = load_game(spec)
    policy = random_policy(game, 3)
    values = naive.expected_return(game, policy)
    for player, gain in enumerate(position_gains(policy)):
        best = naive.best_response_value(game, policy, player)
        assert gain == pytest.approx(best - values[player], abs=1e-12)
        value, response = best_response(policy, player)
        assert value == pytest.approx(best, abs=1e-12)
        assert naive.expected_return(game, response)[player] == pytest.approx(best, abs=1e-12)


def test_positions_that_come_back() -> None:
    """A coin is tossed until someone wins: the mover wins at heads, else it is the other's turn.

    The first player wins with probability 2/3, and returns are 1 and -1, so that the value is 1/3.
    """
    first, child = np.array([0, 2, 2, 4, 4]), np.array([1, 2, 3, 0])
    order, start = components(first, child)
    assert [sorted(order[a:b]) for a, b in pairwise(start)] == [[1], [3], [0, 2]]
    graph = Graph(
        worlds=np.arange(4)[:, None],
        mover=np.array([CHANCE, TERMINAL, CHANCE, TERMINAL]),
        first=first,
        child=child,
        action=np.array([0, 1, 0, 1]),
        probability=np.full(4, 0.5),
        utility=np.array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]]),
        order=order,
        start=start,
    )
    values, _ = iterate(load_game("tree_game"), graph, graph.probability, np.ones(2, np.bool_))
    assert values[0] == pytest.approx([1 / 3, -1 / 3], abs=1e-12)
    assert values[2] == pytest.approx([-1 / 3, 1 / 3], abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.data())
def test_components(n: int, data: st.DataObject) -> None:
    """Two nodes share a component exactly if each can be reached from the other; edges never lead to a later one."""
    ends = st.lists(st.integers(0, n - 1), max_size=4)
    edges = [data.draw(ends) for _ in range(n)]
    first = np.r_[0, np.cumsum([len(e) for e in edges])]
    order, start = components(first, np.array([c for e in edges for c in e], np.int64))
    reached = np.eye(n, dtype=bool)
    for _ in range(n):
        for s, to in enumerate(edges):
            reached[s] |= reached[to].any(0)
    assert sorted(order) == list(range(n))
    number = np.empty(n, int)
    number[order] = np.repeat(np.arange(len(start) - 1), np.diff(start))
    assert ((number[:, None] == number) == (reached & reached.T)).all()
    assert all(number[c] <= number[s] for s, to in enumerate(edges) for c in to)


def winning_chances(target: int, sides: int = 6) -> dict[tuple[int, int, int], float]:
    """The equations of Neller and Presser (Optimal Play of the Dice Game Pig), by plain Gauss-Seidel.

    P(i, j, k) is the chance of the player to move, who has i and k more in this turn, against one who has j:

        P(i, j, k) = max over  roll: ((1 − P(j, i, 0)) + Σ_r P(i, j, k + r)) / sides, r = 2 … sides
                               hold: 1 − P(j, i + k, 0)
    """
    states = [(i, j, k) for i in range(target) for j in range(target) for k in range(target - i)]
    chance = dict.fromkeys(states, 0.0)
    change = 1.0
    while change > 1e-14:
        change = 0.0
        for i, j, k in reversed(states):
            rolls = sum(chance[i, j, k + r] if i + k + r < target else 1.0 for r in range(2, sides + 1))
            best = max((1 - chance[j, i, 0] + rolls) / sides, 1 - chance[j, i + k, 0])
            change = max(change, abs(best - chance[i, j, k]))
            chance[i, j, k] = best
    return chance


def endless(rules: Ints, world: Ints, action: int) -> None:
    """Pig's step that does not count moves, so that play is never cut short and positions come back."""
    pig.step(rules, world, action)
    world[pig.MOVES] = 0


def test_pig_equals_its_equations() -> None:
    """With a far horizon, and without one, every position is worth what the equations say."""
    known = winning_chances(10)
    game = load_game("pig(winscore=10,horizon=150)")
    step = FunctionPointer(compiled(endless), SIGNATURES["step"])
    for rules, cyclic in ((game, False), (replace(game, kernels=game.kernels._replace(step=step)), True)):
        optimum = optimal_play(rules)
        assert (np.diff(optimum.graph.start).max() > 1) == cyclic
        assert optimum.values[0] == pytest.approx([2 * known[0, 0, 0] - 1, 1 - 2 * known[0, 0, 0]], abs=1e-9)
    of_player = [w for w, m in zip(optimum.graph.worlds, optimum.graph.mover, strict=True) if m in (0, 1)]
    assert len(of_player) > 300
    for world in of_player:
        player = int(world[pig.STAGE]) // 2
        own, other = world[pig.SCORES + player], world[pig.SCORES + 1 - player]
        expected = 2 * known.get((own, other, world[pig.TOTAL]), 1.0) - 1
        assert optimum.value(world)[player] == pytest.approx(expected, abs=1e-9)


def test_refusals() -> None:
    with pytest.raises(InputError, match="kuhn_poker has hidden information"):
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

"""Exact players and the solver of connect four: what they say is true; and what is measured with them."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from qdts import load_game
from qdts.cli.benchmarks.exact_players import ExactSeat, PigSeat
from qdts.cli.benchmarks.perfect_measures import count_losses, share_of_right_moves, share_of_wins
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.nets.evaluator import Network
from qdts.nets.model import make_models
from qdts.play.agent import Agent
from qdts.play.match import play_match
from qdts.play.seats import Random
from qdts.solving.perfect.four_solver import FORBIDDEN, TABLE, bits_of, solve_moves, solved_positions


def naive(game: Game, world: Ints) -> float:
    """The value of a position to the player to move, by looking at every game."""
    player = game.mover(world)
    worths = []
    for action in game.legal(world):
        after = game.step(world, action)
        worths.append(float(game.returns(after)[player]) if game.mover(after) < 0 else -naive(game, after))
    return max(worths)


def test_the_solver_knows_the_value_of_every_move() -> None:
    game, stream = load_game("connect_four"), np.random.default_rng(1)
    keys, bounds = np.zeros(TABLE, np.int64), np.zeros(TABLE, np.int8)
    solved = 0
    while solved < 25:
        world = game.initial()
        while game.mover(world) >= 0 and bin(int(world[0] | world[1])).count("1") < 33:
            world = game.step(world, int(stream.choice(game.legal(world))))
        if game.mover(world) < 0:
            continue
        value = np.zeros(7, np.int64)
        solve_moves(*bits_of(game, world), keys, bounds, value)
        player, legal = game.mover(world), game.legal(world)
        assert [c for c in range(7) if value[c] != FORBIDDEN] == legal
        for action in legal:
            after = game.step(world, action)
            over = game.mover(after) < 0
            assert value[action] == (game.returns(after)[player] if over else -naive(game, after))
        solved += 1


def test_some_moves_of_the_solved_positions_are_better_than_others() -> None:
    worlds, value = solved_positions(5)
    game = load_game("connect_four")
    assert len(worlds) == len(value) == 5
    for world, worths in zip(worlds, value, strict=True):
        assert 12 <= bin(int(world[0] | world[1])).count("1") <= 24
        legal = worths[worths != FORBIDDEN]
        assert len(legal) == len(game.legal(world))
        assert legal.min() < legal.max()


def test_an_exact_player_never_loses() -> None:
    game = load_game("tic_tac_toe")
    exact = ExactSeat(game)
    [first] = exact.decide([game.initial()], [0], [0])
    np.testing.assert_allclose(first, 1 / 9, err_msg="every first move draws")
    assert play_match(game, exact, Random(game), 100).returns.min() >= 0.0
    assert not play_match(game, exact, exact, 100).returns.any()


def test_pig_is_solved() -> None:
    """Neller and Presser (2004): at 0 to 0 it is best to hold at 21; who is far behind goes on."""
    exact = PigSeat(load_game("pig"))
    assert int(np.argmax(exact.rolls[0, 0] <= 0.0)) == 21
    assert (exact.rolls[0, 99, :80] > 0.0).all()
    small = load_game("pig(winscore=10)")
    assert play_match(small, PigSeat(small), Random(small), 400).mean > 0.3


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four", "pig(winscore=20)"])
def test_what_is_measured(spec: str) -> None:
    """Of an agent that does not know anything yet, but searches."""
    game = load_game(spec)
    model, belief = make_models(game, width=4, layers=1, trunk="mlp", towers=0)
    agent = Agent(Network(game, model, belief, batch=8), visits=8)
    if spec == "tic_tac_toe":
        found = count_losses(agent, 12, 0)
        assert 0 <= found.value <= found.beside["worse"] <= found.beside["games"] == 12
    elif spec == "connect_four":
        right = share_of_right_moves(agent, 5)
        assert round(5 * right) == 5 * right
        assert 0.0 <= right <= 1.0
    else:
        found = share_of_wins(agent, 20, 0)
        assert found.interval is not None
        assert found.interval[0] <= found.value <= found.interval[1]


def test_perfect_play_loses_no_game_and_half_of_the_games_of_pig() -> None:
    game = load_game("tic_tac_toe")
    assert count_losses(cast(Agent, ExactSeat(game)), 40, 1).value == 0
    pig = load_game("pig(winscore=20)")
    assert share_of_wins(cast(Agent, PigSeat(pig)), 400, 1).value == pytest.approx(0.5, abs=0.08)

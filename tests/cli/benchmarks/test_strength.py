"""Exact players and the solver of connect four: what they say is true; and cells that are measured by play."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from qdts import load_game
from qdts.cli import main
from qdts.cli.benchmarks import learning, strength
from qdts.cli.benchmarks.exact_players import ExactSeat, PigSeat
from qdts.cli.benchmarks.four_solver import FORBIDDEN, TABLE, bits_of, solve_moves, solved_positions
from qdts.cli.benchmarks.learning import Task
from qdts.cli.benchmarks.strength import STRENGTHS, Strength
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.play.match import play_match
from qdts.play.seats import Random


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
    np.testing.assert_allclose(first, 1 / 9), "every first move draws"
    assert play_match(game, exact, Random(game), 100).returns.min() >= 0.0
    assert not play_match(game, exact, exact, 100).returns.any()


def test_pig_is_solved() -> None:
    """Neller and Presser (2004): at 0 to 0 it is best to hold at 21; who is far behind goes on."""
    exact = PigSeat(load_game("pig"))
    assert int(np.argmax(exact.rolls[0, 0] <= 0.0)) == 21
    assert (exact.rolls[0, 99, :80] > 0.0).all()
    small = load_game("pig(winscore=10)")
    assert play_match(small, PigSeat(small), Random(small), 400).mean > 0.3


def test_a_cell_is_measured_by_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = []

    def measure(agent: object, threads: int) -> strength.Figures:
        measured.append((agent, threads))
        return {"lost": 3, "games": 400, "reached": False}

    quick = Strength("loses no game", measure, strength.tell_losses)
    monkeypatch.setattr(learning, "TASKS", (Task("tic_tac_toe", 0.01, by_play=True),))
    monkeypatch.setitem(STRENGTHS, "tic_tac_toe", quick)  # type: ignore[arg-type]
    arguments = ["bench", "learn", "--out", str(tmp_path), "--seeds", "1", "--threads", "1"]
    assert main([*arguments, "--list"]) == 0
    assert "not made" in capsys.readouterr().out
    for _ in range(2):
        assert main([*arguments, "--json"]) == 0
        [cell] = json.loads(capsys.readouterr().out)["cells"]
        assert cell["strength"] == {"lost": 3, "games": 400, "reached": False}
        assert cell["goal"] == "loses no game"
    assert len(measured) == 1, "what is there is not made again"
    assert main(arguments) == 0
    assert "0 of 1 reached" in " ".join(capsys.readouterr().out.split())


def test_strength_is_measured() -> None:
    """An agent that does not know anything yet, but searches."""
    from qdts.nets.evaluator import Network
    from qdts.nets.model import make_models
    from qdts.play.agent import Agent

    for spec in ("tic_tac_toe", "connect_four", "pig"):
        game = load_game(spec)
        model, belief = make_models(game, width=4, layers=1, trunk="mlp", towers=0)
        agent = Agent(Network(game, model, belief, batch=8))
        if spec == "tic_tac_toe":
            figures = strength.losses_to_exact(agent, 1, games=8)
            assert 0 <= figures["lost"] <= figures["worse"] <= figures["games"] == 8
        elif spec == "connect_four":
            figures = strength.wins_and_accuracy(agent, 1, games=4, positions=5)
            assert 0.0 <= figures["accuracy"] <= 1.0
        else:
            figures = strength.wins_at_pig(agent, 1, games=4)
            assert 0.0 <= figures["wins"] <= 1.0
        assert STRENGTHS[spec].tell(figures)

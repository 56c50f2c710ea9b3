"""`qdts walk` steps through a game: what it shows, what it accepts, and how it fails."""

from __future__ import annotations

import builtins
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from qdts import load_game
from qdts.cli import main
from qdts.games.moves import read_moves

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "blind_mans_bluff.py"
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def walked(capsys: Output, *arguments: str) -> str:
    assert main(["walk", *arguments]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    return text


def as_data(capsys: Output, *arguments: str) -> dict[str, Any]:
    assert main(["walk", *arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    data = json.loads(printed.out)
    assert isinstance(data, dict)
    return data


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """A terminal at which these lines are typed, and then the input ends."""
    left = iter(lines)

    def answer(_prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(builtins, "input", answer)


def test_moves_show_every_step(capsys: Output) -> None:
    text = walked(capsys, "kuhn_poker", "--moves", "deal K, deal J, bet, bet")
    for words in (
        "step 0  chance to move",
        "0 deal J (0.333)",
        "→ deal K",
        "step 2  player 0 to move",
        "world     turn=2 bettor=0 cards=KJ bets=---",
        "player 0  turn=2 bettor=0 cards=K? bets=---",
        "player 1  turn=2 bettor=0 cards=?J bets=---",
        "unknown: card of player 1",
        "in words: K; to open",
        "0 Pass   1 Bet",
        "step 4  the game is over",
        "+2 to player 0   -2 to player 1",
    ):
        assert words in text
    assert text.count("step ") == 5


def test_json_has_every_step(capsys: Output) -> None:
    data = as_data(capsys, "kuhn_poker", "--moves", "2 0")
    assert (data["game"], data["seed"], data["returns"]) == ("kuhn_poker", 0, None)
    assert [step["taken"] for step in data["steps"]] == ["deal K", "deal J", None]
    assert data["steps"][-1] == {
        "step": 2,
        "mover": "player 0",
        "split": False,
        "world": "turn=2 bettor=0 cards=KJ bets=---",
        "views": ["turn=2 bettor=0 cards=K? bets=---", "turn=2 bettor=0 cards=?J bets=---"],
        "holes": [["card of player 1"], ["card of player 0"]],
        "title": "K; to open",
        "choices": [
            {"number": 0, "name": "Pass", "probability": None},
            {"number": 1, "name": "Bet", "probability": None},
        ],
        "taken": None,
    }


@pytest.mark.parametrize("spec", ["leduc_poker", "hearts", "tic_tac_toe", "liars_dice(dice_sides=3,split=true)"])
def test_a_seed_decides_a_random_game(spec: str, capsys: Output) -> None:
    first, again, other = (as_data(capsys, spec, "--random", "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again
    assert first["steps"] != other["steps"]
    game = load_game(spec)
    world = game.initial()
    for step in first["steps"]:
        assert step["world"] == game.layout.write(world)
        if step["taken"] is not None:
            (move,) = read_moves(game, step["taken"], world)
            world = game.step(world, move)
    assert first["returns"] == game.returns(world).tolist()
    assert walked(capsys, spec, "--random").count("step ") > 4


def test_split_actions_are_marked(capsys: Output) -> None:
    text = walked(capsys, "liars_dice(dice_sides=3,split=true)", "--moves", "roll 1, roll 2, quantity 1")
    assert "player 0 to move, completing a split action" in text
    assert "quantity=?" in text


def test_a_game_that_hides_nothing_shows_no_views(capsys: Output) -> None:
    text = walked(capsys, "tic_tac_toe", "--moves", "b2")
    assert "see all of it" in text
    assert "player 0  " not in text


def test_a_file_of_ones_own(capsys: Output) -> None:
    text = walked(capsys, f"{EXAMPLE}(ranks=3)", "--moves", "deal A, deal Q, look away")
    assert "player 0  turn=3 cards=?Q glances=n- bets=---" in text


def test_a_pipe_gives_moves_and_commands(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, "deal K, deal J\nr\nu\nbet\n")
    text = walked(capsys, "kuhn_poker")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("step ")] == list("012323")
    piped(monkeypatch, "deal K\nq\ndeal J\n")
    assert "deal J\n" not in walked(capsys, "kuhn_poker")


def test_a_wrong_move_in_a_pipe_fails(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, "deal K\nbet\n")
    assert main(["walk", "kuhn_poker"]) == 2
    assert "unknown move of chance" in capsys.readouterr().err


def test_a_terminal_explains_wrong_moves(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "u", "deal X", "deal K, deal J", "1", "0", "r", ":u", "bet")
    text = walked(capsys, "kuhn_poker")
    assert "there is no move to undo" in text
    assert "the choices are deal J, deal K, deal Q" in " ".join(text.split())
    assert "the game is over, expected u (undo) or q (quit)" in text
    assert [line.split()[1] for line in text.splitlines() if line.startswith("step ")] == list("0123434")


def test_a_move_comes_before_a_command_of_its_name(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect four has columns a to u if it is wide enough."""
    spec = "connect_four(rows=2,columns=21,x_in_row=2)"
    typed(monkeypatch, "u", ":u", "q", ":q", "a")
    text = walked(capsys, spec)
    assert [line for line in text.splitlines() if line.startswith("→")] == ["→ u", "→ q"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kuhn_poker", "--moves", "deal K, deal K"], "unknown move of chance at turn=1"),
        (["kuhn_poker", "--moves", "0 1 0 0 0"], "after the game is over"),
        (["kuhn"], "unknown game 'kuhn'"),
    ],
)
def test_wrong_input(arguments: list[str], words: str, capsys: Output) -> None:
    assert main(["walk", *arguments]) == 2
    assert words in capsys.readouterr().err

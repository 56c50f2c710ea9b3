"""`qdts solve`: what it prints and writes, and Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import Output, interrupt, run_json, run_text
from qdts.cli.display.solving import Silent
from qdts.solving import load_policy, nash_conv

SOLVE_KEYS = {
    *("game", "algorithm", "iterations", "seconds", "iterations_per_second"),
    *("value", "values", "nash_conv", "interrupted", "histories", "information_sets", "out"),
}


def test_solve_as_json(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    data = run_json(capsys, "solve", "kuhn_poker", "--iterations", "2000", "--out", str(file))
    assert {*data} == SOLVE_KEYS
    assert (data["game"], data["algorithm"], data["iterations"]) == ("kuhn_poker", "dcfr", 2000)
    assert (data["interrupted"], data["out"]) == (False, str(file))
    assert data["value"] == data["values"][0] == pytest.approx(-1 / 18, abs=1e-3)
    policy = load_policy(file)
    assert nash_conv(policy.game, policy) == pytest.approx(data["nash_conv"])

    shown = run_json(capsys, "policy", str(file))
    assert {*shown} == {"file", "game", "game_version", "info", "views", "value", "values", "nash_conv"}
    assert shown["nash_conv"] == pytest.approx(data["nash_conv"])
    assert shown["info"]["iterations"] == 2000


def test_tolerance_and_seed(capsys: Output) -> None:
    data = run_json(capsys, "solve", "kuhn_poker", "--iterations", "100000", "--tolerance", "0.01")
    assert data["iterations"] < 100000
    assert data["nash_conv"] <= 0.01
    sampled = [
        run_json(capsys, "solve", "kuhn_poker", "--algorithm", "mccfr", "--iterations", "50", "--seed", seed)
        for seed in ("1", "1", "2")
    ]
    assert sampled[0]["value"] == sampled[1]["value"] != sampled[2]["value"]


@pytest.mark.parametrize("algorithm", ["min-max", "alpha-beta"])
def test_min_max_and_alpha_beta_give_a_line(algorithm: str, capsys: Output, tmp_path: Path) -> None:
    data = run_json(capsys, "solve", "tree_game", "--algorithm", algorithm)
    assert {*data} == SOLVE_KEYS | {"line", "leaves"}
    assert (data["value"], data["values"], data["nash_conv"]) == (-1.0, [-1.0, 1.0], 0.0)
    assert data["line"] == ["2", "2"]
    assert data["leaves"] == (9 if algorithm == "min-max" else 7)
    file = tmp_path / "tree.npz"
    text = run_text(capsys, "solve", "tree_game", "--algorithm", algorithm, "--out", str(file))
    policy = load_policy(file)
    assert nash_conv(policy.game, policy) == 0
    assert "2 2" in text
    assert f"{data['leaves']} finished games" in text


def test_solve_for_people(capsys: Output, tmp_path: Path) -> None:
    plot = tmp_path / "curve.png"
    text = run_text(capsys, "solve", "leduc_poker", "--iterations", "200", "--plot", str(plot))
    for words in ("iteration", "NashConv", "exploitability is half of it", "without compiling", "J♠/♥ | to open"):
        assert words in text
    assert "918 more views" in text
    assert "\x1b" not in text
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_an_import_reports_its_progress(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(Silent, "imported", lambda _, histories: told.append(histories))
    run_json(capsys, "solve", "openspiel:liars_dice(numdice=2,dice_sides=2)", "--iterations", "1")
    assert len(told) > 1
    assert told == sorted(told)


INTERRUPTIBLE = """
import sys
from qdts.cli import main
from qdts.cli.display.solving import Silent
Silent.measured = lambda self, point: print("measured", file=sys.stderr, flush=True)
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    file = tmp_path / "dice.npz"
    command = ["solve", "liars_dice", "--iterations", "1000000000", "--json", "--out", str(file)]
    ended = interrupt(INTERRUPTIBLE, *command, after=lambda line: line == "measured\n")
    assert ended.code == 130
    data = json.loads(ended.out)
    assert data["interrupted"] is True
    policy = load_policy(file)
    assert policy.info["iterations"] == data["iterations"] < 1000000000
    assert nash_conv(policy.game, policy) == pytest.approx(data["nash_conv"])


STOPPABLE = """
import sys
from qdts.cli import main
from qdts.cli.display import progress
progress.BEAT_SECONDS = 0.1
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("game", "algorithm"),
    [
        ("liars_dice", "lp"),
        ("connect_four", "min-max"),
        ("connect_four", "alpha-beta"),
        ("connect_four", "value-iteration"),
    ],
)
def test_ctrl_c_stops_a_single_long_call(game: str, algorithm: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    command = ["solve", game, "--algorithm", algorithm, "--json", "--out", str(file)]
    ended = interrupt(STOPPABLE, *command, after=lambda line: f"solving {game} by {algorithm}" in line)
    assert (ended.code, ended.out) == (130, "")
    assert [*tmp_path.iterdir()] == []

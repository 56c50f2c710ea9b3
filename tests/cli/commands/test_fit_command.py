"""`qdts fit`: from saved games to a run that goes on."""

from __future__ import annotations

from pathlib import Path

from cli.running import Output, check_failure, run_json, run_text
from qdts.cli import main
from qdts.learning.run import open_run

QUICK = [
    part
    for setting in ("net.width=16", "fit.rows=64", "measure.visits=2", "play.games=40")
    for part in ("--set", setting)
]


def test_from_a_match_to_a_run(capsys: Output, kuhn: Path, tmp_path: Path) -> None:
    games, folder = tmp_path / "games.txt", tmp_path / "run"
    data = run_json(capsys, "match", "kuhn_poker", str(kuhn), str(kuhn), "--games", "200", "--save-games", str(games))
    lines = games.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# kuhn_poker"
    assert len(lines) == 1 + data["games"] == 201
    fitted = run_json(
        capsys,
        "fit",
        "kuhn_poker",
        "--records",
        str(games),
        "--epochs",
        "3",
        "--out",
        str(folder),
        "--seed",
        "4",
        *QUICK,
    )  # fmt: skip
    assert (fitted["game"], fitted["seed"], fitted["generations"], fitted["games"]) == ("kuhn_poker", 4, 1, 200)
    assert [each["epoch"] for each in fitted["epochs"]] == [1, 2, 3]
    assert {*fitted["epochs"][0]["held_out"]} == {"policy_loss", "value_loss", "belief_loss"}
    first, _, last = (each["held_out"] for each in fitted["epochs"])
    assert last["policy_loss"] < first["policy_loss"]
    assert 0.0 < fitted["nash_conv_average"] < 2.0
    seconds = open_run(folder).metrics()[-1]["seconds"]
    more = ["train", "--resume", str(folder), "--minutes", str((seconds + 0.5) / 60)]
    assert main(more) == 0
    assert "learned by self-play" in capsys.readouterr().out
    assert open_run(folder).metrics()[-1]["generation"] > 1


def test_for_people(capsys: Output, tmp_path: Path) -> None:
    games = tmp_path / "games.txt"
    games.write_text("deal K, deal J, Bet, Pass\n2 0 1 1 => 2 -2\n" * 20, encoding="utf-8")
    text = run_text(
        capsys, "fit", "kuhn_poker", "--records", str(games), "--epochs", "2", "--out", str(tmp_path / "run"), *QUICK
    )
    assert "epoch   2   held-out loss: P 0." in text
    assert "learned from given games" in text
    assert f"qdts train --resume {tmp_path / 'run'} --minutes 10" in text.replace("\n", "")


def test_wrong_input(capsys: Output, tmp_path: Path) -> None:
    games = tmp_path / "games.txt"
    games.write_text("deal K, deal J, Bet\n", encoding="utf-8")
    check_failure(capsys, ["fit", "kuhn_poker", "--records", str(games)], "line 1", "expected one of Pass, Bet")
    check_failure(capsys, ["fit", "kuhn_poker"], "--records")
    check_failure(capsys, ["match", "kuhn_poker", "random", "random", "--save-games", str(tmp_path)], "it is a folder")

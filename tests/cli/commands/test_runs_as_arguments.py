"""A run in the place of a game or a policy, in all commands that take one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.running import Output, check_failure, run_json, run_text
from qdts import load_agent
from qdts.learning.run import Run, created


def test_a_run_in_the_place_of_a_game(capsys: Output, kuhn_run: Run) -> None:
    run = str(kuhn_run.folder)
    measured = kuhn_run.metrics()[-1]["nash_conv_average"]
    data = run_json(capsys, "evaluate", run, "--visits", "4,8")
    assert (data["game"], data["policy"]) == ("kuhn_poker", run)
    assert data["policy_nash_conv"] == pytest.approx(measured)
    same = run_json(capsys, "evaluate", "kuhn_poker", "--policy", str(kuhn_run.checkpoint(3)), "--visits", "4,8")
    assert [row["nash_conv"] for row in same["results"]] == [row["nash_conv"] for row in data["results"]]
    other = run_json(capsys, "evaluate", run, "--policy", "playouts", "--visits", "4")
    assert (other["policy"], other["policy_nash_conv"]) == ("playouts", pytest.approx(11 / 12))
    assert "NashConv of the networks' P" in run_text(capsys, "evaluate", run, "--visits", "4")

    agent = load_agent(run)
    for arguments in (["search", run], ["search", "kuhn_poker", "--policy", run]):
        found = run_json(capsys, *arguments, "--state", "deal K, deal Q, Bet", "--visits", "30")
        assert (found["game"], found["policy"]) == ("kuhn_poker", run)
        assert [row["prior"] for row in found["actions"]] == [*agent.policy("deal K, deal Q, Bet").values()]
    for arguments in ([run], ["kuhn_poker", "--policy", run], [run, "--method", "sweep"]):
        told = run_json(capsys, "nashconv", *arguments)
        assert (told["game"], told["policy"], told["nash_conv"]) == ("kuhn_poker", run, pytest.approx(measured))
    shown = run_json(capsys, "policy", run)
    assert (shown["nash_conv"], shown["info"]["generation"]) == (pytest.approx(measured), 3)
    text = " ".join(run_text(capsys, "policy", run, "--game", "kuhn_poker").replace("│", " ").split())
    for word in ("generation 3, games 120, weights average", "to open"):
        assert word in text
    played = run_json(capsys, "match", "kuhn_poker", run, f"qdts:4@{run}", "--games", "20")
    assert (played["a"], played["games"]) == (run, 20)


def test_runs_that_do_not_fit(capsys: Output, kuhn_run: Run, tmp_path: Path) -> None:
    run = str(kuhn_run.folder)
    for arguments in (["evaluate"], ["search"], ["nashconv"], ["policy"]):
        check_failure(capsys, [*arguments, str(tmp_path)], f"'{tmp_path}' is not the folder of a run")
    for arguments in (["evaluate"], ["search"], ["nashconv"]):
        check_failure(
            capsys, [*arguments, "leduc_poker", "--policy", run], "is a run of kuhn_poker, expected leduc_poker"
        )
    check_failure(capsys, ["match", "leduc_poker", "random", f"qdts:4@{run}"], "is a run of kuhn_poker")
    check_failure(capsys, ["evaluate", run, "--value-noise", "0.1"], "expected a policy file beside it")
    nowhere = "expected a policy file, a run's folder or a checkpoint's file"
    check_failure(capsys, ["evaluate", "kuhn_poker", "--policy", str(tmp_path / "none")], nowhere)
    empty = tmp_path / "empty"
    with created(replace(kuhn_run, folder=empty)):
        pass
    check_failure(capsys, ["evaluate", str(empty)], f"the run '{empty}' has no checkpoint yet")

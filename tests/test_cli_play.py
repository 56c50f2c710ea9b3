"""The commands search, evaluate and match: what they print, and how they fail."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from qdts import load_agent, load_game, save_policy, uniform_policy
from qdts.cli import main
from qdts.learning.run import Run, create_run
from qdts.solving import nash_conv, solve
from test_cli import check_failure, run_json, run_text

Output = pytest.CaptureFixture[str]

SEARCH_KEYS = {"game", "state", "player", "search", "visits", "policy", "seed", "seconds", "nodes", "full", "actions"}
ACTION_KEYS = {"action", "number", "visits", "q_lo", "q_hi", "prior", "share", "move"}
MATCH_KEYS = {"game", "a", "b", "seed", "games", "groups", "mean", "ci95", "by_seat", "interrupted", "seconds"}


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An equilibrium of Kuhn poker."""
    file = tmp_path_factory.mktemp("policies") / "kuhn.npz"
    save_policy(solve(load_game("kuhn_poker"), "lp").policy, file)
    return file


def test_search_as_json(capsys: Output, kuhn: Path) -> None:
    arguments = ["search", "kuhn_poker", "--state", "deal K, deal Q, Bet", "--visits", "80", "--policy", str(kuhn)]
    data = run_json(capsys, *arguments)
    assert {*data} == SEARCH_KEYS | {"belief"}
    assert (data["game"], data["state"], data["player"]) == ("kuhn_poker", "turn=3 bettor=1 cards=?Q bets=b--", 1)
    assert (data["search"], data["visits"], data["policy"]) == ("qdts", 80, str(kuhn))
    assert [row["action"] for row in data["actions"]] == ["Pass", "Bet"]
    for row in data["actions"]:
        assert {*row} == ACTION_KEYS
        assert row["q_lo"] <= row["q_hi"]
        assert row["share"] == row["visits"] / 80
    assert sum(row["visits"] for row in data["actions"]) == 80
    assert sum(row["move"] for row in data["actions"]) == pytest.approx(1.0)
    assert data["belief"]["hole"] == "cards[0]"
    assert sum(data["belief"]["values"].values()) == pytest.approx(1.0)

    again = run_json(capsys, "search", "kuhn_poker", "--state", data["state"], "--visits", "80", "--policy", str(kuhn))
    assert again["actions"] == data["actions"]
    tree = run_json(capsys, *arguments, "--tree", "--depth", "2")
    assert tree["actions"] == data["actions"]
    assert tree["tree"]["visits"] == 80
    assert {branch["kind"] for branch in tree["tree"]["branches"]} == {"sample"}


def test_search_for_people(capsys: Output, kuhn: Path) -> None:
    main(["search", "kuhn_poker", "--policy", str(kuhn), "--visits", "50", "--tree", "--option", "c=0.3"])
    text = capsys.readouterr().out
    for word in ("qdts[c=0.3]", "Pass", "Bet", "cards[1]", "SAMPLE", "OPPONENT of player 1", "simulated:"):
        assert word in text
    assert main(["search", "pig(winscore=20)", "--search", "puct", "--state", "roll, roll 4", "--visits", "20"]) == 0
    assert "stop" in capsys.readouterr().out


def test_options_change_the_search(capsys: Output) -> None:
    base = ["search", "leduc_poker", "--visits", "60"]
    plain = run_json(capsys, *base)
    changed = run_json(capsys, *base, "--option", "eps_sample=1.5", "--option", "c=2")
    written = run_json(capsys, *base, "--search", "qdts[eps_sample=1.5,c=2]")
    assert changed["actions"] == written["actions"] != plain["actions"]
    assert changed["search"] == written["search"]
    mixed = run_json(capsys, *base, "--search", "qdts[eps_sample=1.5]", "--option", "c=2")
    assert mixed["actions"] == written["actions"]


def test_evaluate_as_json(capsys: Output, kuhn: Path) -> None:
    data = run_json(capsys, "evaluate", "kuhn_poker", "--visits", "8,32", "--policy", str(kuhn), "--search", "mmds")
    assert (data["game"], data["search"], data["policy"]) == ("kuhn_poker", "mmds", str(kuhn))
    assert [row["visits"] for row in data["results"]] == [8, 32]
    assert all({*row} == {"visits", "nash_conv", "seconds"} for row in data["results"])
    assert data["policy_nash_conv"] == pytest.approx(0.0, abs=1e-9)
    # with exact knowledge of an equilibrium, no action gains anything: the mirror step only shrinks what loses
    assert all(row["nash_conv"] < 0.2 for row in data["results"])
    uniform = run_json(capsys, "evaluate", "kuhn_poker", "--visits", "4", "--threads", "2")
    game = load_game("kuhn_poker")
    assert uniform["policy"] is None
    assert uniform["policy_nash_conv"] == pytest.approx(nash_conv(game, uniform_policy(game)))
    noisy = run_json(
        capsys, "evaluate", "kuhn_poker", "--visits", "8", "--policy", str(kuhn), "--search", "mmds",
        "--value-noise", "0.5", "--child-noise", "0.5", "--belief-noise", "0.5",
    )  # fmt: skip
    assert noisy["results"][0]["nash_conv"] != data["results"][0]["nash_conv"]


def test_evaluate_for_people(capsys: Output, kuhn: Path) -> None:
    text = run_text(
        capsys, "evaluate", "kuhn_poker", "--visits", "4,8,16", "--policy", str(kuhn), "--belief-noise", "0.1"
    )
    for word in ("NashConv of that policy", "belief noise 0.1", "visits", "both logarithmic", "┤"):
        assert word in text


def test_match(capsys: Output, kuhn: Path) -> None:
    data = run_json(capsys, "match", "kuhn_poker", str(kuhn), "random", "--games", "201")
    assert {*data} == MATCH_KEYS
    assert (data["games"], data["groups"], data["interrupted"]) == (202, 101, False)
    assert data["ci95"][0] < data["mean"] < data["ci95"][1]
    assert data["mean"] == pytest.approx(sum(data["by_seat"]) / 2)
    same = run_json(capsys, "match", "kuhn_poker", str(kuhn), "random", "--games", "202")
    assert same["mean"] == data["mean"]
    other = run_json(capsys, "match", "kuhn_poker", str(kuhn), "random", "--games", "202", "--seed", "1")
    assert other["mean"] != data["mean"]
    once = run_json(capsys, "match", "kuhn_poker(players=3)", "qdts:8", "random", "--games", "1")
    assert (once["games"], once["ci95"], len(once["by_seat"])) == (3, None, 3)
    text = run_text(capsys, "match", "kuhn_poker", f"qdts[c=0.2]:8@{kuhn}", "random", "--games", "10")
    for word in ("A's mean return", "95 % interval", "Student", "10 in 5 groups", "qdts[c=0.2]:8"):
        assert word in text


def test_playouts_instead_of_a_policy(capsys: Output) -> None:
    base = ["search", "tic_tac_toe", "--search", "puct", "--state", "0 3 1 4", "--visits", "100"]
    searched, unknowing = run_json(capsys, *base, "--policy", "playouts"), run_json(capsys, *base)
    assert searched["policy"] == "playouts"
    assert searched["actions"] != unknowing["actions"]
    assert max(searched["actions"], key=lambda row: row["visits"])["number"] == 2
    data = run_json(capsys, "evaluate", "kuhn_poker", "--visits", "4", "--policy", "playouts")
    assert data["policy_nash_conv"] == pytest.approx(11 / 12)
    text = run_text(capsys, "evaluate", "kuhn_poker", "--visits", "4", "--policy", "playouts")
    assert "NashConv of uniform play" in text
    played = run_json(capsys, "match", "tic_tac_toe", "puct:50@playouts", "random", "--games", "20")
    assert played["mean"] > 0.3


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


def test_several_checkpoints_and_seeds(capsys: Output, kuhn_run: Run) -> None:
    run = str(kuhn_run.folder)
    asked = ["evaluate", run, "--checkpoints", "2", "--visits", "2,4"]
    data = run_json(capsys, *asked, "--seeds", "3", "--seed", "1")
    assert (data["search"], data["seeds"], data["interrupted"]) == ("qdts-descent", 3, False)
    assert [line["generation"] for line in data["checkpoints"]] == [1, 3]
    last = data["checkpoints"][-1]
    assert last["policy_nash_conv"] == pytest.approx(kuhn_run.metrics()[-1]["nash_conv_average"])
    alone = run_json(capsys, "evaluate", run, "--visits", "2,4", "--seeds", "3", "--seed", "1")
    for row, other in zip(last["results"], alone["results"], strict=True):
        assert {**row, "seconds": 0} == {**other, "seconds": 0}
        assert row["standard_error"] > 0
    text = run_text(capsys, *asked)
    assert "generation" in text
    above = sum(
        row["nash_conv"] > line["policy_nash_conv"]
        for line in run_json(capsys, *asked)["checkpoints"]
        for row in line["results"]
    )
    assert f"{above} of 4 are above the networks' P" in text
    check_failure(capsys, ["evaluate", "kuhn_poker", "--checkpoints", "2"], "'kuhn_poker' is not the folder of a run")
    check_failure(capsys, [*asked, "--policy", run], "expected no policy and no noise")


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
    create_run(replace(kuhn_run, folder=empty))
    check_failure(capsys, ["evaluate", str(empty)], f"the run '{empty}' has no checkpoint yet")


UNREACHABLE = "turn=2 bettor=0 cards=JJ bets=---"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "kuhn_poker", "--search", "qdst"], ["qdst", "did you mean qdts"]),
        (["search", "kuhn_poker", "--search", "uct"], ["uct", "hide nothing", "ismcts"]),
        (["search", "kuhn_poker", "--visits", "0"], ["--visits", "1"]),
        (["search", "kuhn_poker", "--state", UNREACHABLE], ["no play leads player 0", "cards=JJ"]),
        (["search", "kuhn_poker", "--state", "turn=3 bettor=0 cards=J? bets=p--"], ["no play leads player 1"]),
        (["search", "kuhn_poker", "--state", "deal J"], ["chance moves"]),
        (["search", "kuhn_poker", "--state", "deal J, deal K, Fold"], ["player 0", "Fold", "Bet, Pass"]),
        (["search", "kuhn_poker", "--option", "eps_sample=2.5"], ["eps_sample=2.5", "from 0 to 2"]),
        (["search", "kuhn_poker", "--option", "epsilon=1"], ["epsilon", "choices"]),
        (["search", "kuhn_poker", "--option", "c"], ["'c'", "option=value"]),
        (["search", "kuhn_poker", "--search", "ismcts", "--tree"], ["--tree", "ismcts", "qdts"]),
        (["search", "kuhn_poker", "--policy", "none.npz"], ["none.npz"]),
        (["evaluate", "kuhn_poker", "--visits", "16,0"], ["visits=0", "at least 1"]),
        (["evaluate", "kuhn_poker", "--visits", "16,,64"], ["visits=nothing", "at least 1"]),
        (["evaluate", "kuhn_poker", "--value-noise", "0.1"], ["noise", "policy"]),
        (["evaluate", "tic_tac_toe", "--search", "put"], ["put", "did you mean puct"]),
        (["match", "kuhn_poker", "random"], ["B"]),
        (["match", "kuhn_poker", "rndom", "random"], ["rndom", "NAME:VISITS", "qdts"]),
        (["match", "kuhn_poker", "random", "ismtcs:10"], ["ismtcs", "did you mean ismcts"]),
        (["match", "kuhn_poker", "qdts:-1", "random"], ["visits=-1"]),
        (["match", "kuhn_poker", "random", "openspiel:ismtcs"], ["ismtcs", "ismcts"]),
        (["match", "matrix_game", "random", "openspiel:uniform"], ["OpenSpiel", "matrix_game"]),
        (["evaluate", "kuhn_poker", "--policy", "playouts", "--value-noise", "0.1"], ["noise", "policy"]),
        (["match", "kuhn_poker", "random", "random", "--games", "0"], ["--games", "1"]),
    ],
    ids=lambda x: " ".join(x) if x else "",
)
def test_wrong_input_is_told_in_one_sentence(arguments: list[str], words: list[str], capsys: Output) -> None:
    check_failure(capsys, arguments, *words)


def test_policies_for_other_games(capsys: Output, kuhn: Path) -> None:
    for arguments in (
        ["search", "leduc_poker", "--policy", str(kuhn)],
        ["evaluate", "leduc_poker", "--policy", str(kuhn)],
        ["match", "leduc_poker", str(kuhn), "random"],
        ["match", "leduc_poker", "random", f"qdts:10@{kuhn}"],
    ):
        check_failure(capsys, arguments, "is a policy for kuhn_poker", "leduc_poker")
    noise = ["evaluate", "kuhn_poker", "--policy", str(kuhn), "--belief-noise", "3"]
    check_failure(capsys, noise, "belief_noise=3.0", "from 0 to 2")
    check_failure(
        capsys, ["search", "kuhn_poker", "--search", "ismcts", "--option", "eps_sample=0.2"], "eps_sample=0.2"
    )


TALKING = """
import sys
from qdts.cli.display import bar
from qdts.cli import main
bar.PAUSE = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_ends_a_match_with_what_is_finished() -> None:
    command = [sys.executable, "-c", TALKING, "match", "kuhn_poker", "random", "random", "--games", "100000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            told = re.fullmatch(r"kuhn_poker: random against random: ([\d,]+) of 100,000,000 games\n", line)
            assert told is not None
            if int(told[1].replace(",", "")) > 200:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "qdts: stopped by Ctrl-C"
    assert "stopped" in out
    assert "A's mean return" in out


def test_progress_on_a_terminal(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["match", "kuhn_poker", "qdts[c=0.2]:4", "random", "--games", "10"]) == 0
    printed = capsys.readouterr()
    assert "qdts[c=0.2]:4 against random" in printed.err
    assert "10/10" in printed.err
    assert "against" not in printed.out


@pytest.mark.parametrize("command", ["search", "evaluate", "match"])
def test_help_has_examples(command: str, capsys: Output) -> None:
    text = run_text(capsys, command, "--help")
    assert "Examples" in text
    assert f"qdts {command}" in text


def test_json_is_one_object_on_a_pipe() -> None:
    arguments = [sys.executable, "-m", "qdts", "search", "kuhn_poker", "--visits", "5", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["visits"] == 5
    assert done.stderr == ""

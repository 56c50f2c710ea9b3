"""`qdts search`: what it prints, and wrong input of search, evaluate and match."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.running import Output, check_failure, run_json, run_text
from qdts.cli import main
from qdts.cli.display import progress
from qdts.search.forest.machine import advance

SEARCH_KEYS = {"game", "state", "player", "search", "visits", "policy", "seed", "seconds", "nodes", "full", "actions"}


ACTION_KEYS = {"action", "number", "visits", "q_lo", "q_hi", "prior", "share", "move"}


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


@pytest.mark.parametrize("more", [[], ["--tree"]], ids=["plain", "tree"])
def test_the_clock_leaves_compiling_out(more: list[str], capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """It compiles with the first search, and says so meanwhile."""
    compiled = False

    def first_compile(*given: Any) -> Any:
        nonlocal compiled
        if not compiled:
            time.sleep(0.5)
            compiled = True
        return advance(*given)

    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr("qdts.search.forest.searcher.advance", first_compile)
    assert main(["search", "kuhn_poker", "--visits", "20", "--json", *more]) == 0
    printed = capsys.readouterr()
    assert compiled
    assert json.loads(printed.out)["seconds"] < 0.5
    assert "qdts: loading kuhn_poker (what is not compiled yet is compiled now, once), 0 s" in printed.err


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


def test_json_is_one_object_on_a_pipe() -> None:
    arguments = [sys.executable, "-m", "qdts", "search", "kuhn_poker", "--visits", "5", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["visits"] == 5
    assert done.stderr == ""


UNREACHABLE = "turn=2 bettor=0 cards=JJ bets=---"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "kuhn_poker", "--search", "qdst"], ["qdst", "did you mean qdts"]),
        (["search", "kuhn_poker", "--search", "uct"], ["uct", "perfect-information", "ismcts"]),
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
def test_wrong_input_gives_one_sentence(arguments: list[str], words: list[str], capsys: Output) -> None:
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

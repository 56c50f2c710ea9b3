"""`qdts match`: its figures, its progress, and Ctrl-C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.running import Output, interrupt, run_json, run_text
from qdts.cli import main

MATCH_KEYS = {"game", "a", "b", "seed", "games", "groups", "mean", "ci95", "by_seat", "interrupted", "seconds"}


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


TALKING = """
import sys
from qdts.cli.display import progress
from qdts.cli import main
progress.PAUSE = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_ends_a_match_with_what_is_finished() -> None:
    progress = re.compile(r"kuhn_poker: random against random: ([\d,]+) of 100,000,000 games\n")

    def many(line: str) -> bool:
        shown = progress.fullmatch(line)
        assert shown is not None
        return int(shown[1].replace(",", "")) > 200

    ended = interrupt(TALKING, "match", "kuhn_poker", "random", "random", "--games", "100000000", after=many)
    assert ended.code == 130
    assert "stopped" in ended.out
    assert "A's mean return" in ended.out


def test_progress_on_a_terminal(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["match", "kuhn_poker", "qdts[c=0.2]:4", "random", "--games", "10"]) == 0
    printed = capsys.readouterr()
    assert "qdts[c=0.2]:4 against random" in printed.err
    assert "10/10" in printed.err
    assert "against" not in printed.out

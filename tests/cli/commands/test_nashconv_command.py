"""`qdts nashconv`: its figures, its progress, and Ctrl-C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.running import Output, interrupt, run_json, run_text


def test_nashconv(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    solved = run_json(capsys, "solve", "kuhn_poker", "--iterations", "50", "--out", str(file))
    for method in ("sweep", "enumerate"):
        data = run_json(capsys, "nashconv", "kuhn_poker", "--policy", str(file), "--method", method)
        assert (data["method"], data["histories"], data["views"]) == (method, 58, 12)
        assert data["nash_conv"] == pytest.approx(solved["nash_conv"], abs=1e-12)
        assert data["values"] == pytest.approx(solved["values"], abs=1e-12)
        assert sum(data["gains"]) == data["nash_conv"]
    board = run_json(capsys, "nashconv", "tic_tac_toe")
    assert (board["method"], board["views"], board["histories"]) == ("positions", 4_520, None)
    text = run_text(capsys, "nashconv", "kuhn_poker", "--method", "sweep")
    assert "0.917" in text
    assert "2 worlds behind one view" in text


SWEEPING = """
import sys
from qdts.cli import main
from qdts.cli.commands import nashconv
nashconv.SECONDS_BETWEEN = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_a_sweep_reports_its_progress_and_stops_on_ctrl_c() -> None:
    progress = re.compile(r"player 0: 0.0%, [0-9,]+ histories, [0-9,]+ views, \d+ s")
    arguments = ("nashconv", "phantom_ttt", "--method", "sweep")
    ended = interrupt(SWEEPING, *arguments, after=lambda line: bool(progress.match(line)))
    assert (ended.code, ended.out) == (130, "")


@pytest.mark.parametrize("share", ["evaluating the policy", r"\d+\.\d%"])
def test_measuring_cell_by_cell_reports_its_progress_and_stops_on_ctrl_c(share: str) -> None:
    progress = re.compile(rf"player 0: {share}, [0-9,]+ views, \d+ s")
    ended = interrupt(SWEEPING, "nashconv", "phantom_ttt", after=lambda line: bool(progress.match(line)))
    assert (ended.code, ended.out) == (130, "")

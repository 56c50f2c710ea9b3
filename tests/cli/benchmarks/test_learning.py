"""`qdts bench learn`: the table of results is made cell by cell, and what is there is not made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qdts.cli import main
from qdts.cli.benchmarks import learning
from qdts.cli.benchmarks.learning import TASKS, Task, folder_of, tasks_of

ROOT = Path(__file__).parents[3]


def test_the_table_of_results() -> None:
    assert len(TASKS) == len({task.game for task in TASKS})
    assert [task.game for task in tasks_of("leduc")] == ["leduc_poker"]
    folders = {folder_of(Path("x"), task, 1) for task in TASKS}
    assert len(folders) == len(TASKS)
    assert all(folder.parent == Path("x") for folder in folders)
    files = [task.game for task in tasks_of("docs/examples")]
    assert all((ROOT / file).is_file() for file in files)
    assert len(files) == 3


def test_cells_are_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = (Task("kuhn_poker", 0.01, 1.0), Task("matrix_game", 0.01, 0.5, share=True))
    monkeypatch.setattr(learning, "TASKS", tasks)
    arguments = ["bench", "learn", "--out", str(tmp_path), "--seeds", "1,2", "--threads", "1"]
    assert main([*arguments, "--list"]) == 0
    assert capsys.readouterr().out.count("not made") == 2
    assert main([*arguments, "--only", "kuhn", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["game"], cell["seed"]) for cell in cells] == [("kuhn_poker", 1), ("kuhn_poker", 2)]
    assert all(0.0 < cell["nash_conv_average"] < cell["uniform"] == pytest.approx(11 / 12) for cell in cells)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}
    assert main([*arguments, "--only", "kuhn"]) == 0
    assert "reached" in capsys.readouterr().out
    assert files == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--seeds", "x"], "--seeds x makes no sense"), (["--only", "chess"], "contains 'chess'")]
)
def test_wrong_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "learn", *arguments]) == 2
    assert words in capsys.readouterr().err

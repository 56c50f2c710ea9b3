"""`qdts bench learn`: the table of results is made cell by cell, and what is there is not made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qdts.cli import main
from qdts.cli.benchmarks import learning
from qdts.cli.benchmarks.learning import TASKS, Task, folder_of, tasks_of
from qdts.cli.benchmarks.measures import (
    Figure,
    Measure,
    gain_on_first,
    most_memory,
    nash_conv,
    return_against,
    share_of_uniform,
    slowest_generation,
)
from qdts.cli.benchmarks.results_page import KIND, blocks_of
from qdts.pages import filled

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
    on_first = gain_on_first(20)
    tasks = (
        Task("kuhn_poker", 0.01, (nash_conv(1.0), return_against("random", 40)._replace(goal=-9.0), on_first)),
        Task("liars_dice(dice_sides=2)", 0.01, (share_of_uniform(0.5), slowest_generation(60), most_memory(10**5))),
    )
    monkeypatch.setattr(learning, "TASKS", tasks)
    arguments = ["bench", "learn", "--out", str(tmp_path), "--seeds", "1,2", "--threads", "1"]
    assert main([*arguments, "--list"]) == 0
    assert capsys.readouterr().out.count("not made") == 6
    assert main([*arguments, "--only", "kuhn", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["game"], cell["seed"]) for cell in cells] == [("kuhn_poker", 1), ("kuhn_poker", 2)]
    for cell in cells:
        distance, against, gained = cell["measures"]
        assert 0.0 < distance["value"] < distance["nash_conv_uniform"] == pytest.approx(11 / 12)
        assert against["name"] == "return against random"
        assert against["games"] == 40
        low, high = against["interval"]
        assert low < against["value"] < high
        assert gained["value"] == pytest.approx(gained["return"] - gained["return_of_first"])
    assert main([*arguments, "--only", "liars", "--seeds", "1", "--json"]) == 0
    share, slowest, memory = json.loads(capsys.readouterr().out)["cells"][0]["measures"]
    assert share["value"] == pytest.approx(share["nash_conv_average"] / share["nash_conv_uniform"])
    assert 0.0 < slowest["value"] < 10.0
    assert 50.0 < memory["value"] < 10_000.0
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}
    assert main([*arguments, "--only", "kuhn"]) == 0
    assert "reached" in capsys.readouterr().out
    assert files == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}

    kept, page = tmp_path / "measured" / "kept.jsonl", tmp_path / "page.md"
    page.write_text("# Results\n\n<!-- results: table -->\n<!-- end -->\n")
    assert main([*arguments, "--kept", str(kept), "--page", str(page), "--json"]) == 0
    of_runs = json.loads(capsys.readouterr().out)["cells"]
    assert len(kept.read_text().splitlines()) == 3
    elsewhere = [*arguments[:3], str(tmp_path / "elsewhere"), *arguments[4:], "--kept", str(kept)]
    assert main([*elsewhere, "--list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["cells"]
    assert found == [cell for cell in of_runs if cell["measures"]] + [cell for cell in found if not cell["measures"]]
    assert main([*elsewhere, "--only", "kuhn", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == of_runs[:1] + of_runs[2:3], "what is kept is not made again"
    assert not (tmp_path / "elsewhere").exists()
    lines = page.read_text().splitlines()
    assert "3 of 4 cells are made, of seeds 1, 2" in page.read_text()
    (line,) = (line for line in lines if line.startswith("| `kuhn_poker` | 0.01 | 1 | NashConv | at most 1 | 1: "))
    assert "| reached |" in line
    assert sum(line.startswith("|  |  |  | ") for line in lines) == 4, "a line for each further measure"
    kept.write_text(kept.read_text().replace('"minutes": 0.01', '"minutes": 0.02'))
    assert main([*elsewhere, "--list", "--json"]) == 0
    assert not any(cell["measures"] for cell in json.loads(capsys.readouterr().out)["cells"]), "a larger budget"
    kept.write_text('{"game": "kuhn_poker", "seed": 1, "minutes": 0.01}\n')
    assert main([*elsewhere, "--list"]) == 2
    assert "can't be read ('measures'): remove kuhn_poker 1" in capsys.readouterr().err
    kept.write_text("{\n")
    assert main([*elsewhere, "--list"]) == 2
    assert "line 1 of" in capsys.readouterr().err


def test_cells_of_a_smaller_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learning, "TASKS", (Task("kuhn_poker", 0.02, (nash_conv(1.0),)),))
    kept, page = tmp_path / "kept.jsonl", tmp_path / "page.md"
    page.write_text("<!-- results: table -->\n<!-- end -->\n")
    arguments = ["bench", "learn", "--out", str(tmp_path / "runs"), "--seeds", "1", "--threads", "1"]
    arguments += ["--kept", str(kept)]
    assert main([*arguments, "--share", "0.5", "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    assert cell["minutes"] == json.loads(kept.read_text())["minutes"] == 0.01
    (line,) = (tmp_path / "runs").glob("*/config.json")
    assert json.loads(line.read_text())["minutes"] == 0.01
    assert main([*arguments, "--page", str(page)]) == 0
    assert "| `kuhn_poker` | 0.02 (0.01) | 1 | NashConv |" in page.read_text()


@pytest.mark.parametrize(("goal", "minutes"), [(1.0, 0.01), (0.0, 0.02)])
def test_a_goal_that_is_missed_with_less_gets_the_rest(
    goal: float, minutes: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learning, "TASKS", (Task("kuhn_poker", 0.02, (nash_conv(goal),)),))
    arguments = ["bench", "learn", "--out", str(tmp_path), "--seeds", "1", "--threads", "1", "--json"]
    found = []
    for share in ("0.5", "1"):
        assert main([*arguments, "--share", share]) == 0
        found.append(json.loads(capsys.readouterr().out)["cells"][0])
    assert [cell["minutes"] for cell in found] == [0.01, minutes]
    assert (found[1]["generations"] > found[0]["generations"]) == (minutes > 0.01)
    assert (found[1]["measures"] != found[0]["measures"]) == (minutes > 0.01)


def test_the_page_shows_what_is_kept() -> None:
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    cells = learning.read_cells(Path("none"), TASKS, [401, 402, 403], ROOT / "docs" / "measured" / "learning.jsonl", 2)
    assert any(cell.is_made for cell in cells)
    assert filled(text, page, KIND, blocks_of(cells)) == text, "fill it: the command is on the page"


def test_what_counts_towards_a_goal() -> None:
    at_most, above, reported = nash_conv(0.1), return_against("random", 4), Measure("x", lambda _run, _n: Figure(1.0))
    assert at_most.is_reached([Figure(0.05), Figure(0.14)])
    assert not at_most.is_reached([Figure(0.05), Figure(0.16)])
    assert above.is_reached([Figure(0.2, (0.1, 0.3)), Figure(0.1, (-0.05, 0.25))])
    assert not above.is_reached([Figure(0.2, (-0.1, 0.5))])
    assert reported.is_reached([Figure(1.0)]) is above.is_reached([]) is None
    assert (at_most.words, above.words, reported.words) == ("at most 0.1", "above 0", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "x"], "--seeds x makes no sense"),
        (["--only", "chess"], "contains 'chess'"),
        (["--share", "1.5"], "--share is 1.5"),
    ],
)
def test_wrong_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "learn", *arguments]) == 2
    assert words in capsys.readouterr().err

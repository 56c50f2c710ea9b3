"""`qdts compare`: the table, the picture, the page, and wrong input."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cli.running import Output, check_failure, run_json, run_text
from qdts.cli import main
from qdts.learning.report.comparison import read_runs
from qdts.learning.run import Run


@pytest.fixture
def runs(kuhn_run: Run, tmp_path: Path) -> list[str]:
    """A run and a copy of it, with other figures and another seed."""
    copy = shutil.copytree(kuhn_run.folder, tmp_path / "copy")
    lines = [line | {"nash_conv_average": 0.25, "return_uniform": 0.5} for line in kuhn_run.metrics()]
    lines = [line | {"return_uniform_ci95": [0.25, 0.75], "match_games": 8} for line in lines]
    (copy / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(config | {"seed": 9}), encoding="utf-8")
    return [str(kuhn_run.folder), str(copy)]


def test_the_table_needs_neither_game_nor_networks(capsys: Output, runs: list[str]) -> None:
    config = Path(runs[1]) / "config.json"
    config.write_text(config.read_text(encoding="utf-8").replace("kuhn_poker", "./gone.py"), encoding="utf-8")
    assert main(["compare", *runs]) == 0
    printed = capsys.readouterr()
    assert "NashConv with averaged weights" in printed.out
    assert "0.25" in printed.out
    assert "return against uniform play" in printed.out
    assert "qdts: note: these are runs of different games" in printed.err
    alone = run_text(capsys, "compare", runs[0])
    assert "return against" not in alone


def test_as_json(capsys: Output, runs: list[str], kuhn_run: Run) -> None:
    data = run_json(
        capsys, "compare", *runs, "--metric", "nash_conv_average", "--metric", "nash_conv_search", "--across", "games"
    )
    assert (data["metrics"], data["across"]) == (["nash_conv_average", "nash_conv_search"], "games")
    first, second = data["runs"]
    assert (first["game"], first["seed"], second["game"], second["seed"]) == ("kuhn_poker", 0, "kuhn_poker", 9)
    lines = kuhn_run.metrics()
    expected = [[line["games"], line["nash_conv_average"]] for line in lines]
    assert first["curves"]["nash_conv_average"] == expected
    assert first["newest"] == {"nash_conv_average": lines[-1]["nash_conv_average"], "nash_conv_search": None}
    assert second["newest"]["nash_conv_average"] == 0.25
    [row] = lines[-1]["nash_conv_search"]
    assert first["curves"]["nash_conv_search, 4 visits"] == [[lines[-1]["games"], row["nash_conv"]]]


def test_picture_and_page(capsys: Output, runs: list[str], tmp_path: Path) -> None:
    png, page = tmp_path / "both.png", tmp_path / "both.html"
    names = ("nash_conv_average", "return_uniform", "games_per_second")
    chosen = [part for name in names for part in ("--metric", name)]
    text = run_text(capsys, "compare", *runs, *chosen, "--across", "generations", "--out", str(png), "--out", str(page))
    assert f"written: {png}" in text.replace("\n", "")
    assert png.read_bytes().startswith(b"\x89PNG")
    root = ET.fromstring(page.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))
    found = {kind: [e for e in root.iter() if e.tag.endswith(kind)] for kind in ("polyline", "polygon", "h2", "tr")}
    assert [len(found[kind]) for kind in ("polyline", "polygon", "h2", "tr")] == [2 + 1 + 2, 1, 3, 3]
    assert [e.text for e in root.iter() if e.text == "generations"] == ["generations"] * 4
    assert not [e for e in root.iter() if "script" in e.tag or "href" in e.attrib]


def test_runs_are_named_by_what_tells_them_apart(kuhn_run: Run, tmp_path: Path) -> None:
    folders = [shutil.copytree(kuhn_run.folder, tmp_path / name) for name in ("a/run", "b/run", "b/other")]
    assert [run.name for run in read_runs(folders)] == ["a/run", "b/run", "other"]


def test_wrong_input(capsys: Output, runs: list[str], tmp_path: Path) -> None:
    check_failure(capsys, ["compare", runs[0], str(tmp_path)], "is not the folder of a run")
    check_failure(capsys, ["compare", runs[0], runs[0]], "is given twice")
    check_failure(capsys, ["compare", runs[0], "--metric", "nash_conf"], "unknown metric 'nash_conf'", "nash_conv")
    check_failure(capsys, ["compare", runs[0], "--metric", "return_first"], "none of these runs has measured")
    check_failure(capsys, ["compare", runs[0], "--across", "days"], "unknown axis 'days'", "generations")
    check_failure(capsys, ["compare", runs[0], "--out", "x.gif"], "expected one that ends in .png, .svg, .pdf or .html")
    empty = shutil.copytree(runs[0], tmp_path / "empty")
    (empty / "metrics.jsonl").unlink()
    check_failure(capsys, ["compare", str(empty)], "has no complete generation yet")

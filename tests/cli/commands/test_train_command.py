"""`qdts train`: what it prints, what it keeps, and how it fails."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cli.running import Output, check_failure, interrupt
from qdts.cli import main
from qdts.cli.display.chart import spark
from qdts.cli.display.run import figures, show, warning
from qdts.cli.display.training import Display
from qdts.games.registry import load_game
from qdts.learning import measuring
from qdts.learning.config import SETTINGS, Config, flat
from qdts.learning.report.page import page
from qdts.learning.run import Run, open_run
from qdts.play.strength import OPPONENTS

KEYS = {
    *("game", "run", "seed", "generations", "seconds", "games", "nash_conv", "nash_conv_average", "nash_conv_search"),
    *(
        "nash_conv_uniform",
        "value_error",
        "belief_error",
        "nash_conv_generation",
        "nash_conv_search_generation",
        "return_generation",
        "interrupted",
    ),
    *(f"return_{name}{interval}" for name in OPPONENTS for interval in ("", "_ci95")),
}
TINY = [
    *("net.width=8", "net.layers=1", "search.visits=2", "play.games=20", "belief.games=20", "belief.steps=2"),
    *("fit.steps=2", "fit.rows=16", "measure.visits=2,4"),
]
QUICK = [part for setting in TINY for part in ("--set", setting)]


def train_json(capsys: Output, *arguments: str) -> dict[str, Any]:
    assert main(["train", *arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    data = json.loads(printed.out)
    assert {*data} == KEYS
    return data


def test_a_run_goes_on_as_if_it_had_never_stopped(capsys: Output, tmp_path: Path) -> None:
    constant = [
        "policy.step_last=0.5",
        "policy.uniform=0.1",
        "policy.uniform_last=0.1",
        "fit.rate_last=0.003",
        "belief.rate_last=0.001",
    ]  # whatever the budget is
    options = [*("--seed", "7"), *QUICK, *(part for setting in constant for part in ("--set", setting))]
    whole, parts = str(tmp_path / "whole"), str(tmp_path / "parts")
    data = train_json(capsys, "kuhn_poker", "--generations", "3", "--out", whole, *options)
    assert (data["game"], data["run"], data["seed"], data["generations"]) == ("kuhn_poker", whole, 7, 3)
    assert (data["games"], data["interrupted"]) == (60, False)
    assert [row["visits"] for row in data["nash_conv_search"]] == [2, 4]
    assert data["nash_conv"] == open_run(whole).metrics()[-1]["nash_conv"]
    assert data["nash_conv_uniform"] == pytest.approx(11 / 12)
    first = train_json(capsys, "kuhn_poker", "--generations", "2", "--out", parts, *options)
    more = train_json(capsys, "--resume", parts, "--generations", "3")
    assert (first["generations"], more["generations"]) == (2, 3)
    timeless = KEYS - {"run", "seconds"}
    assert {key: more[key] for key in timeless} == {key: data[key] for key in timeless}
    assert train_json(capsys, "--resume", parts) == more
    assert [line["generation"] for line in open_run(parts).metrics()] == [1, 2, 3]


def test_a_run_for_people(capsys: Output, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert main(["train", "kuhn_poker", "--generations", "2", "--out", str(folder), *QUICK]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    text = " ".join(printed.out.split())
    for words in (
        *("generation 2 100%", "NashConv", "exploitability is half of it", "averaged weights", "searched, 4 visits"),
        *("uniform play 0.917", "against seconds", "learnt", "equilibrium", "K; pass, bet", "report.html"),
    ):
        assert words in text, words
    root = ElementTree.parse(folder / "report.html").getroot()
    titles = {h2.text for h2 in root.iter("h2")}
    assert {"NashConv", "Losses", "Entropy of policy targets, in nats", "Games per second", "Settings"} <= titles
    curves = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert len(curves) == 2 + 4 + 2 + 2 + 1 + 1
    assert "Visits per second" not in titles, "nobody searched"
    assert all(len(curve.attrib["points"].split()) == 2 for curve in curves)
    [dashed] = [element for element in root.iter() if "stroke-dasharray" in element.attrib]
    assert dashed.attrib["d"].startswith("M54.0 ")
    assert "NashConv of uniform play (returns)</td><td><b>0.9167</b>" in (folder / "report.html").read_text("utf-8")
    assert not [element for element in root.iter() if "script" in element.tag or "href" in element.attrib]


def test_a_game_that_cannot_be_measured(capsys: Output, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    data = train_json(
        capsys, "kuhn_poker", "--generations", "2", "--out", str(folder), *QUICK, "--set", "measure.most=0"
    )
    exact = ("nash_conv", "nash_conv_average", "nash_conv_uniform", "nash_conv_search", "value_error")
    assert [data[key] for key in exact] == [None] * 5
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h2>NashConv</h2>" not in text
    assert "<h2>Losses</h2>" in text
    assert main(["train", "--resume", str(folder)]) == 0
    assert "generations" in capsys.readouterr().out


def test_measuring_takes_a_share_of_the_time(capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measuring.time_left(measuring=5.0, learning=0.0) == 0.0
    assert measuring.time_left(measuring=65.0, learning=240.0) == 0.0
    assert measuring.time_left(measuring=65.0, learning=240.0, share=0.5) == 60.0
    monkeypatch.setattr(measuring, "time_left", lambda spent, learning: 1.0 if spent == 0.0 < learning else -1.0)
    folder = tmp_path / "run"
    train_json(capsys, "kuhn_poker", "--generations", "4", "--out", str(folder), *QUICK)
    assert [line["generation"] for line in open_run(folder).metrics() if "nash_conv" in line] == [1, 4]


def test_a_report_of_many_generations_stays_small() -> None:
    run = Run(Path("nowhere"), load_game("kuhn_poker"), 0, Config(), generations=5000)
    lines: list[dict[str, Any]] = [
        {"generation": n, "games": 10 * n, "seconds": 0.1 * n, "visits": 100, "entropy": 0.5, "policy_loss": 1 / n}
        for n in range(1, 5001)
    ]
    for line in lines[:16]:
        line |= {"nash_conv": 1 / line["generation"], "nash_conv_average": 0.0}
    root = ElementTree.fromstring(page(run, lines))
    curves = [element.attrib["points"].split() for element in root.iter() if element.tag.endswith("polyline")]
    assert len(curves[0]) == 16
    assert max(map(len, curves)) < 500
    assert all([*map(float, dot.split(","))] for curve in curves for dot in curve)
    assert ElementTree.fromstring(page(run, [])).find(".//p") is not None
    nothing_searched = [*lines[:15], lines[15] | {"nash_conv_search": []}]
    assert "visits</td>" not in page(run, nothing_searched)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kuhn_poker", "--set", "serch.visits=3"], ["serch.visits", "did you mean search.visits"]),
        (["kuhn_poker", "--set", "search.visit=3"], ["search.visit", "did you mean search.visits"]),
        (["kuhn_poker", "--set", "search.explore=2"], ["search.explore=2.0", "from 0 to 1"]),
        (["kuhn_poker", "--set", "fit.rows=0"], ["fit.rows=0", "at least 1"]),
        (["kuhn_poker", "--set", "fit.rate=nan"], ["fit.rate=nan", "a positive number"]),
        (["kuhn_poker", "--set", "net.trunk=cnv"], ["cnv", "did you mean conv"]),
        (["kuhn_poker", "--set", "search.visits"], ["search.visits", "name=value"]),
        (["kuhn_poker", "--set", "search.name=ismcts"], ["search.name=ismcts", "mmds"]),
        (["kuhn_poker", "--set", "search.name=mdms"], ["mdms", "did you mean mmds"]),
        (["kuhn_poker", "--preset", "defualt"], ["defualt", "did you mean default"]),
        (["kuhn_poker", "--minutes", "1", "--generations", "2"], ["minutes and generations"]),
        (["kuhn_poker", "--minutes", "0"], ["minutes=0.0", "positive"]),
        (["kuhn_poker", "--generations", "0"], ["generations=0", "at least 1"]),
        (["khun_poker"], ["did you mean kuhn_poker"]),
        (["kuhn_poker", "--device", "gpu"], ["gpu", "cpu, cuda"]),
        (["--resume", ".", "--seed", "1"], ["--seed with --resume"]),
        (["--resume", "no_such_folder"], ["no_such_folder", "not the folder of a run"]),
        ([], ["GAME", "--resume"]),
    ],
    ids=lambda x: " ".join(x) if x else "",
)
def test_wrong_input_gives_one_sentence(
    arguments: list[str], words: list[str], capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_failure(capsys, ["train", *arguments], *words)
    assert [*tmp_path.iterdir()] == []


def test_folders_that_are_taken_or_no_runs(capsys: Output, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    check_failure(capsys, ["train", "kuhn_poker", "--out", str(tmp_path / "full")], "full", "expected a new one")
    (tmp_path / "config.json").write_text('{"format": "other", "format_version": 1}')
    check_failure(capsys, ["train", "--resume", str(tmp_path)], "other 1", "qdts-run 1")
    run = str(tmp_path / "run")
    train_json(capsys, "kuhn_poker", "--generations", "1", "--out", run, *QUICK)
    check_failure(capsys, ["train", "kuhn_poker", "--out", run], "--resume")
    check_failure(capsys, ["train", "leduc_poker", "--resume", run], "kuhn_poker", "leduc_poker")
    check_failure(capsys, ["train", "--resume", run, "--minutes", "1"], "expected generations, not minutes")


def test_missing_packages_and_devices(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    check_failure(capsys, ["train", "kuhn_poker", "--device", "cuda"], "cuda", "expected cpu")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find(name))
    check_failure(capsys, ["train", "kuhn_poker"], "learning needs torch", "pip install 'qdts[nets]'")


def test_settings_are_listed_with_their_meaning(capsys: Output) -> None:
    assert [*SETTINGS] == [*flat(Config())]
    assert all(setting.meaning for setting in SETTINGS.values())
    assert main(["train", "--settings", "kuhn_poker", "--set", "search.visits=77"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"search\.visits +77 ", text)
    assert all(name in text for name in flat(Config()))
    assert main(["train", "--settings", "--json"]) == 0
    assert {*json.loads(capsys.readouterr().out)} == {*flat(Config())}


INTERRUPTIBLE = """
import sys
from qdts.cli.display import training as follow
from qdts.cli import main
done = follow.Quiet.done
def tell(self, metrics, progress):
    done(self, metrics, progress)
    print("done", file=sys.stderr, flush=True)
follow.Quiet.done = tell
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_keeps_whole_generations(capsys: Output, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    command = ["train", "kuhn_poker", "--generations", "1000000", "--json", "--out", folder, *QUICK]
    ended = interrupt(INTERRUPTIBLE, *command, after=lambda line: line == "done\n")
    assert ended.code == 130
    data = json.loads(ended.out.splitlines()[-1])
    kept = f"qdts: generations kept: {data['generations']:,}; qdts train --resume {folder} continues"
    assert ended.err.splitlines()[-2] == kept
    assert data["interrupted"] is True
    run = open_run(folder)
    assert run.checkpoints()[-1] == run.metrics()[-1]["generation"] == data["generations"]
    assert f"<b>{data['generations']:,}</b>" in run.report.read_text(encoding="utf-8")
    goal = data["generations"] + 1
    assert train_json(capsys, "--resume", folder, "--generations", str(goal))["generations"] == goal


MEASURED_SLOWLY = """
import sys, time
from qdts.cli import main
from qdts.learning import search_measure
measure = search_measure.searched_nash_conv
def slow(game, options, visits, *rest, **named):
    if visits == 4:
        print("measuring 4 visits", file=sys.stderr, flush=True)
        time.sleep(60)
    return measure(game, options, visits, *rest, **named)
search_measure.searched_nash_conv = slow
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_while_the_searched_policy_is_measured_keeps_everything(capsys: Output, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    command = ["train", "kuhn_poker", "--generations", "2", "--json", "--out", folder, *QUICK]
    ended = interrupt(MEASURED_SLOWLY, *command, after=lambda line: line == "measuring 4 visits\n")
    assert ended.code == 130
    data = json.loads(ended.out.splitlines()[-1])
    assert (data["generations"], data["interrupted"]) == (2, True)
    assert [row["visits"] for row in data["nash_conv_search"]] == [2]
    assert ended.err.splitlines()[-2] == "qdts: generations kept: 2; the run is complete"
    assert open_run(folder).checkpoints() == [1, 2]
    assert main(["train", "--resume", folder]) == 0
    printed = capsys.readouterr().out
    assert "Not measured: the searched policy with 4 visits." in printed
    assert f" qdts evaluate {folder} --visits 4 does it." in printed


def test_measures_name_the_generation_that_was_measured(kuhn_run: Run, tmp_path: Path) -> None:
    """Between two generations that are measured, and after a resumption, the last one was not."""
    shutil.copytree(kuhn_run.folder, tmp_path / "run")
    run = open_run(tmp_path / "run")
    first, second, third = run.metrics()
    measured = ("nash_conv", "nash_conv_average", "nash_conv_search", "value_error", "belief_error")
    last = {name: value for name, value in third.items() if name not in measured}
    lines = [first | {"nash_conv_search": third["nash_conv_search"]}, second | {"nash_conv": 0.125}, last]
    (run.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = figures(run, interrupted=True)
    assert (found["generations"], found["nash_conv"], found["nash_conv_generation"]) == (3, 0.125, 2)
    assert found["nash_conv_search_generation"] == 1
    screen = Console(file=io.StringIO(), width=120)
    with screen.capture() as capture:
        show(screen, run, found)
    text = capture.get()
    assert re.search(r"measured +generation 2 of 3", text)
    assert re.search(r"searched, 4 visits +\S+ +generation 1 ", text)
    assert "Strategy of generation 3 with averaged weights" in text
    report = page(run, run.metrics())
    assert "NashConv (returns), generation 2</td><td><b>0.125</b>" in report
    assert "4 visits, generation 1</td>" in report
    with Display(screen) as display:
        display.begin(run)
        with screen.capture() as capture:
            screen.print(display.render())
    assert "NashConv of generation 2 0.125" in capture.get()


def test_a_run_that_plays_worse_than_at_random_says_so(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "uniform_nash_conv", lambda _: 0.001)
    folder = tmp_path / "run"
    for options in (["kuhn_poker", "--generations", "1", "--out", str(folder), *QUICK], ["--resume", str(folder)]):
        assert main(["train", *options, "--json"]) == 0
        printed = capsys.readouterr()
        assert re.fullmatch(
            r"qdts: warning: NashConv with averaged weights, \S+, is above that of uniform play, 0\.001: .*\n",
            printed.err,
        )
        assert json.loads(printed.out)["nash_conv_uniform"] == 0.001


def test_a_game_with_too_many_information_sets_to_be_measured_says_so(capsys: Output, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = ["--generations", "1", "--out", str(folder), *QUICK, "--set", "measure.most=11"]
    assert main(["train", "kuhn_poker", *options]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Not measured: NashConv, since the game has 12 information sets and measure.most is 11." in text
    assert f"qdts nashconv {folder} does it." in text


@pytest.mark.parametrize(("average", "warned"), [(0.9, False), (0.93, False), (0.95, True), (None, False)])
def test_only_a_distance_that_matters_is_warned_of(average: float | None, warned: bool, tmp_path: Path) -> None:
    """S is 2 in Kuhn poker; where uniform play is all but an equilibrium nothing that is learned is below it."""
    run = Run(tmp_path, load_game("kuhn_poker"), 0, Config(), generations=8)
    assert (warning(run, {"nash_conv_average": average, "nash_conv_uniform": 0.917}) is not None) == warned


def test_the_live_display_shows_figures_and_time_left(tmp_path: Path) -> None:
    run = Run(tmp_path, load_game("kuhn_poker"), 0, Config(), generations=8)
    screen = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    with Display(screen) as display:
        display.begin(run)
        display.doing("self-play", 0.25)
        exact = {"nash_conv": 1.0, "nash_conv_average": 1.0, "nash_conv_uniform": 0.917}
        display.done({"generation": 1, "games": 100, "seconds": 2.0, **exact}, 0.125)
        display.done({"generation": 2, "games": 500, "seconds": 4.0, **exact, "nash_conv": 0.1}, 0.25)
        display.completed_at += 3600.0
        with screen.capture() as capture:
            screen.print(display.render())
    text = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
    for words in ("learning kuhn_poker", "generation 1: self-play, 25%", "generation 2", "NashConv 0.1", "200 games/s"):
        assert words in text
    assert "uniform play 0.917" in text
    assert re.search(r"\d:\d\d left", text)
    assert "█▁" in text


def test_the_summary_of_a_game_that_is_measured_cell_by_cell(tmp_path: Path) -> None:
    run = Run(tmp_path, load_game("phantom_ttt"), 0, Config(), minutes=1.0)
    exact = {"nash_conv_average": 0.5, "nash_conv_uniform": 1.5775}
    line = {"generation": 4, "games": 9, "seconds": 3.0}
    matches = {"match_games": 32, "return_uniform": 0.25, "return_uniform_ci95": [0.125, 0.375]}
    screen = Console(file=io.StringIO(), width=120)
    for figures_of, words in (
        (line | exact | matches, ["NashConv with averaged weights", "0.5 ", "1.58", "generation 4 of 4"]),
        (line | matches, ["Not measured: NashConv", f"qdts evaluate {tmp_path}"]),
    ):
        (tmp_path / "metrics.jsonl").write_text(json.dumps(figures_of) + "\n", encoding="utf-8")
        with screen.capture() as capture:
            show(screen, run, figures(run, interrupted=False))
        text = capture.get()
        for word in [*words, "against uniform play", "+0.25   +0.125 to +0.375"]:
            assert word in text
    with Display(screen) as display:
        display.begin(run)
        with screen.capture() as capture:
            screen.print(display.render())
    assert "return against   uniform play +0.25 ± 0.12   generation 4" in capture.get()


def test_sparks() -> None:
    assert spark([1.0, 0.1, 0.01]) == "█▅▁"
    assert spark([]) == spark([0.0]) == ""
    assert len(spark([1.0] * 100, width=7)) == 7

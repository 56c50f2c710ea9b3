"""What a run measures where its game can't be listed: matches, and NashConv cell by cell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from qdts import load_agent, load_game, nash_conv, uniform_policy
from qdts.cli.display.run import figures
from qdts.games import Game
from qdts.learning import by_cells, loop, measuring
from qdts.learning import measure as learning_measure
from qdts.learning.config import preset
from qdts.learning.loop import Nobody, resume, train
from qdts.learning.measuring import goes_by_cells, is_due, time_left
from qdts.learning.metrics import Line, returns_of
from qdts.learning.report.page import page
from qdts.learning.run import Run
from qdts.solving import measure as solving_measure
from qdts.solving.measure import Measurement, measure_policy

TINY = [
    *("net.width=8", "net.layers=1", "play.games=20", "search.visits=2", "fit.steps=2", "fit.rows=16"),
    *("belief.games=20", "belief.steps=2", "measure.visits=2", "measure.games=32"),
]
HEX = "dark_hex(gameversion=adh,num_cols=2,num_rows=2)"


def timeless(lines: list[Line]) -> list[Line]:
    return [{k: v for k, v in line.items() if k not in ("seconds", "memory")} for line in lines]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every game counts as too large to be listed, and is measured cell by cell in no time."""
    monkeypatch.setattr(learning_measure, "handy_tree", lambda _: None)
    monkeypatch.setattr(solving_measure, "handy_tree", lambda _: None)
    monkeypatch.setattr(by_cells, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(measuring, "CELLS_LEAST", 0.0)
    monkeypatch.setattr(measuring, "expected_seconds", lambda _network, _uniform: 0.0)


def test_which_generations_are_due() -> None:
    due = [generation for generation in range(1, 129) if is_due(generation)]
    assert due == [*range(1, 33), *range(34, 65, 2), *range(68, 129, 4)]
    assert time_left(5.0, 0.0) == 0.0
    assert time_left(10.0, 40.0, share=0.5) == 15.0


def test_a_game_that_is_not_measured_shows_its_strength(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches in every generation, the same after a resumption; the report and the summary have them."""
    monkeypatch.setattr(measuring, "time_left", lambda *_: float("inf"))
    settings = [*TINY, "measure.most=0"]
    run = train("kuhn_poker", generations=4, out=tmp_path / "run", seed=3, settings=settings)
    lines = run.metrics()
    opponents = ["uniform play", "a small search", "the first checkpoint", "an earlier checkpoint"]
    assert [len(returns_of(line)) for line in lines] == [2, 3, 3, 4]
    assert [found.opponent for found in returns_of(lines[-1])] == opponents
    assert [line["match_games"] for line in lines] == [64, 96, 96, 128]
    for found in returns_of(lines[-1]):
        assert found.interval is not None
        assert found.interval[0] < found.mean < found.interval[1]
    text = page(run, lines)
    assert "<h2>Mean return against others, with 95 % intervals</h2>" in text
    assert text.count("<polygon") == 4
    assert "return against the first checkpoint</td><td><b>" in text
    summary = figures(run, interrupted=False)
    assert (summary["return_generation"], summary["nash_conv"]) == (4, None)
    assert summary["return_uniform"] == lines[-1]["return_uniform"]
    half = train("kuhn_poker", generations=2, out=tmp_path / "half", seed=3, settings=settings)
    resume(half.folder, generations=4)
    # schedules follow the budget, so the run with the same budget all along is compared from its own middle
    shutil.copytree(run.folder, tmp_path / "cut")
    for number in (3, 4):
        (tmp_path / "cut" / "checkpoints" / f"{number:06d}.safetensors").unlink()
    assert timeless(resume(tmp_path / "cut").metrics()) == timeless(lines)


def test_matches_can_be_left_out(tmp_path: Path) -> None:
    settings = [*TINY, "measure.most=0", "measure.games=0"]
    run = train("kuhn_poker", generations=2, out=tmp_path / "run", settings=settings)
    assert not any(returns_of(line) for line in run.metrics())


def test_matches_wait_for_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "time_left", lambda *_: measuring.MATCH_LEAST - 0.1)
    run = train("kuhn_poker", generations=3, out=tmp_path / "run", settings=[*TINY, "measure.most=0"])
    assert [len(returns_of(line)) for line in run.metrics()] == [0, 0, 3], "the last one is measured in any case"


@pytest.mark.usefixtures("large")
def test_nash_conv_cell_by_cell_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def counted(game: Game, policy: Any, **named: Any) -> Measurement:
        measured.append(policy)
        return measure_policy(game, policy, **named)

    monkeypatch.setattr(by_cells, "measure_policy", counted)
    monkeypatch.setattr(measuring, "time_left", lambda *_: 1e9)  # however busy the machine is
    run = train(HEX, generations=3, out=tmp_path / "run", settings=TINY)
    last = run.metrics()[-1]
    assert last["nash_conv_average"] == pytest.approx(nash_conv(run.game, load_agent(run).table(), method="enumerate"))
    assert last["nash_conv_uniform"] == pytest.approx(nash_conv(run.game, uniform_policy(run.game), method="enumerate"))
    assert "nash_conv" not in last
    assert len(returns_of(last)) == 3, "and matches besides"
    assert len(measured) == 1 + 3, "uniform play once, and every kept checkpoint"
    assert by_cells.uniform_by_cells(run.game, lambda *_: None).nash_conv == last["nash_conv_uniform"]
    assert len(measured) == 4, "the figure of uniform play is kept"
    [file] = (tmp_path / "cache" / "uniform").iterdir()
    file.write_text("{", encoding="utf-8")
    assert by_cells.known_uniform(run.game) is None, "a damaged file is as good as none"
    assert figures(run, interrupted=False)["nash_conv_generation"] == 3


@pytest.mark.usefixtures("large")
def test_what_would_take_longer_than_the_run_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "expected_seconds", lambda _network, _uniform: 1e9)
    run = train(HEX, generations=1, out=tmp_path / "run", settings=TINY)
    assert "nash_conv_average" not in run.metrics()[-1]
    assert goes_by_cells(run)
    assert not goes_by_cells(Run(Path("x"), load_game("kuhn_poker"), 0, preset(), generations=1))


@pytest.mark.usefixtures("large")
def test_ctrl_c_while_measuring_keeps_the_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "network_by_cells", stop)
    watched: list[Line] = []

    class Watch(Nobody):
        def done(self, metrics: Line, progress: float) -> None:  # noqa: ARG002
            watched.append(metrics)

    with pytest.raises(KeyboardInterrupt):
        loop.train(HEX, generations=1, out=tmp_path / "run", settings=TINY, watch=Watch())
    [line] = [json.loads(text) for text in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert line == watched[0]
    assert "return_uniform" in line
    assert "nash_conv_average" not in line
    assert (tmp_path / "run" / "checkpoints" / "000001.safetensors").is_file()

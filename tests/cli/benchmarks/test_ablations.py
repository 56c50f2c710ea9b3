"""Ablations: ideas with possible settings, cells that are made once and resumed, and the page that shows them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qdts import InputError, load_game
from qdts.cli import main
from qdts.cli.benchmarks.ablation_page import KIND, Cells, blocks_of, missing, of_game
from qdts.cli.benchmarks.ablations import (
    BY_NAME,
    DEFAULT,
    EVERY,
    IDEAS,
    SEARCH,
    Cell,
    Made,
    cells_of,
    file_of,
    make_cell,
    read_cell,
    settings_of,
)
from qdts.cli.benchmarks.cells import train_cell
from qdts.cli.benchmarks.workers import make_cells
from qdts.learning.config import Config, preset, read_settings
from qdts.learning.experience.searched import search_options
from qdts.learning.loop import Nobody
from qdts.learning.metrics import Line
from qdts.pages import filled

PAGE = Path(__file__).parents[3] / "docs" / "ablations.md"
TINY = ("net.width=8", "net.layers=1", "play.games=8", "belief.games=8", "fit.steps=1", "belief.steps=1")


def tiny(seed: int = 1, *settings: str, idea: str = DEFAULT) -> Cell:
    return Cell(idea, "kuhn_poker", seed, 0.003, (*TINY, *settings))


def test_ideas_are_possible() -> None:
    """Their settings are, in all of their games; each comes after its base, and differs from it."""
    assert len(BY_NAME) == len(IDEAS)
    for at, idea in enumerate(IDEAS):
        config = read_settings(settings_of(idea), Config())
        base = BY_NAME[idea.base]
        assert IDEAS.index(base) <= at
        assert (config == read_settings(settings_of(base), Config())) == (base is idea)
        for game in idea.games:
            search_options(load_game(game), config, 0.0)
    document = read_settings(settings_of(BY_NAME["document"]), Config())
    assert document == preset("document")
    assert read_settings(settings_of(BY_NAME[SEARCH]), Config()).play.by == "search"


def test_cells() -> None:
    cells = cells_of([], [], [1, 2], 3.0)
    assert len(cells) == len({cell.name for cell in cells}) == 2 * sum(len(idea.games) for idea in IDEAS)
    assert [cell.seed for cell in cells] == sorted(cell.seed for cell in cells)
    few = cells_of(["default", "magnet"], ["kuhn"], [7], 1.0)
    assert [(c.idea, c.game, c.seed) for c in few] == [("default", "kuhn_poker", 7), ("no-magnet", "kuhn_poker", 7)]


def test_a_cell_is_made_once(tmp_path: Path) -> None:
    assert read_cell(tmp_path, tiny()) is None
    assert make_cell(tmp_path, tiny())
    made = read_cell(tmp_path, tiny())
    assert made is not None
    assert made.generations >= 1
    assert made.nash_conv is not None
    assert made.belief_error is not None
    assert made.uniform == pytest.approx(11 / 12)
    assert made.parameters == sum(n * 8 + 8 + 8 * out + out for n, out in sizes())
    assert not (tmp_path / "runs" / tiny().name).exists(), "its run is not kept"
    before = file_of(tmp_path, tiny()).stat().st_mtime_ns
    assert make_cell(tmp_path, tiny())
    assert file_of(tmp_path, tiny()).stat().st_mtime_ns == before
    assert read_cell(tmp_path, tiny(1, "fit.rows=64")) is None, "made with other settings"
    assert read_cell(tmp_path, replace(tiny(), minutes=5.0)) is None


def sizes() -> list[tuple[int, int]]:
    """Inputs and outputs of the towers of P and of V, and of H, in Kuhn poker."""
    from qdts.nets.encoding import shape_of

    shape = shape_of(load_game("kuhn_poker"))
    return [
        (shape.inputs, shape.actions),
        (shape.inputs, shape.outputs - shape.actions),
        (shape.belief_inputs, shape.values),
    ]


class Stopping(Nobody):
    """Interrupts a run after some generations, as a kill would."""

    def done(self, metrics: Line, progress: float) -> None:  # noqa: ARG002
        if metrics["generation"] == 3:
            raise KeyboardInterrupt


def test_what_was_stopped_is_resumed(tmp_path: Path) -> None:
    cell = replace(tiny(), minutes=0.02)
    folder = tmp_path / "runs" / cell.name
    folder.parent.mkdir(parents=True)
    folder.with_suffix(".json").write_text(json.dumps(cell.__dict__))
    with pytest.raises(KeyboardInterrupt):
        train_cell(folder, cell.game, cell.minutes, cell.seed, settings=cell.settings, watch=Stopping())
    first = (folder / "metrics.jsonl").read_text().splitlines()[:3]
    assert make_cell(tmp_path, cell, keep=True)
    assert (folder / "metrics.jsonl").read_text().splitlines()[:3] == first
    made = read_cell(tmp_path, cell)
    assert made is not None
    assert made.generations > 3


def test_workers(tmp_path: Path) -> None:
    """Each cell by a process of its own; what fails is told, and keeps nothing else from being made."""
    cells = [tiny(1), tiny(2, "net.width=0.5", idea="wrong"), tiny(3)]
    begun: list[Cell] = []
    done = {d.cell: d.fault for d in make_cells(tmp_path, cells, 2, begin=begun.append)}
    assert begun == cells
    assert done.keys() == {*cells}
    assert done[cells[0]] is done[cells[2]] is None
    assert "net.width=0.5 is not possible" in (done[cells[1]] or "")
    assert [read_cell(tmp_path, cell) is not None for cell in cells] == [True, False, True]


def made(idea: str, seed: int, nash_conv: float | None) -> Made:
    cell = next(c for c in cells_of([idea], ["kuhn"], [seed], 3.0) if c.idea == idea)
    return Made(cell, 100 * seed, 1000, nash_conv, 0.5, 0.9, 0.01, None, 500.0, 1234)


def test_tables() -> None:
    wanted = cells_of([], ["kuhn"], [1, 2], 3.0)
    cells = Cells(wanted, [made("default", 1, 0.1), made("default", 2, 0.2), made("no-magnet", 2, 0.3)])
    lines = of_game(cells, "kuhn_poker").splitlines()
    row = next(line for line in lines if "no-magnet" in line)
    assert "| 0.300 | 0.300 | 1.50 (0 of 1 smaller) | 0.0100 | – | 200 |" in row, "the same seeds are compared"
    assert "| 0.100, 0.200 | 0.150 | – |" in next(line for line in lines if "`default`" in line)
    assert "uniform play: 0.900" in lines[-1]
    assert f"3 of {len(wanted)} cells are made: 3 minutes, seeds 1, 2." in missing(cells)
    assert "- `no-magnet`: kuhn_poker 1" in missing(cells)
    with pytest.raises(InputError, match="unknown game of the ablations 'chess'"):
        of_game(cells, "chess")


def test_the_page_has_a_place_for_every_game() -> None:
    text = PAGE.read_text(encoding="utf-8")
    page = filled(text, PAGE, KIND, blocks_of(Cells(cells_of([], [], [1], 3.0), [])))
    assert all(f"<!-- ablations: game {game} -->" in text for game in EVERY)
    assert page.count("not made") >= sum(len(set(idea.games) & {*EVERY}) for idea in IDEAS)
    assert "| 5 × 6 | 252 | 6 | 61 | 17 |" in page


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ablate", "--out", str(tmp_path), "--seeds", "1", "--game", "kuhn", "--only", "magnet"]
    assert main([*arguments, "--list"]) == 0
    assert "0 of 1 cells are made" in capsys.readouterr().out
    assert main([*arguments, "--minutes", "0.01", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["missing"] == []
    assert data["cells"][0]["idea"] == "no-magnet"
    page, kept = tmp_path / "page.md", tmp_path / "measured" / "kept.jsonl"
    page.write_text("<!-- ablations: game kuhn_poker -->\n<!-- end -->\n")
    arguments += ["--minutes", "0.01", "--kept", str(kept)]
    assert main([*arguments, "--page", str(page)]) == 0
    assert "| `no-magnet` |" in page.read_text()
    shutil.rmtree(tmp_path / "cells")
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == data["cells"], "what is kept is not made again"
    assert not (tmp_path / "cells").exists()
    assert main([*arguments, "--minutes", "0.02", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == [], "another budget is another cell"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "x"], "--seeds x makes no sense"),
        (["--only", "chess"], "no cell has an idea and a game of these names"),
        (["--minutes", "0"], "minutes=0.0 is not possible"),
    ],
)
def test_wrong_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", *arguments]) == 2
    assert words in capsys.readouterr().err

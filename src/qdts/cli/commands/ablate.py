"""`qdts ablate`: switch every idea alone, measure what it changes, and fill the page that shows it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson, Kept, read_seeds
from qdts.cli.display.output import console, print_json
from qdts.errors import InputError
from qdts.packages import verify_installed

if TYPE_CHECKING:
    from qdts.cli.benchmarks.ablation_page import Cells
    from qdts.cli.benchmarks.ablations import Cell

EXAMPLES = """[bold]Examples[/]
  qdts ablate --list                                        # the ideas, and what is made
  qdts ablate --only default --only no-baseline --game leduc
  qdts ablate --workers 16                                  # the whole table: hours of CPU time
  qdts ablate --kept docs/measured/ablations.jsonl --workers 2 --seeds 1
  qdts ablate --kept docs/measured/ablations.jsonl --page docs/ablations.md

Each idea, game and seed is a cell: a run in the folder of --out, and when it
has spent its minutes a JSON file with its figures. What is there, or in the
file of --kept, is not made again. After Ctrl-C, or a kill, the same command
goes on where it was."""


def ablate(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only ideas whose name contains this; can be repeated.", show_default=False),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(help="Only games whose name contains this; can be repeated.", show_default=False),
    ] = None,
    minutes: Annotated[float, typer.Option(help="Minutes of self-play and training in each cell.")] = 3.0,
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between.")] = "1,2,3",
    workers: Annotated[int, typer.Option(min=1, help="Processes side by side, each on one thread.")] = 1,
    out: Annotated[Path, typer.Option(help="The folder of the cells.")] = Path("runs/ablations"),
    kept: Kept = None,
    page: Annotated[
        Path | None, typer.Option(help="Make no cell: fill the tables of this page.", show_default=False)
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Make nothing: show the ideas, and what is made.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the runs of cells that are made.")] = False,
    as_json: AsJson = False,
) -> None:
    """What each idea is worth: train with it switched alone, on a few games, beside its base."""
    verify_installed("learning needs", "nets")
    from qdts.cli.benchmarks.ablation_page import KIND, Cells, blocks_of
    from qdts.cli.benchmarks.ablations import as_line, cells_of, name_of, read_cells
    from qdts.cli.benchmarks.kept import keep as keep_lines
    from qdts.learning.run import verify_budget
    from qdts.pages import fill_page

    verify_budget(minutes, None)
    cells = cells_of(only or [], game or [], read_seeds(seeds), minutes)
    if not cells:
        raise InputError("no cell has an idea and a game of these names, expected parts of names: see --list")
    faults = []
    if page is None and not list_:
        faults = _make(out, Cells(cells, read_cells(out, cells, kept)).missing, workers, keep)
    made = Cells(cells, read_cells(out, cells, kept))
    if kept is not None and not list_:
        keep_lines(kept, map(as_line, made.made), name_of)
    if page is not None:
        fill_page(page, KIND, blocks_of(made))
    if as_json:
        print_json({"cells": [_data(m) for m in made.made], "missing": [c.name for c in made.missing]})
    else:
        _show(made)
    if faults:
        raise InputError(f"{len(faults)} of {len(cells)} cells failed; the first, {faults[0]}")


def _make(out: Path, cells: list[Cell], workers: int, keep: bool) -> list[str]:
    """Make cells, with a line on standard error for each; returns what went wrong."""
    from qdts.cli.benchmarks.workers import make_cells
    from qdts.learning.compilation import compile_ahead

    if not cells:
        return []
    compile_ahead(lambda made, of: _say(f"compiling kernels, {made} of {of}"))
    began, faults = time.perf_counter(), []
    for number, done in enumerate(make_cells(out, cells, workers, keep=keep), 1):
        _say(f"{number} of {len(cells)}, {time.perf_counter() - began:.0f} s: {done.cell.name}")
        if done.fault is not None:
            faults.append(f"{done.cell.name}: {done.fault}")
            _say(faults[-1])
    return faults


def _data(made: Any) -> dict[str, Any]:
    """A made cell for JSON."""
    from dataclasses import asdict

    figures = made._asdict()
    return asdict(figures.pop("cell")) | figures


def _show(cells: Cells) -> None:
    """Print NashConv of every idea and game."""
    from statistics import fmean

    from rich import box
    from rich.table import Table

    from qdts.cli.benchmarks.ablations import BY_NAME
    from qdts.cli.display.output import number

    table = Table("idea", "source", "game", "NashConv of each seed", "mean", "generations", box=box.SIMPLE_HEAD)
    before = None
    for idea, game in dict.fromkeys((cell.idea, cell.game) for cell in cells.wanted):
        made = cells.of(idea, game)
        values = [m.nash_conv for m in made if m.nash_conv is not None]
        each = ", ".join(map(number, values)) if made else "not made"
        mean = number(fmean(values)) if values else ""
        generations = f"{fmean(m.generations for m in made):,.0f}" if made else ""
        first = (idea, BY_NAME[idea].source) if idea != before else ("", "")
        table.add_row(*first, game, each, mean, generations)
        before = idea
    console().print(table)
    left = len(cells.missing)
    console().print(
        f"[dim]{len(cells.wanted) - left} of {len(cells.wanted)} cells are made. NashConv: averaged weights.[/]"
    )


def _say(text: str) -> None:
    print("qdts:", text, file=sys.stderr, flush=True)

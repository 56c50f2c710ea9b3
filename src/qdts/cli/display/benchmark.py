"""The rows of `qdts bench`, for people and for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdts.cli.display.output import number

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.cli.benchmarks.learning import Cell
    from qdts.cli.benchmarks.measures import Figure
    from qdts.cli.benchmarks.rows import Entry, Row

VERDICTS = {True: "[green]met[/]", False: "[red]not met[/]", None: "[yellow]not known[/]"}


def as_data(row: Row) -> dict[str, Any]:
    """A row as --json prints it."""
    entries = [{**dataclasses.asdict(entry), "figure": entry.figure} for entry in row.entries]
    return {**dataclasses.asdict(row), "entries": entries, "ratios": row.ratios}


def show_machine(screen: Console, machine: Mapping[str, Any]) -> None:
    """Print the machine that figures come from, in one line."""
    screen.print(", ".join(f"{key} {value}" for key, value in machine.items()), style="dim")


def show_row(screen: Console, row: Row) -> None:
    """Print a row: its figures, its targets and its clock."""
    from rich.table import Table

    about = " · ".join(part for part in (row.game, row.algorithm, f"threads {row.threads}", row.unit) if part)
    screen.print(f"\n[bold]{row.name}[/]  {about}")
    if row.circumstances:
        screen.print(f"  {row.circumstances}", markup=False)
    grid = Table.grid(padding=(0, 2))
    for column in ("left", "right", "right", "left"):
        grid.add_column(justify=column)
    for entry in row.entries:
        grid.add_row(f"  {entry.who}", *_cells(row, entry))
    screen.print(grid)
    for target in row.targets:
        screen.print(f"  target: {target.words}: {VERDICTS[target.met]}")
    screen.print(f"  [dim]clock: {row.clock}[/]")


def show_learning_speed(screen: Console, speed: Mapping[str, Any], *, generations: int, setup: str) -> None:
    """Print how fast a game is learned; `setup` says on what."""
    screen.print(f"\n[bold]learning[/]  {speed['game']} · {setup}", highlight=False)
    for key in ("games", "visits", "evaluations"):
        screen.print(f"  {figure_text(speed[f'{key}_per_second']):>9} {key}/s")
    shares = ", ".join(f"{part} {share:.0%}" for part, share in speed["shares"].items())
    screen.print(f"  share of time: {shares}")
    screen.print(f"  [dim]clock: {generations} generations, without compiling, measuring and checkpoints[/]")


def show_results(screen: Console, cells: Sequence[Cell]) -> None:
    """Print what was reached in each game, with all seeds: a line for each measure."""
    from rich import box
    from rich.table import Table

    from qdts.cli.benchmarks.learning import minutes_of

    table = Table("game", "minutes", "measure", "goal", "each seed", "mean", "", box=box.SIMPLE_HEAD)
    for task in dict.fromkeys(cell.task for cell in cells):
        of = [cell for cell in cells if cell.task == task]
        first = [task.game, minutes_of(task, of)]
        for measure in task.measures:
            found = [cell.figures[measure.name] for cell in of if measure.name in cell.figures]
            each = ", ".join(map(_figure_words, found)) or "not made"
            mean = number(sum(figure.value for figure in found) / len(found)) if found else ""
            verdict = {True: "reached", False: "missed", None: ""}[measure.is_reached(found)]
            table.add_row(*first, measure.name, measure.words, each, mean, verdict)
            first = ["", ""]
    screen.print(table)
    screen.print(
        "[dim]NashConv of P with averaged weights, exact. In brackets: 95 % intervals, whose lower ends count. "
        "Minutes: self-play and fitting alone; in brackets, what a run had that did with less.[/]"
    )


def _figure_words(figure: Figure) -> str:
    """The value, with its interval."""
    if figure.interval is None:
        return number(figure.value)
    return f"{number(figure.value)} ({number(figure.interval[0])} to {number(figure.interval[1])})"


def figure_text(figure: float) -> str:
    """Whole numbers from 100 on, three significant digits below."""
    return f"{figure:,.0f}" if figure >= 100 else number(figure)


def _cells(row: Row, entry: Entry) -> tuple[str, str, str]:
    """The figure, how many times better ours is, and a note."""
    if entry.figure is None:
        return "", "", entry.note
    ratio = f"{row.ratios[entry.who]:,.1f} times" if entry.who in row.ratios else ""
    spread = f"median of {len(entry.turns)}, {figure_text(min(entry.turns))} to {figure_text(max(entry.turns))}"
    turns = spread if len(entry.turns) > 1 else "once"
    return figure_text(entry.figure), ratio, ", ".join(part for part in (entry.note, turns) if part)

"""The rows of `qdts bench`, for people and for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdts.cli.display.output import number

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.cli.benchmarks.learning import Cell
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
    """Print what was reached in each game, with all seeds."""
    from rich import box
    from rich.table import Table

    table = Table("game", "minutes", "goal", "NashConv of each seed", "mean", "worst", "", box=box.SIMPLE_HEAD)
    for task in dict.fromkeys(cell.task for cell in cells):
        own = [cell for cell in cells if cell.task == task]
        if task.by_play:
            table.add_row(task.game, f"{task.minutes:g}", *_by_play(task.game, own))
            continue
        made = [cell.nash_conv for cell in own if cell.nash_conv is not None]
        uniform = next((cell.uniform for cell in own if cell.uniform is not None), None)
        goal = f"{task.goal:g} of uniform's" if task.share else f"{task.goal:g}"
        if not made:
            table.add_row(task.game, f"{task.minutes:g}", goal, "not made", "", "", "")
            continue
        most = task.goal * (uniform or 0.0) if task.share else task.goal
        mean = sum(made) / len(made)
        every = ", ".join(map(number, made))
        verdict = "reached" if mean <= most else f"above {number(most)}"
        table.add_row(task.game, f"{task.minutes:g}", goal, every, number(mean), number(max(made)), verdict)
    screen.print(table)
    screen.print("[dim]NashConv of P with averaged weights, exact. Minutes: self-play and fitting alone.[/]")


def _by_play(game: str, cells: Sequence[Cell]) -> tuple[str, str, str, str, str]:
    """The goal, and what was reached by play with each seed; neither a mean nor a worst of it."""
    from qdts.cli.benchmarks.strength import STRENGTHS

    strength = STRENGTHS[game]
    made = [cell.strength for cell in cells if cell.strength is not None]
    if not made:
        return strength.goal, "not made", "", "", ""
    verdict = f"{sum(figures['reached'] for figures in made)} of {len(made)} reached"
    return strength.goal, "; ".join(map(strength.tell, made)), "", "", verdict


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

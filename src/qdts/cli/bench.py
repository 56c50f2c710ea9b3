"""`qdts bench`: figures beside those of others, in one run on one machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.output import console, number, print_json
from qdts.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.cli.races import Entry, Row

    Rows = Iterator[tuple[str, Callable[[], Row]]]

EXAMPLES = """[bold]Examples[/]
  qdts bench solve --quick
  qdts bench solve --repeats 9 --json"""

GAMES_EXAMPLES = """[bold]Examples[/]
  qdts bench games
  qdts bench games --repeats 9 --json"""

SEARCH_EXAMPLES = """[bold]Examples[/]
  qdts bench search
  qdts bench search --game leduc_poker --search ismcts --json
  qdts bench search --network"""

app = typer.Typer(help="Measure speed, side by side with others.")


@app.callback()
def bench() -> None:
    """Measure speed, side by side with others."""


@app.command(epilog=EXAMPLES)
def solve(
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each contestant; the median counts.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="One turn each, and no row that takes minutes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Solving: qdts, LiteEFG and OpenSpiel on one thread, taking turns.

    Peers that are not installed are left out; `make bench` installs them.
    """

    def rows() -> Rows:
        from qdts.cli import races

        return races.rows(1 if quick else repeats, quick)

    _measure(rows, as_json)


@app.command(epilog=GAMES_EXAMPLES)
def games(
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each contestant; the median counts.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Random playouts of every game, and imports: qdts and OpenSpiel on one thread, taking turns."""

    def rows() -> Rows:
        from qdts.cli import import_races, playout_races

        yield from playout_races.rows(repeats)
        yield from import_races.rows(repeats)

    _measure(rows, as_json)


@app.command(epilog=SEARCH_EXAMPLES)
def search(
    game: Annotated[str | None, typer.Option(help="Only this game; with --search it may be any.")] = None,
    name: Annotated[
        str | None, typer.Option("--search", help="Only this search; with options in brackets: ismcts\\[c=1].")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Searches that ask a network, beside mctx's.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each contestant; the median counts.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Searching: qdts and OpenSpiel's C++ bots, or with --network mctx, on one thread, taking turns."""

    def rows() -> Rows:
        if network:
            from qdts.cli import network_races

            if game is not None or name is not None:
                raise InputError("--network has one game and one search, expected neither --game nor --search")
            return network_races.rows(repeats)
        from qdts.cli import search_races

        return search_races.rows(repeats, game, name)

    _measure(rows, as_json)


def _measure(rows: Callable[[], Rows], as_json: bool) -> None:
    """Measure row after row, then print all of them."""
    from rich.console import Console

    with Console(stderr=True).status("compiling what is not compiled yet") as status:
        from qdts.cli.machine import machine

        about, measured = machine(), []
        for name, measure in rows():
            status.update(f"measuring: {name}")
            measured.append(measure())
    if as_json:
        rows_data = [_as_data(row) for row in measured]
        print_json({**(rows_data[0] if len(rows_data) == 1 else {}), "machine": about, "rows": rows_data})
        return
    screen = console()
    screen.print(", ".join(f"{key} {value}" for key, value in about.items()), style="dim")
    for row in measured:
        _show(screen, row)


def _as_data(row: Row) -> dict[str, Any]:
    entries = [{**dataclasses.asdict(entry), "figure": entry.figure} for entry in row.entries]
    return {**dataclasses.asdict(row), "entries": entries, "ratios": row.ratios}


def _show(screen: Console, row: Row) -> None:
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
        verdict = {True: "[green]met[/]", False: "[red]not met[/]", None: "[yellow]not known[/]"}[target.met]
        screen.print(f"  target: {target.words}: {verdict}")
    screen.print(f"  [dim]clock: {row.clock}[/]")


def _cells(row: Row, entry: Entry) -> tuple[str, str, str]:
    """The figure, how many times better ours is, and a note."""
    if entry.figure is None:
        return "", "", entry.note
    ratio = f"{row.ratios[entry.who]:,.1f} times" if entry.who in row.ratios else ""
    spread = f"median of {len(entry.turns)}, {_figure(min(entry.turns))} to {_figure(max(entry.turns))}"
    turns = spread if len(entry.turns) > 1 else "once"
    return _figure(entry.figure), ratio, ", ".join(part for part in (entry.note, turns) if part)


def _figure(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else number(figure)

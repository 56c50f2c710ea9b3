"""`qdts bench`: figures beside those of others, in one run on one machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.display.output import console, number, print_json
from qdts.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.cli.benchmarks.solving import Entry, Row

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

SELFPLAY_EXAMPLES = """[bold]Examples[/]
  qdts bench selfplay
  qdts bench selfplay --game kuhn_poker --threads 2 --json
  python -m qdts.learning.speed leduc_poker device=cuda     # without the front end's libraries"""

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
        from qdts.cli.benchmarks import solving as races

        return races.rows(1 if quick else repeats, quick)

    _measure(rows, as_json)


@app.command(epilog=GAMES_EXAMPLES)
def games(
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each contestant; the median counts.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Random playouts of every game, and imports: qdts and OpenSpiel on one thread, taking turns."""

    def rows() -> Rows:
        from qdts.cli.benchmarks import imports as import_races
        from qdts.cli.benchmarks import playouts as playout_races

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
            from qdts.cli.benchmarks import networks as network_races

            if game is not None or name is not None:
                raise InputError("--network has one game and one search, expected neither --game nor --search")
            return network_races.rows(repeats)
        from qdts.cli.benchmarks import search as search_races

        return search_races.rows(repeats, game, name)

    _measure(rows, as_json)


@app.command(epilog=SELFPLAY_EXAMPLES)
def selfplay(
    game: Annotated[str, typer.Option(help="What is learnt.")] = "leduc_poker",
    settings: Annotated[list[str] | None, typer.Option("--set", help="A setting: search.visits=32.")] = None,
    generations: Annotated[int, typer.Option(min=1, help="Generations that the clock runs over.")] = 8,
    threads: Annotated[int, typer.Option(min=1, help="Threads of searches and of torch.")] = 1,
    device: Annotated[str, typer.Option(help="Where networks run: cpu or cuda.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Learning: games, visits and evaluations a second, and where the time goes."""
    from rich.console import Console

    with Console(stderr=True).status("compiling what is not compiled yet"):
        from qdts.cli.display.machine import machine
        from qdts.learning.speed import measure_speed

        found = {**measure_speed(
            game, generations=generations, settings=settings or (), threads=threads, device=device
        ), "machine": machine()}  # fmt: skip
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(", ".join(f"{key} {value}" for key, value in found["machine"].items()), style="dim")
    screen.print(f"\n[bold]learning[/]  {found['game']} · threads {threads} · {device}", highlight=False)
    for key in ("games", "visits", "evaluations"):
        screen.print(f"  {_figure(found[f'{key}_per_second']):>9} {key}/s")
    shares = ", ".join(f"{part} {share:.0%}" for part, share in found["shares"].items())
    screen.print(f"  share of time: {shares}")
    screen.print(f"  [dim]clock: {generations} generations, without compiling, measuring and checkpoints[/]")


def _measure(rows: Callable[[], Rows], as_json: bool) -> None:
    """Measure row after row, then print all of them."""
    from rich.console import Console

    with Console(stderr=True).status("compiling what is not compiled yet") as status:
        from qdts.cli.display.machine import machine

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

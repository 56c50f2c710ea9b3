"""`qdts bench`: speed beside that of peers, in one run on one machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.cli.commands.arguments import AsJson, Kept, Repeats, read_seeds
from qdts.cli.display.output import console, print_json
from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.cli.benchmarks.learning import Cell
    from qdts.cli.benchmarks.rows import Rows

SOLVE_EXAMPLES = """[bold]Examples[/]
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

LEARN_EXAMPLES = """[bold]Examples[/]
  qdts bench learn --list                       # the games, their budgets and goals
  qdts bench learn --only leduc                 # some games
  qdts bench learn --seeds 1,2,3 --threads 2    # the whole table: hours
  qdts bench learn --seeds 401,402,403 --kept docs/measured/learning.jsonl --page docs/results.md

Each game and seed is a run in the folder of --out. What is there, or in the
file of --kept, is not made again; after Ctrl-C the same command goes on where
it was."""

app = typer.Typer(help="Measure speed, side by side with others, and what is learned.")


@app.callback()
def bench() -> None:
    """Measure speed, side by side with others, and what is learned."""


@app.command(epilog=SOLVE_EXAMPLES)
def solve(
    repeats: Repeats = 5,
    quick: Annotated[bool, typer.Option("--quick", help="One turn each, and no row that takes minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Solving: qdts, LiteEFG and OpenSpiel on one thread, taking turns.

    Peers that are not installed are left out; `make bench` installs them.
    """

    def rows() -> Rows:
        from qdts.cli.benchmarks import solving

        return solving.rows(1 if quick else repeats, quick)

    _measure(rows, as_json)


@app.command(epilog=GAMES_EXAMPLES)
def games(repeats: Repeats = 5, as_json: AsJson = False) -> None:
    """Random playouts of every game, and imports: qdts and OpenSpiel on one thread, taking turns."""

    def rows() -> Rows:
        from qdts.cli.benchmarks import imports, playouts

        yield from playouts.rows(repeats)
        yield from imports.rows(repeats)

    _measure(rows, as_json)


@app.command(epilog=SEARCH_EXAMPLES)
def search(
    game: Annotated[str | None, typer.Option(help="Only this game; with --search it can be any game.")] = None,
    name: Annotated[
        str | None, typer.Option("--search", help="Only this search; with options in brackets: ismcts\\[c=1].")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Searches with a network, beside those of mctx.")] = False,
    repeats: Repeats = 5,
    as_json: AsJson = False,
) -> None:
    """Searching: qdts and OpenSpiel's C++ bots, or with --network mctx, on one thread, taking turns."""

    def rows() -> Rows:
        if network:
            from qdts.cli.benchmarks import networks

            if game is not None or name is not None:
                raise InputError("--network has one game and one search, expected neither --game nor --search")
            return networks.rows(repeats)
        from qdts.cli.benchmarks import search

        return search.rows(repeats, game, name)

    _measure(rows, as_json)


@app.command(epilog=SELFPLAY_EXAMPLES)
def selfplay(
    game: Annotated[str | None, typer.Option(help="Only this game, any one, with --threads and --device.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A setting: search.visits=32.")] = None,
    generations: Annotated[int, typer.Option(min=1, help="Generations that the clock runs over.")] = 8,
    threads: Annotated[int, typer.Option(min=1, help="Threads of self-play and of torch.")] = 1,
    device: Annotated[str, typer.Option(help="Where networks run: cpu or cuda.")] = "cpu",
    as_json: AsJson = False,
) -> None:
    """Learning: games, visits and evaluations a second, where the time goes, and what a second thread is worth."""
    from rich.console import Console

    if game is None:
        if settings or threads != 1 or device != "cpu":
            raise InputError("--set, --threads and --device are for one game, expected --game, too")

        def rows() -> Rows:
            from qdts.cli.benchmarks import selfplay

            return selfplay.rows(generations)

        _measure(rows, as_json)
        return
    with Console(stderr=True).status("compiling what is not compiled yet"):
        from qdts.cli.benchmarks.machine import machine
        from qdts.cli.display.benchmark import show_learning_speed, show_machine
        from qdts.learning.speed import measure_speed

        about = machine()
        speed = measure_speed(game, generations=generations, settings=settings or (), threads=threads, device=device)
    if as_json:
        print_json({**speed, "machine": about})
        return
    screen = console()
    show_machine(screen, about)
    show_learning_speed(screen, speed, generations=generations, setup=f"threads {threads} · {device}")


@app.command(epilog=LEARN_EXAMPLES)
def learn(
    only: Annotated[str, typer.Option(help="Only games whose name contains this.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between.")] = "1,2,3",
    out: Annotated[Path, typer.Option(help="The folder of the runs.")] = Path("runs/results"),
    threads: Annotated[int, typer.Option(min=1, help="Threads of each run.")] = 2,
    share: Annotated[
        float, typer.Option(help="Train for this share of each budget: goals are to be reached with less.")
    ] = 1.0,
    kept: Kept = None,
    page: Annotated[
        Path | None, typer.Option(help="Train nothing: fill the table of this page.", show_default=False)
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Train nothing: show what there is, and what was reached.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Results: train each game of a table for its budget, with default settings, and measure what it has learned."""
    from qdts.cli.benchmarks import learning
    from qdts.cli.benchmarks.kept import keep
    from qdts.cli.benchmarks.results_page import KIND, blocks_of
    from qdts.cli.display.benchmark import show_results
    from qdts.pages import fill_page

    numbers = read_seeds(seeds)
    if not 0.0 < share <= 1.0:
        raise InputError(f"--share is {share:g}, expected a number above 0, at most 1")
    tasks = learning.tasks_of(only)
    if not tasks:
        raise InputError(f"no game of the table contains '{only}', expected a part of a name: see --list")

    def read() -> list[Cell]:
        made = learning.read_cells(out, tasks, numbers, kept, threads)
        if kept is not None and not list_:
            keep(kept, (cell.as_data() for cell in made if cell.is_made), learning.name_of)
        return made

    made = read()
    if page is None and not list_:
        for cell in [cell for cell in made if cell.needs(share)]:
            _make(out, cell, threads, share, as_json)
            made = read()
    if page is not None:
        fill_page(page, KIND, blocks_of(made))
    if as_json:
        print_json({"cells": [cell.as_data() for cell in made]})
        return
    show_results(console(), made)


def _make(out: Path, cell: Cell, threads: int, share: float, as_json: bool) -> None:
    """Train a cell of the results and measure it, from where it was left."""
    from qdts.cli.benchmarks import learning
    from qdts.cli.display.progress import Heartbeat
    from qdts.cli.display.training import follower

    folder = learning.folder_of(out, cell.task, cell.seed)
    if cell.is_made or not learning.is_trained(folder, cell.task):
        with follower(silent=as_json) as watch:
            learning.train_cell(folder, cell.task, cell.seed, threads, watch, share)
    with Heartbeat() as beat:
        learning.measure_cell(folder, cell.task, threads, beat.begin)


def _measure(rows: Callable[[], Rows], as_json: bool) -> None:
    """Measure row after row, then print all of them."""
    from rich.console import Console

    with Console(stderr=True).status("compiling what is not compiled yet") as status:
        from qdts.cli.benchmarks.machine import machine
        from qdts.cli.display.benchmark import as_data, show_machine, show_row

        about, measured = machine(), []
        for name, measure in rows():
            status.update(f"measuring: {name}")
            measured.append(measure())
    if as_json:
        data = [as_data(row) for row in measured]
        print_json({**(data[0] if len(data) == 1 else {}), "machine": about, "rows": data})
        return
    screen = console()
    show_machine(screen, about)
    for row in measured:
        show_row(screen, row)

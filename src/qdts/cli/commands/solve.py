"""`qdts solve`: solve a game, and show how it converges and the strategy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson, GameFile
from qdts.cli.commands.exit_codes import INTERRUPTED
from qdts.cli.display.output import check_writable, console, print_json
from qdts.cli.display.plot import check_kind, save_plot
from qdts.cli.display.progress import LOADING
from qdts.cli.display.solution import best_line, show, sizes
from qdts.cli.display.solving import Silent, solving_progress
from qdts.errors import InputError, unknown

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.solving.solver import Solution

EXACT = ("lp", "min-max", "alpha-beta", "value-iteration")
"""Algorithms that have no result before their end."""

EXAMPLES = """[bold]Examples[/]
  qdts solve leduc_poker
  qdts solve leduc_poker --iterations 100000 --tolerance 0.0001
  qdts solve 'liars_dice(dice_sides=4)' --out dice.npz --plot dice.png
  qdts solve kuhn_poker --algorithm lp --json
  qdts solve tic_tac_toe --algorithm alpha-beta
  qdts solve './my_game.py(players=3)'

Ctrl-C stops it and exits with 130. The result so far of an iterative algorithm is kept (--out and --plot are still
written); lp, min-max, alpha-beta and value-iteration have no result before their end."""


def solve(
    game: GameFile,
    algorithm: Annotated[
        str,
        typer.Option(help="cfr, cfr+, lcfr, dcfr, pcfr+, mccfr, lp, min-max, alpha-beta, value-iteration."),
    ] = "dcfr",
    iterations: Annotated[int, typer.Option(min=1, help="Stop after so many iterations.")] = 1000,
    tolerance: Annotated[
        float | None, typer.Option(min=0, help="Stop as soon as NashConv is at most this.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the strategy to a policy file.", show_default=False)] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curve of NashConv (.png, .svg, .pdf).", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For algorithms that sample.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Solve a game and measure how far the strategy is from equilibrium."""
    _check_files(algorithm, out, plot)
    with solving_progress(iterations, silent=as_json) as watch:
        loaded = _load(game, algorithm, watch)
        solution = _solve(loaded, algorithm, iterations, tolerance, seed, watch)
    _finish(solution, out, plot, as_json)


def _check_files(algorithm: str, out: Path | None, plot: Path | None) -> None:
    """Fail now on what would fail at the end."""
    for path in (out, plot):
        if path is not None:
            check_writable(path)
    if plot is not None:
        check_kind(plot)
        if algorithm in EXACT:
            raise InputError(f"--plot with --algorithm {algorithm}: it has no curve, expected an iterative algorithm")


def _load(spec: str, algorithm: str, watch: Silent) -> Game:
    watch.begin(LOADING.format(spec))
    from qdts.games.registry import IMPORTED, load_game, load_imported
    from qdts.solving.solver import ALGORITHMS

    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    return load_imported(spec, watch.imported) if spec.startswith(IMPORTED) else load_game(spec)


def _solve(game: Game, algorithm: str, iterations: int, tolerance: float | None, seed: int, watch: Silent) -> Solution:
    from qdts import solving
    from qdts.interrupt import apart
    from qdts.solving.tree.recent import game_tree

    if game.hidden or algorithm not in EXACT:
        watch.begin(f"enumerating {game.spec}")
        apart(lambda: game_tree(game, report=watch.enumerated))
    watch.begin(f"solving {game.spec} by {algorithm}")
    return solving.solve(game, algorithm, iterations, tolerance=tolerance, seed=seed, report=watch.measured)


def _finish(solution: Solution, out: Path | None, plot: Path | None, as_json: bool) -> None:
    """Write the files first, then print; an interrupted solution is kept too."""
    from qdts.solving import save_policy

    if out is not None:
        save_policy(solution.policy, out)
    if plot is not None:
        save_plot(solution, plot)
    if as_json:
        print_json(_as_data(solution, out))
    else:
        show(console(), solution, {"policy": out, "plot": plot})
    if solution.interrupted:
        raise typer.Exit(INTERRUPTED)


def _as_data(solution: Solution, out: Path | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "game": solution.game.spec,
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "iterations_per_second": solution.iterations_per_second,
        "value": solution.value,
        "values": list(solution.values),
        "nash_conv": solution.nash_conv,
        "interrupted": solution.interrupted,
        **sizes(solution),
        "out": None if out is None else str(out),
    }
    if solution.outcome is not None:
        data |= {"line": best_line(solution), "leaves": solution.outcome.leaves}
    return data

"""The result of `qdts solve`: a panel of facts, the curve of NashConv, and the first rows of the strategy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qdts.cli.display.output import number
from qdts.cli.display.panel import STOPPED, distance, panel, values
from qdts.cli.display.solving import curve

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.solving.solver import Solution


def show(screen: Console, solution: Solution, files: Mapping[str, Path | None]) -> None:
    """Print a solution, and the names of the files that were written."""
    from qdts.cli.display import strategy

    facts = _facts(solution) | {name: str(path) for name, path in files.items() if path is not None}
    colour = "yellow" if solution.interrupted else "green"
    screen.print(panel(solution.game.spec, f"by {solution.algorithm}", facts, colour))
    if lines := curve(solution.curve):
        screen.print("\nNashConv against iterations, both logarithmic", style="bold")
        screen.print("\n".join(lines), style="cyan")
    saved = files.get("policy")
    strategy.show(screen, solution.policy, rest=f"{saved} has them all" if saved else "--out FILE saves them all")


def best_line(solution: Solution) -> list[str]:
    """The names of the moves of best play; none unless the algorithm gives a line."""
    return [] if solution.outcome is None else [solution.game.action_name(a) for a in solution.outcome.line]


def sizes(solution: Solution) -> dict[str, int | None]:
    """How many histories a solved game has, None where they were not enumerated, and how many information sets."""
    from qdts.solving.solver import SEARCHES
    from qdts.solving.tree.recent import game_tree

    histories = None if solution.algorithm in SEARCHES else game_tree(solution.game).num_histories
    return {"histories": histories, "information_sets": len(solution.policy.views)}


def _size(solution: Solution) -> str:
    """The same in words; with perfect information an information set is a position."""
    histories, sets = sizes(solution).values()
    return f"{sets:,} positions" if histories is None else f"{histories:,} histories, {sets:,} information sets"


def _facts(solution: Solution) -> dict[str, str]:
    facts = {
        "size": _size(solution),
        "value": values(solution.values),
        "NashConv": distance(solution.nash_conv, solution.game.players),
        "speed": _speed(solution),
        "clock": "the algorithm alone, without compiling, enumerating and measuring",
    }
    if solution.outcome is not None:
        facts["line"] = f"{' '.join(best_line(solution))}   [dim](best play of both)[/]"
        facts["leaves"] = f"{solution.outcome.leaves:,} finished games looked at for the value"
    if solution.interrupted:
        facts["stopped"] = STOPPED
    return facts


def _speed(solution: Solution) -> str:
    if not solution.curve:
        return f"{number(solution.seconds)} s"
    rate = f"{solution.iterations_per_second:,.0f} iterations/s"
    return f"{rate}: {solution.iterations:,} in {number(solution.seconds)} s"

"""`qdts nashconv`: how far a policy is from equilibrium, for games of any size."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson, RunsGame, known_from
from qdts.cli.display.output import console, number, print_json
from qdts.cli.display.panel import distance, panel, values
from qdts.cli.display.progress import StatusLine
from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.interrupt import Interrupt
    from qdts.solving.measure import Measurement
    from qdts.solving.sweep.progress import SweepProgress
    from qdts.solving.tree.enumeration import Progress

EXAMPLES = """[bold]Examples[/]
  qdts nashconv liars_dice
  qdts nashconv leduc_poker --policy leduc.npz
  qdts nashconv runs/leduc_poker-0
  qdts nashconv 'liars_dice(numdice=2,dice_sides=4)' --memory 0.5
  qdts nashconv leduc_poker --method sweep --json

Without --method, a game is enumerated if it has at most 2,000,000 histories, and otherwise measured cell by cell
(phantom tic-tac-toe, abrupt dark hex) or swept: view by view, in bounded memory. Ctrl-C stops it without a result, and
exits with 130."""

GIB = 1 << 30
SECONDS_BETWEEN = 2.0
"""Between two status lines."""


def nashconv(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME",
            help="A name, with parameters in brackets: see [bold]qdts games[/]. Or a run's folder: what it learned.",
        ),
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            help="A file written by [bold]qdts solve --out[/], or a run's folder: P of its networks. "
            "Without it, uniform play.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="sweep, cells or enumerate; by default what suits the game.", show_default=False)
    ] = None,
    memory: Annotated[float, typer.Option(help="The memory that a sweep may use, in GiB.")] = 2.0,
    runs_game: RunsGame = None,
    as_json: AsJson = False,
) -> None:
    """Measure a policy: every player's value, what each could gain, and NashConv."""
    from qdts.interrupt import interruptible
    from qdts.play.seats import read_game, read_policy
    from qdts.solving import Policy, measure_policy, uniform_probabilities
    from qdts.solving.tree.recent import game_tree

    if not 0 < memory < float("inf"):
        raise InputError(f"--memory {memory}, expected a number of GiB above 0")
    loaded, agent = read_game(game, runs_game)
    known = agent if policy is None else read_policy(policy, loaded)
    given = uniform_probabilities if known is None else known if isinstance(known, Policy) else known.rows
    start = time.perf_counter()
    with interruptible() as interrupt:
        progress = _Progress(interrupt, silent=as_json)
        try:
            if method == "enumerate":
                game_tree(loaded, report=progress.enumerated)
            measured = measure_policy(loaded, given, method=method, memory=int(memory * GIB), report=progress.swept)
        finally:
            progress.line.clear()
    seconds = time.perf_counter() - start
    name = known_from(game, agent, policy) or "uniform"
    if as_json:
        print_json({"game": loaded.spec, "policy": name, "seconds": seconds, **_as_data(measured)})
    else:
        console().print(panel(loaded.spec, f"measured: {name}", _facts(measured, seconds)))


class _Progress:
    """A status line that follows a measurement, and raises KeyboardInterrupt after Ctrl-C.

    An exception that is raised within a kernel's call could get lost, so Ctrl-C is noticed here.
    """

    def __init__(self, interrupt: Interrupt, *, silent: bool) -> None:
        self.interrupt = interrupt
        self.line = StatusLine(SECONDS_BETWEEN, silent=silent)

    def swept(self, progress: SweepProgress) -> None:
        """Report how far a sweep, or a measurement cell by cell, is."""
        share = "evaluating the policy" if progress.share is None else f"{progress.share:.1%}"
        histories = "" if progress.histories is None else f"{progress.histories:,} histories, "
        self._show(f"player {progress.player}: {share}, {histories}{progress.views:,} views")

    def enumerated(self, progress: Progress) -> None:
        """Report how far the enumeration of the game is."""
        self._show(f"enumerating: {progress.histories:,} histories, {progress.infosets:,} views")

    def _show(self, text: str) -> None:
        if self.interrupt.requested:
            raise KeyboardInterrupt
        self.line.show(f"{text}, {self.line.seconds:.0f} s")


def _as_data(measured: Measurement) -> dict[str, Any]:
    return {
        "method": measured.method,
        "values": list(measured.values),
        "gains": list(measured.gains),
        "nash_conv": measured.nash_conv,
        "histories": measured.histories,
        "views": measured.views,
        "largest_view": measured.largest,
        "memory_bytes": measured.memory,
    }


def _facts(measured: Measurement, seconds: float) -> dict[str, str]:
    facts = {
        "value": values(measured.values),
        "could gain": values(measured.gains),
        "NashConv": distance(measured.nash_conv, len(measured.values)),
        "method": f"{measured.method}, {number(seconds)} s",
    }
    sizes = {"histories": measured.histories, "views": measured.views}
    facts["size"] = ", ".join(f"{count:,} {name}" for name, count in sizes.items() if count is not None)
    if measured.largest is not None and measured.memory is not None:
        facts["held"] = f"{measured.memory / GIB:.3f} GiB; at most {measured.largest:,} worlds behind one view"
    return facts

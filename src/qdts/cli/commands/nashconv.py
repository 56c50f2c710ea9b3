"""`qdts nashconv`: how far a policy is from equilibrium, for games of any size."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.search import known_from
from qdts.cli.display.output import console, number, print_json
from qdts.cli.display.solution import distance, panel, values
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

Without --method, a game is enumerated if it has at most 2,000,000 histories and swept otherwise: view by view, in
bounded memory. Ctrl-C stops it with nothing to keep, and exits with 130."""

GIB = 1 << 30
SECONDS_BETWEEN = 2.0
"""How often a long measurement tells how far it is."""


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
        str | None, typer.Option(help="sweep or enumerate; without it, what suits the size.", show_default=False)
    ] = None,
    memory: Annotated[float, typer.Option(help="What a sweep may hold, in GiB.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure a policy: every player's value, what each could gain, and NashConv."""
    from qdts.interrupt import interruptible
    from qdts.play.seats import read_game, read_policy
    from qdts.solving import Policy, measure_policy, uniform_probabilities
    from qdts.solving.tree.recent import game_tree

    if not 0 < memory < float("inf"):
        raise InputError(f"--memory {memory}, expected a number of GiB above 0")
    loaded, agent = read_game(game)
    known = agent if policy is None else read_policy(policy, loaded)
    given = uniform_probabilities if known is None else known if isinstance(known, Policy) else known.rows
    start = time.perf_counter()
    with interruptible() as interrupt:
        told = Ticker(interrupt, silent=as_json)
        try:
            if method == "enumerate":
                game_tree(loaded, report=told.enumerated)
            found = measure_policy(loaded, given, method=method, memory=int(memory * GIB), report=told.swept)
        finally:
            told.end()
    seconds = time.perf_counter() - start
    name = known_from(game, agent, policy) or "uniform"
    if as_json:
        print_json({"game": loaded.spec, "policy": name, "seconds": seconds, **_as_data(found)})
    else:
        console().print(panel(loaded.spec, f"measured: {name}", _facts(found, seconds)))


class Ticker:
    """One line on standard error, now and then: on a terminal always the same one.

    It is here that Ctrl-C is heard: raised within a kernel's call, its exception could get lost.
    """

    def __init__(self, interrupt: Interrupt, *, silent: bool) -> None:
        self.interrupt = interrupt
        self.silent, self.started = silent, time.perf_counter()
        self.last = self.started
        self.same_line = sys.stderr.isatty()
        self.said = False

    def swept(self, progress: SweepProgress) -> None:
        """How far a sweep is."""
        self._tell(
            f"player {progress.player}: {progress.share:.1%}, "
            f"{progress.histories:,} histories, {progress.views:,} views"
        )

    def enumerated(self, progress: Progress) -> None:
        """How large the game is so far."""
        self._tell(f"enumerating: {progress.histories:,} histories, {progress.infosets:,} views")

    def end(self) -> None:
        """Leave the line clean."""
        if self.said and self.same_line:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def _tell(self, text: str) -> None:
        if self.interrupt.asked:
            raise KeyboardInterrupt
        now = time.perf_counter()
        if self.silent or now - self.last < SECONDS_BETWEEN:
            return
        self.last, self.said = now, True
        start, end = ("\r\x1b[2K", "") if self.same_line else ("", "\n")
        print(f"{start}{text}, {now - self.started:.0f} s", end=end, file=sys.stderr, flush=True)


def _as_data(found: Measurement) -> dict[str, Any]:
    return {
        "method": found.method,
        "values": list(found.values),
        "gains": list(found.gains),
        "nash_conv": found.nash_conv,
        "histories": found.histories,
        "views": found.views,
        "largest_view": found.largest,
        "memory_bytes": found.memory,
    }


def _facts(found: Measurement, seconds: float) -> dict[str, str]:
    facts = {
        "value": values(found.values),
        "could gain": values(found.gains),
        "NashConv": distance(found.nash_conv, len(found.values)),
        "method": f"{found.method}, {number(seconds)} s",
    }
    sizes = {"histories": found.histories, "views": found.views}
    facts["size"] = ", ".join(f"{count:,} {name}" for name, count in sizes.items() if count is not None)
    if found.largest is not None and found.memory is not None:
        facts["held"] = f"{found.memory / GIB:.3f} GiB; at most {found.largest:,} worlds behind one view"
    return facts

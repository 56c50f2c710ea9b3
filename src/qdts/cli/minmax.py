"""`qdts solve` by min-max or alpha-beta: the value, best play of both, and how much was looked at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qdts.cli.output import number
from qdts.cli.summary import panel

if TYPE_CHECKING:
    from rich.panel import Panel

    from qdts.games.game import Game
    from qdts.solving.minmax import Outcome

SEARCHES = ("min-max", "alpha-beta")


class Found(NamedTuple):
    """What a search found. It enumerates nothing, so there is no policy whose NashConv could be measured."""

    game: Game
    algorithm: str
    outcome: Outcome
    seconds: float

    @property
    def line(self) -> list[str]:
        """The moves of best play, by name."""
        return [self.game.action_name(a) for a in self.outcome.line]

    def as_data(self, out: Path | None) -> dict[str, Any]:
        """For --json."""
        return {
            "game": self.game.spec,
            "algorithm": self.algorithm,
            "iterations": 1,
            "seconds": self.seconds,
            "iterations_per_second": 1 / self.seconds,
            "value": self.outcome.value,
            "values": [self.outcome.value, 0.0 - self.outcome.value],
            "nash_conv": None,
            "interrupted": False,
            "out": None if out is None else str(out),
            "line": self.line,
            "leaves": self.outcome.leaves,
        }

    def as_panel(self, out: Path | None) -> Panel:
        """For people."""
        facts = {
            "value": f"[bold green]{self.outcome.value:g}[/] to player 0",
            "line": f"{' '.join(self.line)}   [dim](best play of both)[/]",
            "leaves": f"{self.outcome.leaves:,} finished games looked at for the value",
            "speed": f"{number(self.seconds)} s for the value and the line, without compiling",
            **({} if out is None else {"policy": str(out)}),
        }
        return panel(self.game.spec, f"by {self.algorithm}", facts)


def search(game: Game, algorithm: str) -> Found:
    """Search a game to its end."""
    from qdts.solving import minmax

    function = {"min-max": minmax.min_max, "alpha-beta": minmax.alpha_beta}[algorithm]
    start = time.perf_counter()
    outcome = function(game)
    return Found(game, algorithm, outcome, time.perf_counter() - start)


def save_optimal(game: Game, algorithm: str, out: Path) -> None:
    """Write the policy of backward induction, for which the game is enumerated."""
    from qdts.solving import save_policy, solve

    save_policy(solve(game, algorithm).policy, out)

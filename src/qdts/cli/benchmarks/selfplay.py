"""The rows of `qdts bench selfplay`: generations of learning a second, with two threads and with one.

Both learn the same games from the same seed and take turns, generation by generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qdts.cli.benchmarks.rows import Row, Rows, Target, make_row, take_turns
from qdts.learning.speed import Pace

GAMES = ("leduc_poker", "liars_dice", "phantom_ttt", "hearts", "connect_four")
THREADS = 2
WANTED_THREADS = 1.6
"""How many times the speed of one thread that of two should be."""
WANTED_REST = 0.1
"""The share of time that is neither search, games, networks nor training, at most."""
CLOCK = "whole generations by the clock on the wall: games, targets and fitting; without compiling, measuring and files"


@dataclass(frozen=True)
class LearningRow(Row):
    """One line of the benchmark, and what a generation is made of."""

    speed: dict[str, Any] | None = None
    """Of one thread, as `Pace` has it."""
    network: str = ""

    @property
    def circumstances(self) -> str:
        """Games, visits and evaluations a second, and the shares of time."""
        assert self.speed is not None
        figures = [f"{self.speed[f'{key}_per_second']:,.0f} {key}/s" for key in ("games", "visits", "evaluations")]
        shares = ", ".join(f"{part} {share:.0%}" for part, share in self.speed["shares"].items())
        return f"1 thread: {', '.join(figures)}; shares of time: {shares}; {self.network}"


def rows(repeats: int) -> Rows:
    """A row for each game."""
    for game in GAMES:
        yield f"learning {game}", lambda game=game: row(game, repeats)  # type: ignore[misc]


def row(game: str, repeats: int) -> LearningRow:
    """Generations a second of one game."""
    two, one = (Pace(game, threads=threads) for threads in (THREADS, 1))
    jobs = {f"{THREADS} threads": lambda: 1.0 / two.generation(), "1 thread": lambda: 1.0 / one.generation()}
    entries = take_turns(jobs, repeats)[:2]
    made = make_row("learning", game, "", "generations/s", CLOCK, entries, {"1 thread": WANTED_THREADS})
    rest = one.shares["rest"]
    target = Target(f"at most {WANTED_REST:.0%} of the time for the rest (one thread: {rest:.0%})", rest <= WANTED_REST)
    return LearningRow(
        **{**vars(made), "targets": (*made.targets, target), "threads": THREADS},
        speed=one.as_data(),
        network=one.model,
    )

"""A row of a benchmark: what is measured, by which clock, and the target.

All who are measured take turns, so that a slow minute of the machine hits all of them; the median counts. Whoever has
used up their time in a row takes no further turn. Unless a row says otherwise the clock is the CPU time of this
process, and all run on one thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from qdts.cli.benchmarks.peers import PEERS

Job = Callable[[], float]
"""Does something once and returns its figure."""

TURN_SECONDS = 0.5
"""A turn lasts about this long where speed is measured."""
BUDGET = 10.0
"""Seconds after which nobody takes a further turn in a row."""
NOT_INSTALLED = "not installed: make bench"


@dataclass(frozen=True)
class Entry:
    """The figures of one who takes turns: ours, or a peer's."""

    who: str
    turns: tuple[float, ...] = ()
    """The figure of each turn."""
    note: str = ""

    @property
    def figure(self) -> float | None:
        """The median; None without a turn."""
        return statistics.median(self.turns) if self.turns else None


@dataclass(frozen=True)
class Target:
    """What the first entry should reach, and whether it does; None where that is not known."""

    words: str
    met: bool | None


@dataclass(frozen=True)
class Row:
    """One line of the benchmark."""

    name: str
    game: str
    algorithm: str
    unit: str
    clock: str
    """What it counts and leaves out."""
    entries: tuple[Entry, ...]
    targets: tuple[Target, ...]
    threads: int = 1

    @property
    def circumstances(self) -> str:
        """What a reader must know beside the figures, if anything."""
        return ""

    @property
    def ratios(self) -> dict[str, float]:
        """How many times better the first entry is than each of the others."""
        first = self.entries[0].figure
        others = {e.who: e.figure for e in self.entries[1:] if e.figure is not None}
        if first is None:
            return {}
        return {who: first / x if self.unit.endswith("/s") else x / first for who, x in others.items()}


Rows = Iterator[tuple[str, Callable[[], Row]]]
"""The names of rows, and how to measure each."""


def take_turns(jobs: dict[str, Job], repeats: int, before: dict[str, float] | None = None) -> list[Entry]:
    """The figures of all jobs, which take turns.

    Args:
        jobs: Jobs by the name of who does them.
        repeats: Turns of each.
        before: Figures that count as a first turn.

    Returns:
        An entry for each job, then one without a turn for each peer that has no job.
    """
    figures = {who: [before[who]] if before else [] for who in jobs}
    spent = {who: sum(turns) for who, turns in figures.items()}
    for _ in range(repeats - (before is not None)):
        for who, job in jobs.items():
            if spent[who] < BUDGET:
                start = time.perf_counter()
                figures[who].append(job())
                spent[who] += time.perf_counter() - start
    entries = [Entry(who, tuple(turns)) for who, turns in figures.items()]
    return entries + [Entry(p.name, note=NOT_INSTALLED) for p in PEERS if p.name not in jobs]


def make_row(
    name: str, game: str, algorithm: str, unit: str, clock: str, entries: list[Entry], wanted: dict[str, float]
) -> Row:
    """A row whose targets are ratios to peers."""
    ratios = Row(name, game, algorithm, unit, clock, tuple(entries), ()).ratios
    if ratios:
        ratios["the faster peer"] = min(ratios.values())
    words = "at least {:g} times {}'s" if unit.endswith("/s") else "at most 1/{:g} of {}'s"
    targets = [
        Target(words.format(times, who), ratios[who] >= times if who in ratios else None)
        for who, times in wanted.items()
    ]
    return Row(name, game, algorithm, unit, clock, tuple(entries), tuple(targets))


def turns_worth(seconds: float) -> int:
    """How often something that takes so many seconds is done in a turn."""
    return max(1, int(TURN_SECONDS / max(seconds, 1e-6)))


def seconds_of(work: Callable[[], object]) -> float:
    """CPU time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def mean_seconds(work: Callable[[], object]) -> float:
    """CPU time of some work, the mean over a turn."""
    times, seconds = 0, 0.0
    while seconds < TURN_SECONDS:
        seconds += seconds_of(work)
        times += 1
    return seconds / times

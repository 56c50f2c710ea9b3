"""What is measured of a run for the table of results: a measure has a name, a goal, and a function that finds it.

A new measure is a function from a run and a number of threads to a figure, and an entry of a task in `learning.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from qdts.errors import InputError
from qdts.learning.by_cells import expected_seconds, network_by_cells, uniform_by_cells
from qdts.learning.experience.experience import ignore
from qdts.learning.measuring import goes_by_cells
from qdts.learning.run import Run
from qdts.play.agent import load_agent
from qdts.play.match import Match, play_match
from qdts.play.seats import read_seat
from qdts.play.strength import without_search


@dataclass(frozen=True)
class Figure:
    """What a measure found in one run."""

    value: float
    interval: tuple[float, float] | None = None
    """Its 95 % interval, where it comes from a sample."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """Other figures, for --json."""

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {"value": self.value, "interval": self.interval and list(self.interval), **self.beside}


def read_figure(data: Mapping[str, Any]) -> Figure:
    """A figure from its data."""
    beside = {name: value for name, value in data.items() if name not in ("value", "interval")}
    return Figure(data["value"], data["interval"] and tuple(data["interval"]), beside)


class Measure(NamedTuple):
    """Something that is measured of a run, with its goal."""

    name: str
    find: Callable[[Run, int], Figure]
    """From a run and a number of threads; it may take minutes, and is called once for each run."""
    goal: float | None = None
    """None where it is only reported."""
    above: bool = False
    """Whether the value, or the lower end of its interval, must be above the goal; else the value is at most that."""

    @property
    def words(self) -> str:
        """The goal in words."""
        if self.goal is None:
            return ""
        return f"above {self.goal:g}" if self.above else f"at most {self.goal:g}"

    def is_reached(self, figures: Sequence[Figure]) -> bool | None:
        """Whether the mean over seeds meets the goal; None without a goal or figures."""
        if self.goal is None or not figures:
            return None
        if not self.above:
            return sum(figure.value for figure in figures) / len(figures) <= self.goal
        least = [figure.value if figure.interval is None else figure.interval[0] for figure in figures]
        return sum(least) / len(least) > self.goal


def nash_conv(goal: float) -> Measure:
    """NashConv of the averaged weights, exact."""
    return Measure("NashConv", lambda run, _: _distance(run), goal)


def share_of_uniform(goal: float) -> Measure:
    """The same, as a share of what uniform play has."""

    def find(run: Run, _threads: int) -> Figure:
        found = _distance(run)
        return Figure(
            found.value / found.beside["nash_conv_uniform"], None, {"nash_conv_average": found.value, **found.beside}
        )

    return Measure("NashConv, share of uniform play's", find, goal)


def _distance(run: Run) -> Figure:
    """NashConv of the averaged weights, with that of the newest and of uniform play.

    It is what the run has measured at its end; cell by cell, that may have been left out.
    """
    last = run.metrics()[-1]
    if "nash_conv_average" not in last and goes_by_cells(run):
        uniform = uniform_by_cells(run.game, ignore)
        network = without_search(load_agent(run).evaluator).evaluator
        seconds = expected_seconds(network, uniform)
        return Figure(network_by_cells(network, seconds, ignore), None, {"nash_conv_uniform": uniform.nash_conv})
    if "nash_conv_average" not in last:
        raise InputError(f"the run '{run.folder}' has not measured NashConv, expected one of a game that can be listed")
    return Figure(
        last["nash_conv_average"], None, {n: last[n] for n in ("nash_conv_uniform", "nash_conv") if n in last}
    )


def return_against(seat: str, games: int, visits: int | None = None) -> Measure:
    """The mean return against a seat, as `qdts match` names it: of P, or of a search with so many visits."""

    def find(run: Run, threads: int) -> Figure:
        agent = load_agent(run, visits=visits)
        return _figure(play_match(run.game, agent, read_seat(run.game, seat, threads=threads), games, seed=run.seed))

    with_visits = "" if visits is None else f", {visits:,} visits"
    return Measure(f"return against {seat}{with_visits}", find, 0.0, above=True)


def gain_on_first(games: int) -> Measure:
    """What a seat gains if P has it instead of the first checkpoint, which has all other seats, with the same deals.

    Where returns are points, this is the number of points a game.
    """

    def find(run: Run, _threads: int) -> Figure:
        newest, first = load_agent(run), load_agent(run, generation=1)
        ours, its = (play_match(run.game, seat, first, games, seed=run.seed) for seat in (newest, first))
        return _figure(Match(ours.returns - its.returns), {"return": ours.mean, "return_of_first": its.mean})

    return Measure("return gained on the first checkpoint", find, 0.0, above=True)


def slowest_generation(goal: float) -> Measure:
    """The longest time of a generation, in seconds of the budget's clock."""

    def find(run: Run, _threads: int) -> Figure:
        ends = [line["seconds"] for line in run.metrics()]
        return Figure(max(end - start for start, end in pairwise([0.0, *ends])))

    return Measure("seconds of the slowest generation", find, goal)


def most_memory(goal: float) -> Measure:
    """The most memory that the process had, in MB."""

    def find(run: Run, _threads: int) -> Figure:
        return Figure(max(line.get("memory", math.inf) for line in run.metrics()))

    return Measure("memory in MB", find, goal)


def _figure(match: Match, beside: Mapping[str, float] | None = None) -> Figure:
    return Figure(match.mean, match.ci95, {"games": match.games, **(beside or {})})

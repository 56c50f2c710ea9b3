"""NashConv of what the search for networks plays, by visits: at the end of a run, in bounded time.

A sample of views tells beforehand how long each number of visits takes. Numbers that would go beyond the bound are left
out, the largest first; `qdts evaluate RUN --visits N` measures them at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from qdts.learning.config import Config
from qdts.nets.evaluator import Network
from qdts.search.everywhere import BATCH, searched_nash_conv
from qdts.search.options.compatibility import search_with_networks
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.solving.tree.recent import game_tree

SHARE, LEAST = 0.1, 10.0
"""The bound: a share of the run's time, and seconds that it has at least."""
OVERRUN = 1.5
"""A number of visits is given up when it has gone beyond the bound by this factor, whatever was expected."""
WARM_UP = 8
"""Searches before the clock of the sample runs: they compile what is not compiled yet."""

Report = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done."""


def time_allowed(run_seconds: float) -> float:
    """The bound in seconds for a run that took so many."""
    return max(LEAST, SHARE * run_seconds)


@dataclass
class SearchMeasure:
    """What was measured."""

    rows: list[dict[str, float]] = field(default_factory=list)
    """`visits` and `nash_conv`, by rising visits."""
    left_out: list[int] = field(default_factory=list)
    """Numbers of visits that were not measured."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


class _OutOfTimeError(Exception):
    """A measurement takes far longer than was expected."""


def measure_search(
    evaluator: Callable[[], Network],
    config: Config,
    *,
    seconds: float = float("inf"),
    threads: int = 1,
    report: Report | None = None,
) -> SearchMeasure:
    """NashConv of the search for networks with a network, by visits; its move distribution is averaged over seeds.

    Args:
        evaluator: Makes the network with an empty cache, so that what is measured does not depend on the sample.
        config: The numbers of visits and of seeds, and where beliefs come from.
        seconds: The bound.
        threads: Threads to search with.
        report: Follows it.

    Returns:
        What was measured. Ctrl-C keeps what there is.
    """
    measure = SearchMeasure(left_out=[*config.measure.visits])
    network = evaluator()
    game, seeds = network.game, range(config.measure.seeds)
    options = named(search_with_networks(game), belief="exact" if config.belief.source == "exact" else "model")
    searches = game_tree(game).num_infosets * len(seeds)
    try:
        rate = searches * _seconds_per_visit(evaluator(), options, measure.left_out[0], threads)
        began = time.perf_counter()
        while measure.left_out:
            visits, spent = measure.left_out[0], time.perf_counter() - began
            more = _within(measure.left_out, rate, seconds - spent)
            if not more:
                break
            what = f"measuring the searched policy: about {spent + rate * sum(more):.0f} s, {visits:,} visits"

            def searched(done: int, of: int, what: str = what) -> None:
                if time.perf_counter() - began > OVERRUN * seconds:
                    raise _OutOfTimeError
                if report is not None:
                    report(what, done / of)

            searched(0, searches)
            distance = searched_nash_conv(
                game, options, visits, seeds, evaluator=network, threads=threads, report=searched
            ).nash_conv
            measure.rows.append({"visits": visits, "nash_conv": distance})
            measure.left_out.pop(0)
            rate = (time.perf_counter() - began - spent) / visits
    except _OutOfTimeError:
        pass
    except KeyboardInterrupt:
        measure.interrupted = True
    return measure


def _within(visits: list[int], rate: float, seconds: float) -> list[int]:
    """The first of some numbers of visits that take no longer than so many seconds together, at seconds per visit."""
    expected = rate * np.cumsum(visits)
    return visits[: int((expected <= seconds).sum())]


def _seconds_per_visit(network: Network, options: Options, visits: int, threads: int) -> float:
    """The time of one visit of one search, in a batch of searches at views from all over the game."""
    sets = game_tree(network.game).infosets
    some = np.unique(np.linspace(0, len(sets.views) - 1, BATCH).astype(np.int64))
    views, players = [*sets.views[some]], sets.owner[some].tolist()
    for first in (WARM_UP, len(views)):
        began = time.perf_counter()
        run_searches(network.game, views[:first], players[:first], options, visits, evaluator=network, threads=threads)
    return (time.perf_counter() - began) / (visits * len(some))

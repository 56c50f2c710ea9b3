"""NashConv of what the search for networks plays, by visits: at the end of a run, in bounded time.

Searches at a sample of views tell beforehand how long each number of visits takes. Numbers that would go beyond the
bound are left out, the largest first; `qdts evaluate RUN --visits N` measures them at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from qdts.kernels import Ints
from qdts.learning.config import Config
from qdts.nets.evaluator import Network
from qdts.search.everywhere import searched_nash_conv
from qdts.search.options.compatibility import search_with_networks
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.solving.tree.recent import game_tree

SHARE, LEAST = 0.1, 10.0
"""The bound: a share of the run's time, and seconds that it has at least."""
OVERRUN = 1.5
"""The measurement ends when it has gone beyond the bound by this factor, whatever was expected."""
SAMPLE, PART = 64, 8
"""Views of each half of a sample: so many, and at most one of so many views of the game, rounded up."""

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
    try:
        sample = _Sample(evaluator(), options, threads)
        began = time.perf_counter()
        expected = sample.seconds(measure.left_out, len(seeds), seconds)
        for k, visits in enumerate(measure.left_out.copy()):
            spent = time.perf_counter() - began
            rest = _within(expected[k:], seconds - spent)
            if not rest:
                break
            what = f"measuring the searched policy: about {sum(rest):.0f} s, {visits:,} visits"

            def searched(done: int, of: int, what: str = what) -> None:
                if time.perf_counter() - began > OVERRUN * seconds:
                    raise _OutOfTimeError
                if report is not None:
                    report(what, done / of)

            searched(0, 1)
            distance = searched_nash_conv(
                game, options, visits, seeds, evaluator=network, threads=threads, report=searched
            ).nash_conv
            measure.rows.append({"visits": visits, "nash_conv": distance})
            measure.left_out.remove(visits)
    except _OutOfTimeError:
        pass
    except KeyboardInterrupt:
        measure.interrupted = True
    return measure


def _within(expected: list[float], seconds: float) -> list[float]:
    """The first of some times that take no longer than so many seconds together."""
    return expected[: int((np.cumsum(expected) <= seconds).sum())]


class _Sample:
    """Views from all over a game, in two halves: the first fills the network's cache, the second shows what is left.

    Searches become cheaper as the cache fills, in small games by far, and so the time of one search says little.
    """

    def __init__(self, network: Network, options: Options, threads: int) -> None:
        sets = game_tree(network.game).infosets
        self.network, self.options, self.threads = network, options, threads
        self.views, self.players = sets.views, sets.owner.astype(np.int64)
        half = min(SAMPLE, -(-len(self.views) // PART))
        some = np.unique(np.linspace(0, len(self.views) - 1, 2 * half).astype(np.int64))
        self.first, self.second = some[::2], some[len(some) > 1 :: 2]
        self._search(self.first[:1], 1)  # compiles what is not compiled yet

    def seconds(self, visits: list[int], seeds: int, most: float) -> list[float]:
        """The expected times of several rising numbers of visits.

        The list ends where the sample itself might take longer than `most` seconds.
        """
        expected: list[float] = []
        took, before = 0.0, visits[0]
        for number in visits:
            if took * number / before > most or (expected and expected[-1] > most):
                break
            first, second = self._search(self.first, number), self._search(self.second, number)
            left = len(self.views) * seeds - len(self.first)
            expected.append(first + second * left / len(self.second))
            took, before = first + second, number
        return expected

    def _search(self, some: Ints, visits: int) -> float:
        """The time of searches at some views."""
        began, game = time.perf_counter(), self.network.game
        views, players = [*self.views[some]], self.players[some].tolist()
        run_searches(game, views, players, self.options, visits, evaluator=self.network, threads=self.threads)
        return time.perf_counter() - began

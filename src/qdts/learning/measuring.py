"""What is measured of a run while it goes on: off the budget's clock, and in bounded time.

A game that can be listed is measured exactly, at the end also with search. Any other shows its strength by matches.
Games of hidden stones are measured cell by cell besides, at the end and at checkpoints that are kept.
"""

from __future__ import annotations

from collections.abc import Callable

from qdts.interrupt import apart
from qdts.learning.by_cells import expected_seconds, known_uniform, network_by_cells, uniform_by_cells
from qdts.learning.experience.experience import MATCHES
from qdts.learning.learner import Learner
from qdts.learning.measure import is_measurable, measure, uniform_nash_conv
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Stopwatch
from qdts.learning.run import Run, is_kept
from qdts.learning.search_measure import measure_search, time_allowed
from qdts.play.strength import Opponents, play_matches, without_search
from qdts.solving.measure import is_measurable_by_cells

MEASURE_LEAST, MEASURE_SHARE = 5.0, 0.25
"""The time to measure generations before the last: seconds, and a share of the budget's clock on top."""
MATCH_LEAST, MATCH_SHARE = 4.0, 0.02
"""Matches are played when there are so many seconds for them, and this share of the budget's clock so far."""
CELLS_LEAST = 60.0
"""A run of fewer seconds is not measured cell by cell; nor does it begin to, with less time left than this."""

Report = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done."""


def is_due(generation: int) -> bool:
    """Whether a generation is measured, if there is time: all up to 16, then 16 for each doubling."""
    return generation <= 16 or generation % (1 << (generation.bit_length() - 5)) == 0


def time_left(measuring: float, learning: float, share: float = MEASURE_SHARE) -> float:
    """Seconds left to measure, after so many of measuring and of the budget's clock; negative if there are none."""
    return MEASURE_LEAST + share * learning - measuring


def goes_by_cells(run: Run) -> bool:
    """Whether a run's game is measured cell by cell."""
    return run.config.measure.most > 0 and is_measurable_by_cells(run.game)


class Measuring:
    """Measures a run's networks."""

    def __init__(self, run: Run, learner: Learner, seconds: float, report: Report) -> None:
        """After so many seconds of the budget's clock."""
        self._run, self._learner, self._report = run, learner, report
        self._by_cells = goes_by_cells(run)
        self._share = MEASURE_SHARE / 2 if self._by_cells else MEASURE_SHARE
        """Of matches, and of what is measured exactly."""
        self._matching, self._clock = Stopwatch(self._share * seconds), Stopwatch(self._share * seconds)
        self._uniform: float | None = None
        """NashConv of uniform play, where the game is listed."""
        self._opponents: Opponents | None = None
        self.interrupted = False
        """Whether Ctrl-C ended a measurement; what there was is kept."""

    def begin(self) -> None:
        """List the game, if it is small enough."""
        self._report("listing the game", 0.0)
        game, most = self._run.game, self._run.config.measure.most
        self._uniform = apart(lambda: uniform_nash_conv(game) if is_measurable(game, most) else None)
        if self._uniform is None and self._run.config.measure.games:
            self._opponents = Opponents(self._run, threads=self._learner.resources.threads)

    def measure(self, generation: int, seconds: float, *, over: bool) -> Line:
        """What there is to measure in a generation, after so many seconds of the budget's clock."""
        if self._uniform is not None:
            return self._listed(generation, seconds, over, self._uniform)
        found: Line = {}
        try:
            if self._opponents is not None:
                found |= self._matches(generation, seconds, over, self._opponents)
            if self._by_cells and (over or is_kept(generation)):
                found |= self._cells(seconds, over)
        except KeyboardInterrupt:
            self.interrupted = True
        return found

    def _listed(self, generation: int, seconds: float, over: bool, uniform: float) -> Line:
        """The exact measures, and at the end those of the searched policy."""
        found: Line = {}
        if over or (is_due(generation) and time_left(self._clock.seconds, seconds) >= 0.0):
            with self._clock:
                found = exact_measures(self._learner, self._report) | {"nash_conv_uniform": uniform}
        if over:
            self._report("estimating the time to measure the searched policy", 0.0)
            searched = measure_search(
                lambda: self._learner.evaluator(average=True),
                self._run.config,
                seconds=self._allowed(seconds),
                threads=self._learner.resources.threads,
                report=self._report,
            )
            found["nash_conv_search"], self.interrupted = searched.rows, searched.interrupted
        return found

    def _allowed(self, seconds: float) -> float:
        """The time of what is measured at the end."""
        return time_allowed(seconds if self._run.minutes is None else 60.0 * self._run.minutes)

    def _matches(self, generation: int, seconds: float, over: bool, opponents: Opponents) -> Line:
        """The mean returns against all opponents, with their intervals."""
        left = time_left(self._matching.seconds, seconds, self._share)
        if not over and (not is_due(generation) or left < max(MATCH_LEAST, MATCH_SHARE * seconds)):
            return {}
        with self._matching:
            agent = without_search(self._learner.evaluator(average=True))
            seats = opponents.of(generation)
            self._learner.use_threads()  # loading a checkpoint has changed that
            played = play_matches(
                agent,
                seats,
                games=self._run.config.measure.games,
                seconds=self._allowed(seconds) if over else left,
                seed=[self._run.seed, generation, MATCHES],
                report=self._report,
            )
        self.interrupted = any(match.interrupted for match in played.values())
        found: Line = {f"return_{name}": match.mean for name, match in played.items()}
        found |= {f"return_{name}_ci95": list(match.ci95) for name, match in played.items() if match.ci95 is not None}
        return found | {"match_games": sum(match.games for match in played.values())}

    def _cells(self, seconds: float, over: bool) -> Line:
        """NashConv with averaged weights, cell by cell, if there is time."""
        game, left = self._run.game, time_left(self._clock.seconds, seconds, self._share)
        most = seconds if over else left
        if self.interrupted or most < CELLS_LEAST:
            return {}
        with self._clock:
            uniform = known_uniform(game)
            if uniform is None:
                uniform = uniform_by_cells(game, self._report)
                most -= 0.0 if over else uniform.seconds
            network = self._learner.resources.evaluator(average=True, bulk=True)
            expected = expected_seconds(network, uniform)
            if expected > most:
                return {}
            found = network_by_cells(network, expected, self._report)
        return {"nash_conv_average": found, "nash_conv_uniform": uniform.nash_conv}


def exact_measures(learner: Learner, report: Report) -> Line:
    """The exact measures of the networks of a game that is listed."""
    report("measuring", 0.0)
    newest = measure(learner.evaluator(), met=learner.source.coverage.has)
    average = measure(learner.evaluator(average=True), policy_only=True)
    found: Line = {
        "nash_conv": newest.nash_conv,
        "nash_conv_average": average.nash_conv,
        "value_error": newest.value_error,
        "belief_error": newest.belief_error,
        "outcome_residual": learner.source.outcome_residual(),
        "coverage": newest.coverage,
    }
    return {name: value for name, value in found.items() if value is not None}

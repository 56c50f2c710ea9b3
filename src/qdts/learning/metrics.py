"""The metrics of a run: what one line of metrics.jsonl holds, and how each number is called wherever it is shown.

A new metric is an entry of METRICS, and a number that the loop puts into its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from qdts.errors import unknown

Line = dict[str, Any]
"""The metrics of one generation by name; those that were not measured are missing."""


class Figure(NamedTuple):
    """A picture of the report: some metrics against seconds."""

    title: str
    log: bool = True
    """Whether the axis of values is logarithmic."""
    zero: bool = True
    """Whether an axis that is not begins at zero."""


NASH_CONV = Figure("NashConv")
STRENGTH = Figure("Mean return against others, with 95 % intervals", log=False, zero=False)
LOSSES = Figure("Losses")
ERRORS = Figure("Errors of V and H against what follows from P")
RESIDUALS = Figure("Residual variance of V before it is fitted")
COVERAGE = Figure("Share of information sets that self-play met", log=False)
ENTROPY = Figure("Entropy of policy targets, in nats", log=False)
GAMES = Figure("Games per second", log=False)
VISITS = Figure("Visits per second", log=False)
FIGURES = (NASH_CONV, STRENGTH, LOSSES, ERRORS, RESIDUALS, COVERAGE, ENTROPY, GAMES, VISITS)
"""All pictures, in the order of the report."""


class Metric(NamedTuple):
    """One number of a generation."""

    name: str
    """Its key in metrics.jsonl."""
    label: str
    """How people read it."""
    unit: str
    meaning: str
    figure: Figure | None = None
    """The picture of the report that shows it."""
    curve: str = ""
    """Its name in that picture."""
    derived: bool = False
    """Whether it is computed from two lines, and not in metrics.jsonl."""
    constant: bool = False
    """Whether it is the same in all generations: a dashed line across the picture."""
    interval: str = ""
    """The metric that holds its 95 % interval."""


def _returns(name: str, opponent: str, meaning: str) -> tuple[Metric, Metric]:
    """The mean return in matches against an opponent, and its 95 % interval."""
    interval = f"return_{name}_ci95"
    label = f"return against {opponent}"
    return (
        Metric(f"return_{name}", label, "returns", meaning, STRENGTH, opponent, interval=interval),
        Metric(interval, f"{label}, 95 % interval", "returns", "of the same: its lower and upper end"),
    )


METRICS = (
    Metric("generation", "generation", "", "the number of the generation, from 1"),
    Metric("games", "games", "games", "games of self-play so far"),
    Metric("seconds", "seconds", "s", "time of self-play and fitting so far: the clock of the budget"),
    Metric("views", "views", "views", "different views of players in the sampled games of the generation"),
    Metric("generation_games", "games of the generation", "games", "games that were sampled in the generation"),
    Metric("histories", "histories", "histories", "different histories of these games"),
    Metric("searches", "searches", "searches", "searches of the generation; games at the same view share one"),
    Metric("visits", "visits", "visits", "visits of all these searches"),
    Metric("root_step", "mirror step", "", "η_root in this generation"),
    Metric("root_temperature", "magnet strength", "", "α_root in this generation"),
    Metric(
        "spread",
        "spread of values",
        "S, half the range of returns",
        "σ: how far the values of a player's actions lie apart if they know the world, a running mean; a step's unit",
    ),
    Metric(
        "noise",
        "noise of values",
        "S, half the range of returns",
        "s: how far the estimate of an action's value from one game lies from its view's Q",
    ),
    Metric("policy_loss", "loss of P", "nats", "cross-entropy of P with its targets, mean over steps", LOSSES, "P"),
    Metric("value_loss", "loss of V", "variance of targets", "mean square of target − V, mean over steps", LOSSES, "V"),
    Metric("child_loss", "loss of V_c", "variance of targets", "the same for V_c", LOSSES, "V_c"),
    Metric(
        "consistency_loss",
        "loss of consistency",
        "variance of targets",
        "mean square of V − the mean of V_c, where it has a weight",
        LOSSES,
        "consistency",
    ),
    Metric(
        "best_child_loss",
        "loss of the best child",
        "variance of targets",
        "mean square of V − the largest V_c, where it has a weight",
        LOSSES,
        "best child",
    ),
    Metric("belief_loss", "loss of H", "nats", "cross-entropy of H with its targets, mean over steps", LOSSES, "H"),
    Metric(
        "bayes_loss",
        "loss of Bayes' rule",
        "nats",
        "cross-entropy of H with Bayes' rule over the worlds that were met, where it has a weight",
        LOSSES,
        "Bayes' rule",
    ),
    Metric("entropy", "entropy of policy targets", "nats", "mean over examples by weight", ENTROPY, "entropy"),
    Metric(
        "value_residual",
        "residual of V",
        "S²",
        "mean square of target − V, before V learns from them",
        RESIDUALS,
        "target",
    ),
    Metric(
        "nash_conv",
        "NashConv",
        "returns",
        "the sum of what each player gains by a best response to the others' P; exact",
        NASH_CONV,
        "network",
    ),
    Metric(
        "nash_conv_average",
        "NashConv with averaged weights",
        "returns",
        "the same for P of the averaged weights",
        NASH_CONV,
        "averaged weights",
    ),
    Metric(
        "nash_conv_uniform",
        "NashConv of uniform play",
        "returns",
        "the same for uniform play, for comparison: always the same",
        NASH_CONV,
        "uniform play",
        constant=True,
    ),
    Metric(
        "value_error",
        "error of V",
        "S, half the range of returns",
        "root mean square of V minus the exact value of P at players' views",
        ERRORS,
        "V",
    ),
    Metric(
        "belief_error",
        "error of H",
        "L1 distance",
        "mean distance of H's belief over worlds from Bayes' rule",
        ERRORS,
        "H",
    ),
    Metric(
        "coverage",
        "coverage",
        "share",
        "of all information sets, by the probability that the others' P and chance lead there, those that the "
        "generation's games met",
        COVERAGE,
        "coverage",
    ),
    Metric(
        "outcome_residual",
        "residual of V in outcomes",
        "S²",
        "mean square of return − V, after V has learned",
        RESIDUALS,
        "plain outcome",
    ),
    Metric(
        "nash_conv_search",
        "NashConv with search",
        "returns",
        "by visits, of what the search for networks plays with averaged weights; at the end of a run",
        NASH_CONV,
        "search",
    ),
    *_returns(
        "uniform",
        "uniform play",
        "the mean return of P with averaged weights, in each seat in turn, all other seats being the opponent's; where "
        "the game is not measured exactly",
    ),
    *_returns("search", "a small search", "the same against `ismcts:100`, or `uct:100` with perfect information"),
    *_returns("first", "the first checkpoint", "the same against P of the first checkpoint"),
    *_returns("earlier", "an earlier checkpoint", "the same against the newest kept checkpoint at most half as old"),
    Metric("match_games", "games of matches", "games", "games that the means are taken over, of all these matches"),
    Metric("memory", "memory", "MB", "the most memory that the process has had so far"),
    Metric("games_per_second", "games per second", "1/s", "games of the generation by its time", GAMES, "games", True),
    Metric(
        "visits_per_second", "visits per second", "1/s", "visits of the generation by its time", VISITS, "visits", True
    ),
)
"""All metrics, in the order of a line."""
BY_NAME = {metric.name: metric for metric in METRICS}


def label(name: str) -> str:
    """How people read a metric."""
    return BY_NAME[name].label


def line(**values: Any) -> Line:
    """A line of metrics.jsonl; the values must be metrics, and come in their order."""
    for name in values:
        if name not in BY_NAME or BY_NAME[name].derived:
            raise unknown("metric", name, (metric.name for metric in METRICS if not metric.derived))
    return {metric.name: values[metric.name] for metric in METRICS if metric.name in values}


def latest(lines: Sequence[Line], name: str) -> Any:
    """The newest value of a metric; None where it was never measured."""
    newest = _newest(lines, name)
    return None if newest is None else newest[name]


def generation_of(lines: Sequence[Line], name: str) -> int | None:
    """The generation that the newest value of a metric is of; None where it was never measured."""
    newest = _newest(lines, name)
    return None if newest is None else int(newest["generation"])


def _newest(lines: Sequence[Line], name: str) -> Line | None:
    """The newest line that holds a metric."""
    assert name in BY_NAME, name
    return next((line for line in reversed(lines) if line.get(name) is not None), None)


def is_measured(line: Line) -> bool:
    """Whether NashConv was measured in a generation, at least with averaged weights."""
    return line.get("nash_conv_average") is not None


def is_matched(line: Line) -> bool:
    """Whether matches were played in a generation."""
    return line.get("match_games") is not None


class Return(NamedTuple):
    """The result of a match."""

    opponent: str
    mean: float
    interval: tuple[float, float] | None
    """The 95 % interval of the mean; None where it is not known."""


def returns_of(line: Line) -> list[Return]:
    """The results of the matches of a generation."""
    intervals = {metric.name: line.get(metric.interval) for metric in METRICS if metric.figure == STRENGTH}
    return [
        Return(BY_NAME[name].curve, line[name], None if ends is None else (ends[0], ends[1]))
        for name, ends in intervals.items()
        if line.get(name) is not None
    ]


def with_speeds(line: Line, before: Line | None) -> Line:
    """A line with the derived metrics; none where no time has passed, and none of visits where nobody searched."""
    start = before or {"games": 0, "seconds": 0.0}
    seconds = line["seconds"] - start["seconds"]
    if seconds <= 0.0:
        return line
    counts = {"games": line["games"] - start["games"]}
    if "visits" in line:
        counts["visits"] = line["visits"]
    return line | {f"{name}_per_second": count / seconds for name, count in counts.items()}


def markdown_table() -> str:
    """The metrics of metrics.jsonl as a table for `docs/learning.md`."""
    rows = [f"| `{m.name}` | {m.label} | {m.unit} | {m.meaning} |" for m in METRICS if not m.derived]
    return "\n".join(["| metric | label | unit | meaning |", "| --- | --- | --- | --- |", *rows])

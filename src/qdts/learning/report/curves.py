"""The curves of metrics: which lines are drawn, and what becomes of a metric's values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from qdts.learning.metrics import Line, Metric, is_matched, is_measured, with_speeds
from qdts.learning.report.picture import Point, Series

ACROSS = {"seconds": "seconds", "games": "games", "generations": "generation"}
"""What a curve may be drawn against, with the metric that counts it."""


def thinned(metrics: Sequence[Line]) -> list[Line]:
    """The lines to draw, with speeds: all that were measured, and of the others the last in each 0.01 of log₁₀ s."""
    kept: dict[tuple[bool, int], Line] = {}
    for before, line in zip([None, *metrics], metrics, strict=False):
        measured = is_measured(line) or is_matched(line)
        column = line["generation"] if measured else math.floor(100 * math.log10(max(line["seconds"], 1e-9)))
        kept[measured, column] = with_speeds(line, before)
    return sorted(kept.values(), key=lambda line: line["generation"])


def series_of(lines: Sequence[Line], metric: Metric, across: str = "seconds") -> list[Series]:
    """The curve of a metric; dots for each number of visits where it is a list by visits."""
    x = ACROSS[across]
    there = [(line[x], line[metric.name]) for line in lines if line.get(metric.name) is not None]
    if not any(isinstance(value, list) for _, value in there):
        band = [(line[x], *line[metric.interval]) for line in lines if line.get(metric.interval) is not None]
        return [Series(metric.curve, there, level=metric.constant, band=band)]
    by_visits: dict[int, list[Point]] = {}
    for at, rows in there:
        for row in rows:
            by_visits.setdefault(row["visits"], []).append((at, row["nash_conv"]))
    return [Series(f"{metric.curve}, {visits:,} visits", points, dots=True) for visits, points in by_visits.items()]

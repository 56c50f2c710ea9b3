"""A curve on logarithmic axes, drawn in text with Braille characters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

BLANK = 0x2800
"""The Braille character without dots; each dot adds one bit."""
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of a dot by row and column of a character."""
ROWS, COLUMNS = 4, 2
"""Dots of a character."""
BARS = "▁▂▃▄▅▆▇█"

Dot = tuple[int, int]
"""Column and row, counted from the upper left."""


class Axis(NamedTuple):
    """A logarithmic axis with a number of places."""

    low: float  # log₁₀ of its ends
    high: float
    places: int

    def place(self, log: float) -> int:
        """Where a logarithm stands, from 0 to places - 1."""
        return round((log - self.low) / (self.high - self.low) * (self.places - 1))

    def decades(self) -> list[int]:
        """The whole powers of ten between its ends."""
        return list(range(math.ceil(self.low), math.floor(self.high) + 1))


def log_log(points: Iterable[tuple[float, float]], *, width: int = 64, height: int = 12) -> list[str]:
    """A curve through points as lines of text; points that have no logarithm are left out."""
    logs = [(math.log10(x), math.log10(y)) for x, y in points if x > 0 and 0 < y < math.inf]
    if not logs:
        return []
    xs, ys = [x for x, _ in logs], [y for _, y in logs]
    across = Axis(math.floor(min(xs)), max(max(xs), math.floor(min(xs)) + 1), width * COLUMNS)
    up = Axis(math.floor(min(ys)), max(math.ceil(max(ys)), math.floor(min(ys)) + 1), height * ROWS)
    corners = [(across.place(x), up.places - 1 - up.place(y)) for x, y in logs]
    return [*_labelled(_braille(_line(corners), width, height), up), *_foot(across, width, _margin(up))]


def spark(values: Sequence[float], *, width: int = 32) -> str:
    """The last values as a line of bars, by their logarithms; those that have none are left out."""
    logs = [math.log10(value) for value in values if 0 < value < math.inf][-width:]
    if not logs:
        return ""
    low, high = min(logs), max(logs)
    return "".join(BARS[round((log - low) / (high - low or 1.0) * (len(BARS) - 1))] for log in logs)


def _line(corners: Sequence[Dot]) -> Iterator[Dot]:
    """The dots on straight lines from corner to corner."""
    yield corners[0]
    for (x, y), (to_x, to_y) in pairwise(corners):
        steps = max(abs(to_x - x), abs(to_y - y))
        yield from ((x + round((to_x - x) * k / steps), y + round((to_y - y) * k / steps)) for k in range(1, steps + 1))


def _braille(dots: Iterable[Dot], width: int, height: int) -> list[str]:
    """Rows of characters that show the dots."""
    cells = [[0] * width for _ in range(height)]
    for x, y in dots:
        cells[y // ROWS][x // COLUMNS] |= DOTS[y % ROWS][x % COLUMNS]
    return ["".join(chr(BLANK + cell) if cell else " " for cell in row).rstrip() for row in cells]


def _margin(up: Axis) -> int:
    """The width of the widest label."""
    return max(len(f"{10.0**k:g}") for k in up.decades())


def _labelled(rows: list[str], up: Axis) -> list[str]:
    """The rows with the vertical axis to their left."""
    labels = {(up.places - 1 - up.place(k)) // ROWS: f"{10.0**k:g}" for k in up.decades()}
    margin = _margin(up)
    return [f"{labels.get(i, ''):>{margin}} {'┤' if i in labels else '│'}{row}" for i, row in enumerate(rows)]


def _foot(across: Axis, width: int, margin: int) -> list[str]:
    """The horizontal axis and its labels, as many as have room."""
    line, labels = ["─"] * width, ""
    for k in across.decades():
        at = across.place(k) // COLUMNS
        line[at] = "┬"
        text = f"{10**k:,}" if k >= 0 else f"{10.0**k:g}"
        start = margin + 2 + at - len(text) // 2
        if start > len(labels):
            labels = f"{labels:<{start}}{text}"
    return [f"{'':>{margin}} └{''.join(line)}", labels]

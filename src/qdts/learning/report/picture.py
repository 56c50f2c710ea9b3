"""Curves as an SVG picture, written as text in milliseconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 12, 36
"""The margins around the curves."""
COLOURS = ("#0b7285", "#e8590c", "#5f3dc4", "#2b8a3e", "#c2255c", "#1864ab")
Point = tuple[float, float]


class Series(NamedTuple):
    """A curve, single dots, or a level."""

    name: str
    points: Sequence[Point]
    dots: bool = False
    level: bool = False
    """Whether it is a dashed line across the picture, at the value of the last point."""
    band: Sequence[tuple[float, float, float]] = ()
    """Intervals around the curve: where, and the lower and upper end."""


class Axis(NamedTuple):
    """An axis from pixel to pixel; on a logarithmic one `low` and `high` are logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def place(self, value: float) -> float:
        """The pixel of a value."""
        at = math.log10(value) if self.log else value
        return self.start + (at - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round numbers between the ends, some two to seven of them."""
        if not self.log:
            step = _round_step((self.high - self.low) / 4)
            first = math.ceil(self.low / step - 1e-9)
            return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
        few = self.high - self.low < 2.5
        every = math.ceil((self.high - self.low) / 7)
        decades = range(math.floor(self.low), math.ceil(self.high) + 1, every)
        found = [m * 10.0**k for k in decades for m in ((1, 2, 5) if few else (1,))]
        return [x for x in found if self.low - 1e-9 <= math.log10(x) <= self.high + 1e-9]


def picture(
    title: str, series: Sequence[Series], *, log_y: bool = True, zero: bool = True, across: str = "seconds"
) -> str:
    """An SVG element of curves; empty if there is nothing to draw.

    Args:
        title: Above it.
        series: What is drawn.
        log_y: Whether the axis of values is logarithmic; that across always is.
        zero: Whether the axis of values begins at zero if it is not.
        across: What is counted across.
    """
    drawable = [s._replace(points=[(x, y) for x, y in s.points if _fits(x, True) and _fits(y, log_y)]) for s in series]
    shown = [(s, COLOURS[i % len(COLOURS)]) for i, s in enumerate(drawable) if s.points]
    if not shown:
        return ""
    horizontal = _axis([x for s, _ in shown for x, _ in s.points], LEFT, WIDTH - RIGHT, True)
    heights = [y for s, _ in shown for y in (*(y for _, y in s.points), *(y for _, *ends in s.band for y in ends))]
    up = _axis(heights, HEIGHT - BOTTOM, TOP, log_y, zero)
    parts = [_grid(horizontal, up, across), *(_band(s, horizontal, up, colour) for s, colour in shown if s.band)]
    for s, colour in shown:
        draw = _dots if s.dots else _level if s.level else _curve
        parts.append(draw(s, horizontal, up, colour))
    keys = "".join(
        f'<span><i style="background:{colour}"></i>{escape(s.name)} <b>{s.points[-1][1]:.3g}</b></span>'
        for s, colour in shown
    )
    return (
        f'<figure><h2>{escape(title)}</h2><p class="keys">{keys}</p>'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )


def _fits(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0.0 or not log)


def _axis(values: Sequence[float], start: float, end: float, log: bool, zero: bool = True) -> Axis:
    """From the least value, or zero, to the greatest, with a little room, and never of no length."""
    if log:
        low, high = math.log10(min(values)), math.log10(max(values))
        room = 0.04 * (high - low) or 0.1
    else:
        low, high = (min(0.0, *values), max(0.0, *values)) if zero else (min(values), max(values))
        room = 0.04 * (high - low) or 1.0
    return Axis(low if zero and not log and low == 0.0 else low - room, high + room, start, end, log)


def _round_step(least: float) -> float:
    """The next of 1, 2, 5, 10, … times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))


def _grid(across: Axis, up: Axis, counted: str) -> str:
    lines, texts = [], []
    for x in across.ticks():
        at = across.place(x)
        lines.append(f"M{at:.1f} {TOP}V{HEIGHT - BOTTOM}")
        texts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{_label(x)}</text>')
    for y in up.ticks():
        at = up.place(y)
        lines.append(f"M{LEFT} {at:.1f}H{WIDTH - RIGHT}")
        texts.append(f'<text x="{LEFT - 5}" y="{at + 3.5:.1f}" text-anchor="end">{_label(y)}</text>')
    texts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(counted)}</text>')
    return (
        f'<path d="{"".join(lines)}" fill="none" stroke="#dee2e6" stroke-width="0.8"/>'
        f'<g font-family="sans-serif" font-size="10" fill="#868e96">{"".join(texts)}</g>'
    )


def _label(value: float) -> str:
    """A round number, without the errors of its sum."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{float(f'{value:.6g}'):g}"


def _curve(series: Series, across: Axis, up: Axis, colour: str) -> str:
    """A line through the points, and a dot at its end."""
    points = [f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in series.points]
    x, y = points[-1].split(",")
    return (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.6" '
        f'stroke-linejoin="round"/><circle cx="{x}" cy="{y}" r="2.6" fill="{colour}"/>'
    )


def _band(series: Series, across: Axis, up: Axis, colour: str) -> str:
    """The intervals around a curve as one pale area; as a line where there is only one of them."""
    ends = [(f"{across.place(x):.1f}", up.place(low), up.place(high)) for x, low, high in series.band]
    around = [f"{x},{low:.1f}" for x, low, _ in ends] + [f"{x},{high:.1f}" for x, _, high in reversed(ends)]
    return (
        f'<polygon points="{" ".join(around)}" fill="{colour}" stroke="{colour}" stroke-width="0.6" '
        'stroke-opacity="0.3" fill-opacity="0.12"/>'
    )


def _dots(series: Series, across: Axis, up: Axis, colour: str) -> str:
    return "".join(
        f'<circle cx="{across.place(x):.1f}" cy="{up.place(y):.1f}" r="3.4" fill="none" stroke="{colour}" '
        'stroke-width="1.6"/>'
        for x, y in series.points
    )


def _level(series: Series, across: Axis, up: Axis, colour: str) -> str:
    """A dashed line from side to side."""
    at = up.place(series.points[-1][1])
    return (
        f'<path d="M{across.start:.1f} {at:.1f}H{across.end:.1f}" fill="none" stroke="{colour}" stroke-width="1.2" '
        'stroke-dasharray="5 4"/>'
    )

"""The look that all figures share: a few shapes written as SVG text, in colours that hold on white and on black."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

INK = "#768390"
"""Words and axes: readable on white and on near-black."""
FAINT = "#8c959f"
ALICE, BOB = "#e8590c", "#1c7ed6"
GOOD, BAD, THIRD = "#2f9e44", "#e03131", "#7950f2"
TINT = 0.12
"""Opacity of filled areas."""
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
DASHES = "5 4"
DOTS = "1.5 4"

Point = tuple[float, float]


def number(value: float) -> str:
    """A coordinate with two digits at most, the same on every machine."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


class Drawing:
    """A picture that is put together shape by shape."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._shapes: list[str] = []

    def text(
        self,
        at: Point,
        words: str,
        *,
        colour: str = INK,
        size: float = 13,
        anchor: str = "start",
        bold: bool = False,
        italic: bool = False,
    ) -> None:
        """One line of words; `anchor` is start, middle or end."""
        style = (' font-weight="600"' if bold else "") + (' font-style="italic"' if italic else "")
        self._shapes.append(
            f'<text x="{number(at[0])}" y="{number(at[1])}" fill="{colour}" font-size="{number(size)}" '
            f'text-anchor="{anchor}"{style}>{escape(words)}</text>'
        )

    def line(
        self, points: Sequence[Point], *, colour: str = INK, width: float = 1.5, dashes: str = "", arrow: bool = False
    ) -> None:
        """A line through points, with an arrow's head at its end if wanted."""
        self._path(points, f'fill="none" stroke="{colour}" stroke-width="{number(width)}"' + _dashed(dashes))
        if arrow:
            self._head(points[-2], points[-1], colour)

    def area(self, points: Sequence[Point], colour: str, *, outline: bool = True, dashes: str = "") -> None:
        """A tinted polygon."""
        stroke = f' stroke="{colour}" stroke-width="1.5"' + _dashed(dashes) if outline else ""
        self._path(points, f'fill="{colour}" fill-opacity="{TINT}"' + stroke, closed=True)

    def box(
        self,
        at: Point,
        size: Point,
        colour: str,
        *,
        radius: float = 0,
        dashes: str = "",
        outline: bool = True,
        opacity: float = TINT,
    ) -> None:
        """A tinted rectangle with its left upper corner at a point."""
        stroke = f' stroke="{colour}" stroke-width="1.5"' + _dashed(dashes) if outline else ""
        self._shapes.append(
            f'<rect x="{number(at[0])}" y="{number(at[1])}" width="{number(size[0])}" height="{number(size[1])}" '
            f'rx="{number(radius)}" fill="{colour}" fill-opacity="{number(opacity)}"{stroke}/>'
        )

    def dot(self, at: Point, colour: str, radius: float = 3.5) -> None:
        """A filled circle."""
        self._shapes.append(f'<circle cx="{number(at[0])}" cy="{number(at[1])}" r="{number(radius)}" fill="{colour}"/>')

    def svg(self) -> str:
        """The whole file."""
        body = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{escape(self.title)}</title>\n<desc>{escape(self.description)}</desc>\n{body}\n</svg>\n"
        )

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_text(self.svg(), encoding="utf-8", newline="\n")

    def _path(self, points: Sequence[Point], look: str, *, closed: bool = False) -> None:
        steps = " L".join(f"{number(x)} {number(y)}" for x, y in points)
        self._shapes.append(f'<path d="M{steps}{" Z" if closed else ""}" {look} stroke-linejoin="round"/>')

    def _head(self, start: Point, end: Point, colour: str) -> None:
        """An arrow's head at `end`."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = (dx * dx + dy * dy) ** 0.5
        dx, dy = 8 * dx / length, 8 * dy / length
        self._path(
            [end, (end[0] - dx + dy / 2, end[1] - dy - dx / 2), (end[0] - dx - dy / 2, end[1] - dy + dx / 2)],
            f'fill="{colour}"',
            closed=True,
        )


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}" stroke-linecap="round"' if dashes else ""

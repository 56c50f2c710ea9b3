"""Why Q is an interval, at one decision of Kuhn poker: the ball around H, the call's interval, what overlap does.

The player holds the queen and faces a bet. A call wins 2 from a jack and loses 2 to a king; a fold loses 1. In an
equilibrium a bettor holds the king three times in four and the queen calls one time in three.

    python docs/figures/intervals.py    # draw intervals.svg
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from drawing import BAD, BOB, DOTS, FAINT, GOOD, INK, TINT, Drawing

PICTURE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 720, 584
ROW = 68
"""From one decision to the next below it."""

EPS = 0.1
C, S = 0.5, 2.0
FOLD, CALL = (-1.0, -1.0), (2.0, -2.0)
"""What each is worth against a jack and against a king: V* of the children of the two SAMPLE nodes."""
PRIOR = (2 / 3, 1 / 3)
COUNTS = (66, 33)
"""P and N of fold and call."""

Interval = tuple[float, float]


class Case(NamedTuple):
    """A decision between fold and call."""

    name: str
    king: float
    """What H says of the king."""
    eps: float
    choice: str
    reason: str
    colour: str


def ball_range(values: Sequence[float], distribution: Sequence[float], eps: float) -> Interval:
    """The lowest and the highest expectation over the L1 ball of radius eps: at most eps/2 of mass moves."""
    middle = sum(p * v for p, v in zip(distribution, values, strict=True))
    gains = []
    for sign in (-1.0, 1.0):
        order = sorted(zip((sign * v for v in values), distribution, strict=True))
        best, left, gain = order[-1][0], eps / 2, 0.0
        for value, mass in order:
            moved = min(left, mass)
            gain += moved * (best - value)
            left -= moved
        gains.append(gain)
    return middle - gains[0], middle + gains[1]


def puct_intervals(h: Sequence[float], eps: float) -> tuple[Interval, Interval]:
    """The PUCT intervals of fold and call when the bettor holds the jack and the king with probabilities h."""
    found = []
    for values, p, n in zip((FOLD, CALL), PRIOR, COUNTS, strict=True):
        lo, hi = ball_range(values, h, eps)
        u = C * S * p * sqrt(sum(COUNTS)) / (1 + n)
        found.append((lo + u, hi + u))
    return found[0], found[1]


def draw() -> Drawing:
    """The ball, the interval, and four decisions."""
    picture = Drawing(
        WIDTH,
        HEIGHT,
        "From a ball around H to an interval, and what overlap does",
        "Queen against a bet in Kuhn poker: an L1 ball of radius 0.1 makes the value of a call the interval from -1.2 "
        "to -0.8, which overlaps that of a fold.",
    )
    _ball(picture)
    _decisions(picture)
    return picture


def _ball(picture: Drawing) -> None:
    """Above: H and its ball at the left, the values of a call and what they come to at the right."""
    picture.text((16, 20), "A queen faces a bet in Kuhn poker. What is a call worth?", size=15, bold=True)
    left, right, y = 40, 320, 108
    picture.text((16, 50), "H: how likely the bettor holds the king", size=12.5)
    at = _scale(left, right, 0, 1)
    picture.line([(left, y), (right, y)], colour=FAINT, width=1)
    for value in (0, 0.25, 0.5, 0.75, 1):
        picture.line([(at(value), y), (at(value), y + 5)], colour=FAINT, width=1)
        picture.text((at(value), y + 20), f"{value:g}", size=11.5, anchor="middle")
    picture.box((at(0.75 - EPS / 2), y - 14), (at(0.75 + EPS / 2) - at(0.75 - EPS / 2), 14), BOB)
    picture.dot((at(0.75), y - 7), BOB, 3.5)
    picture.text((at(0.75), y - 24), "H = 0.75", colour=BOB, size=12.5, anchor="middle", bold=True)
    picture.text((left, y + 44), "The ball of L1 radius ε = 0.1: at most ε/2", size=12.5)
    picture.text((left, y + 61), "of probability moves, 0.70 to 0.80.", size=12.5)

    left, right = 400, 680
    at = _scale(left, right, -2, 2)
    picture.text((376, 50), "Q of the call: +2 against a jack, −2 against a king", size=12.5)
    picture.line([(left, y), (right, y)], colour=FAINT, width=1)
    for value in (-2, -1, 0, 1, 2):
        picture.line([(at(value), y), (at(value), y + 5)], colour=FAINT, width=1)
        picture.text((at(value), y + 20), f"{value:+g}".replace("-", "−") if value else "0", size=11.5, anchor="middle")
    lo, hi = ball_range(CALL, (0.25, 0.75), EPS)
    picture.box((at(lo), y - 14), (at(hi) - at(lo), 14), BOB)
    picture.dot((at(-1), y - 7), BOB, 3.5)
    picture.text(
        (at(-1), y - 24), f"Q = [{_signed(lo)}, {_signed(hi)}]", colour=BOB, size=12.5, anchor="middle", bold=True
    )
    picture.text((left, y + 44), "from −2 · 0.80 + 2 · 0.20 = −1.2", size=12.5)
    picture.text((left, y + 61), "to −2 · 0.70 + 2 · 0.30 = −0.8. A fold: −1.", size=12.5)
    picture.line([(330, y - 7), (366, y - 7)], colour=INK, arrow=True)


def _decisions(picture: Drawing) -> None:
    """Below: the PUCT intervals of fold and call in four cases."""
    top = 218
    picture.text(
        (16, top), "PUCT intervals after 66 folds and 33 calls, and what the next visit does", size=15, bold=True
    )
    cases = (
        Case("ε = 0, H exact", 0.75, 0.0, "pure: fold", "by u alone: visits follow P", INK),
        Case("ε = 0, H off by 0.06", 0.72, 0.0, "pure: call", "and soon hardly ever a fold", BAD),
        Case("ε = 0.1, H off by 0.06", 0.72, EPS, "overlap: a draw from P", "fold 2/3, call 1/3", GOOD),
        Case("ε = 0.1, far from 0.75", 0.60, EPS, "no overlap, pure: call", "more than ε can explain", GOOD),
    )
    left, right = 232, 470
    at = _scale(left, right, -1.2, 0.12)
    bottom = top + 66 + ROW * len(cases) - 14
    for value in (-1.2, -0.9, -0.6, -0.3, 0):
        picture.line([(at(value), top + 44), (at(value), bottom)], colour=FAINT, width=0.6, dashes=DOTS)
        picture.text((at(value), bottom + 17), f"{value:g}".replace("-", "−"), size=11.5, anchor="middle")
    picture.text(((left + right) / 2, bottom + 36), "Q + u", size=12, anchor="middle", italic=True)
    picture.text((left - 14, top + 34), "radius and belief", size=12, anchor="end", italic=True)
    picture.text((right + 18, top + 34), "the choice", size=12, italic=True)
    for k, case in enumerate(cases):
        y = top + 66 + ROW * k
        fold, call = puct_intervals((1 - case.king, case.king), case.eps)
        lo, hi = max(fold[0], call[0]), min(fold[1], call[1])
        if hi >= lo:
            picture.box(
                (at(lo) - 4, y - 11), (at(hi) - at(lo) + 8, 46), GOOD, radius=4, outline=False, opacity=2 * TINT
            )
        picture.text((left - 14, y + 8), case.name, size=12.5, anchor="end", bold=True)
        picture.text((left - 14, y + 25), f"king {case.king:.2f}, jack {1 - case.king:.2f}", size=12, anchor="end")
        _bar(picture, at(fold[0]), at(fold[1]), y, INK, "fold")
        _bar(picture, at(call[0]), at(call[1]), y + 24, BOB, "call")
        picture.text((right + 18, y + 8), case.choice, colour=case.colour, size=13, bold=True)
        picture.text((right + 18, y + 25), case.reason, size=12)


def _bar(picture: Drawing, start: float, end: float, y: float, colour: str, name: str) -> None:
    """An interval as a bar, or a point as a tick, with its name at the right."""
    if end - start < 1:
        picture.line([(start, y - 7), (start, y + 7)], colour=colour, width=4)
    else:
        picture.box((start, y - 6), (end - start, 12), colour, radius=2, opacity=0.35)
    picture.text((end + 8, y + 4), name, colour=colour, size=12)


def _scale(left: float, right: float, low: float, high: float) -> Callable[[float], float]:
    def at(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    return at


def _signed(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")


def main() -> None:
    """Draw the picture."""
    draw().save(PICTURE)


if __name__ == "__main__":
    main()

"""What splitting saves: a hidden state of three components drawn at once, and hole by hole.

python docs/figures/holes.py    # draw holes.svg
"""

from __future__ import annotations

from pathlib import Path

from drawing import BOB, DASHES, FAINT, Drawing, Point

PICTURE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 720, 322
VALUES, HOLES = 4, 3
CHOSEN = (1, 3, 0)
"""The value that is drawn for each hole, from 0."""
TOP, STEP = 84, 62
HALF = 13
"""Half the height of a node."""


def draw() -> Drawing:
    """The flat distribution at the left, the chain of SAMPLE nodes at the right."""
    picture = Drawing(
        WIDTH,
        HEIGHT,
        "Hidden state at once and hole by hole",
        "A hidden state of three components with four values each: one distribution over 64 states, or three over 4.",
    )
    _flat(picture)
    _chain(picture)
    return picture


def _flat(picture: Drawing) -> None:
    """One node with an edge for every hidden state."""
    states = VALUES**HOLES
    left, right, bottom = 24, 344, TOP + STEP * HOLES
    root = ((left + right) / 2, TOP)
    foot = (root[0], TOP + HALF)
    picture.text((16, 20), "All at once", size=15, bold=True)
    picture.text((16, 39), f"H has {VALUES}³ = {states} outputs", size=12.5)
    chosen = CHOSEN[0] * VALUES**2 + CHOSEN[1] * VALUES + CHOSEN[2]
    ends = [(left + (right - left) * k / (states - 1), bottom) for k in range(states)]
    for k, end in enumerate(ends):
        if k != chosen:
            picture.line([foot, end], colour=FAINT, width=0.5)
    picture.line([foot, ends[chosen]], colour=BOB, width=2)
    for k, end in enumerate(ends):
        picture.dot(end, BOB if k == chosen else FAINT, 3.5 if k == chosen else 1.6)
    _node(picture, root, "? ? ?", BOB)
    picture.text((ends[chosen][0], bottom + 22), "2 4 1", colour=BOB, size=12.5, anchor="middle", bold=True)
    picture.text((root[0], bottom + 46), "hearts: 8.4 · 10¹⁶ outputs for a deal", size=12.5, anchor="middle")


def _chain(picture: Drawing) -> None:
    """A chain of nodes, each over the values of one hole."""
    gap = 48
    x = 560.0
    picture.text((400, 20), "Hole by hole", size=15, bold=True)
    picture.text((400, 39), f"H has {VALUES} outputs, {HOLES} times", size=12.5)
    filled = ["?"] * HOLES
    for k, value in enumerate(CHOSEN):
        y = TOP + STEP * k
        ends = [(x + gap * (v - (VALUES - 1) / 2), y + STEP) for v in range(VALUES)]
        for v, end in enumerate(ends):
            if v != value:
                picture.line([(x, y + HALF), end], colour=FAINT, width=1)
                picture.dot(end, FAINT, 2.5)
        picture.line([(x, y + HALF), (ends[value][0], y + STEP - (HALF if k + 1 < HOLES else 0))], colour=BOB, width=2)
        _node(picture, (x, y), " ".join(filled), BOB)
        picture.text((400, y + 4), f"hole {k + 1}", size=12.5)
        filled[k] = str(value + 1)
        x = ends[value][0]
    bottom = TOP + STEP * HOLES
    picture.dot((x, bottom), BOB, 3.5)
    picture.text((x, bottom + 22), " ".join(filled), colour=BOB, size=12.5, anchor="middle", bold=True)
    picture.text((560, bottom + 46), "hearts: 9 outputs, 39 times", size=12.5, anchor="middle")


def _node(picture: Drawing, at: Point, words: str, colour: str) -> None:
    """A SAMPLE node around its words."""
    picture.box((at[0] - 29, at[1] - HALF), (58, 2 * HALF), colour, radius=HALF, dashes=DASHES, opacity=0.25)
    picture.text((at[0], at[1] + 4.5), words, size=12.5, anchor="middle")


def main() -> None:
    """Draw the picture."""
    draw().save(PICTURE)


if __name__ == "__main__":
    main()

"""The two walks of data: a generation of learning, and one search.

python docs/figures/walks.py    # draw training_walk.svg and search_walk.svg
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

from drawing import ALICE, BOB, FAINT, GOOD, INK, THIRD, Drawing, Point

FOLDER = Path(__file__).parent
WIDTH = 720
BOX = (200.0, 58.0)
"""Width and height of a step."""
COLUMNS = (20.0, 260.0, 500.0)
ROWS = (64.0, 172.0, 280.0)


class Step(NamedTuple):
    """A box: where it stands, what happens there, what goes out of it, and the folder that holds it."""

    column: int
    row: int
    title: str
    words: str
    folder: str
    colour: str


TRAINING = (
    Step(0, 0, "1  play", "games from P, or by search", "learning/experience", ALICE),
    Step(1, 0, "2  record", "of searched games", "learning/selfplay/record.py", INK),
    Step(2, 0, "3  targets", "of P, V and V_c, by view", "learning/targets", BOB),
    Step(2, 1, "4  train", "losses, averaged weights", "nets", BOB),
    Step(1, 1, "5  beliefs", "new games of P teach H", "learning/targets/belief.py", THIRD),
    Step(0, 1, "6  checkpoint", "one file, written whole", "nets/checkpoint.py", INK),
    Step(0, 2, "7  measure", "NashConv, errors of V and H", "learning/measure.py", GOOD),
    Step(1, 2, "8  report", "metrics, curves, a page", "learning/report", GOOD),
)
SEARCH = (
    Step(0, 0, "1  view and options", "what a player knows", "search/options", INK),
    Step(1, 0, "2  lanes", "a block of memory each", "search/forest/lanes/layout.py", ALICE),
    Step(2, 0, "3  visit", "choose, descend, grow", "search/forest/machine.py", ALICE),
    Step(2, 1, "4  query", "a new node is parked", "search/forest/requests.py", BOB),
    Step(1, 1, "5  evaluate", "P, V, V_c and H in a batch", "search/evaluation, nets", BOB),
    Step(0, 1, "6  back up", "Q of the path, as intervals", "search/forest/values/backup.py", ALICE),
    Step(0, 2, "7  decide", "a distribution over moves", "search/decision", GOOD),
    Step(1, 2, "8  result", "actions, visits, intervals", "search/decision/result.py", GOOD),
)


def corner(step: Step) -> Point:
    """The left upper corner of a step's box."""
    return COLUMNS[step.column], ROWS[step.row]


def draw_walk(title: str, steps: tuple[Step, ...], loop: str, back: tuple[int, int]) -> Drawing:
    """Boxes in the order of the steps, with arrows; `back` are the steps between which the walk repeats."""
    picture = Drawing(WIDTH, 360, title, "; ".join(f"{s.title}: {s.words}" for s in steps))
    picture.text((20, 30), title, size=16, bold=True)
    for step in steps:
        x, y = corner(step)
        picture.box((x, y), BOX, step.colour, radius=8)
        picture.text((x + 12, y + 20), step.title, colour=step.colour, size=14, bold=True)
        picture.text((x + 12, y + 36), step.words, size=11.5)
        picture.text((x + 12, y + 51), step.folder, colour=FAINT, size=10.5, italic=True)
    for here, there in itertools.pairwise(steps):
        _arrow(picture, here, there)
    (x, y), (u, top) = corner(steps[back[0]]), corner(steps[back[1]])
    foot, middle = top + BOX[1], (y + top + BOX[1]) / 2
    bends = [] if x == u else [(x + 60, middle), (u + 60, middle)]
    picture.line([(x + 60, y), *bends, (u + 60, foot)], colour=ALICE, dashes="5 4", arrow=True)
    picture.text((x + 68, middle + (4 if x == u else -6)), loop, colour=ALICE, size=11.5, italic=True)
    return picture


def _arrow(picture: Drawing, here: Step, there: Step) -> None:
    """From the middle of the side of one box that faces the other."""
    (x, y), (u, v) = corner(here), corner(there)
    if here.row == there.row:
        right = there.column > here.column
        start, end = (x + BOX[0], u) if right else (x, u + BOX[0])
        picture.line([(start, y + BOX[1] / 2), (end, y + BOX[1] / 2)], colour=INK, arrow=True)
    else:
        shift = 140.0 if here.column == 0 else BOX[0] / 2
        picture.line([(x + shift, y + BOX[1]), (u + shift, v)], colour=INK, arrow=True)


def training() -> Drawing:
    """A generation."""
    return draw_walk("A generation of learning", TRAINING, "the next generation", (5, 0))


def search() -> Drawing:
    """A search."""
    return draw_walk("One search", SEARCH, "the next visit", (5, 2))


def main() -> None:
    """Draw both."""
    training().save(FOLDER / "training_walk.svg")
    search().save(FOLDER / "search_walk.svg")


if __name__ == "__main__":
    main()

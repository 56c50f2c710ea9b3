"""One visit of a search of Leduc poker, drawn through three trees.

python docs/figures/many_trees.py    # draw many_trees.svg
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from drawing import ALICE, BOB, DASHES, FAINT, Drawing, Point

PICTURE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 720, 612
NODE = (152.0, 42.0)
STEP = 78
"""From one node to the next below it."""
FIRST = 64
"""The upper edge of the first row of nodes."""
COLUMNS = (22, 284, 546)
"""Left edges of the nodes of the three trees."""
MARGIN, HEAD = 12, 44
"""Of a tree's panel: around its nodes, and above them."""


class Node(NamedTuple):
    """A node on the visit's way."""

    order: int
    """When the visit comes to it."""
    kind: str
    state: str
    edge: str = ""
    """What is chosen there."""


class Tree(NamedTuple):
    """One of the three trees, as far as the visit goes through it."""

    owner: str
    whose: str
    colour: str
    row: int
    """Where it begins."""
    nodes: Sequence[Node]


TREES = (
    Tree(
        "Alice's tree",
        "Alice holds K",
        ALICE,
        0,
        (
            Node(1, "ACT", "K ?", "check"),
            Node(2, "SAMPLE", "K ?, to check", "Q, drawn from H"),
            Node(3, "OPPONENT", "K Q, Bob to move", "raise"),
            Node(11, "ACT", "K ?, check, raise", "call"),
            Node(12, "SAMPLE", "K ?, to call", "J, drawn anew"),
            Node(13, "CHANCE", "K J, board to come", "Q, by the rules"),
            Node(14, "ACT", "K ?, board Q"),
        ),
    ),
    Tree(
        "Bob's tree",
        "as Alice simulates Bob",
        BOB,
        2,
        (
            Node(4, "ACT", "? Q, check", "raise"),
            Node(5, "SAMPLE", "? Q, to raise", "J, drawn from H"),
            Node(6, "OPPONENT", "J Q, Alice to move", "fold"),
            Node(10, "TERMINAL", "J Q: Bob +1"),
        ),
    ),
    Tree(
        "Alice's tree",
        "as Bob simulates Alice",
        ALICE,
        4,
        (
            Node(7, "ACT", "J ?, check, raise", "fold"),
            Node(8, "SAMPLE", "J ?, to fold", "K, drawn from H"),
            Node(9, "TERMINAL", "J K: Alice −1"),
        ),
    ),
)
LEGEND = (
    ("ACT", "the owner's view, the owner to move: PUCT intervals"),
    ("SAMPLE", "the owner has decided; a hole is filled from H"),
    ("OPPONENT", "a world, another player to move: their own tree decides"),
    ("CHANCE", "a world, chance to move: the rules decide"),
    ("TERMINAL", "a finished world: the owner's return"),
)


def draw() -> Drawing:
    """The three trees, the visit through them, and the kinds of node."""
    picture = Drawing(
        WIDTH,
        HEIGHT,
        "One visit through three trees",
        "Alice's tree takes Bob's action from a tree of Bob's, which takes Alice's action from a tree of Alice's. "
        "Only actions come back.",
    )
    _legend(picture)
    for column, tree in zip(COLUMNS, TREES, strict=True):
        _tree(picture, column, tree)
    for k, action in enumerate(("raise", "fold")):
        _call(picture, COLUMNS[k] + NODE[0], COLUMNS[k + 1], _top(TREES[k + 1].row), action, TREES[k + 1].colour)
    picture.text(
        (COLUMNS[0] + NODE[0] / 2, _top(6) + NODE[1] + 26), "new: evaluate it and stop", size=12, anchor="middle"
    )
    return picture


def _top(row: int) -> float:
    return FIRST + STEP * row


def _tree(picture: Drawing, column: float, tree: Tree) -> None:
    """A panel with the nodes of a tree below each other."""
    top, bottom = _top(tree.row), _top(tree.row + len(tree.nodes) - 1) + NODE[1]
    picture.box(
        (column - MARGIN, top - HEAD),
        (NODE[0] + 2 * MARGIN, bottom - top + HEAD + MARGIN),
        tree.colour,
        radius=10,
        outline=False,
        opacity=0.07,
    )
    picture.text((column, top - 25), tree.owner, colour=tree.colour, size=14, bold=True)
    picture.text((column, top - 9), tree.whose, size=11.5)
    for k, node in enumerate(tree.nodes):
        y = _top(tree.row + k)
        _node(picture, (column, y), node.kind, tree.colour)
        picture.text((column + 14, y + 17), node.kind, colour=tree.colour, size=11, bold=True)
        picture.text((column + 14, y + 33), node.state, size=12.5)
        picture.text((column + NODE[0] - 12, y + 17), str(node.order), colour=FAINT, size=11, anchor="end")
        if node.edge:
            x = column + 34
            picture.line([(x, y + NODE[1]), (x, y + STEP)], colour=tree.colour, arrow=True)
            picture.text((x + 9, y + NODE[1] + 22), node.edge, size=12, italic=True)


def _node(picture: Drawing, at: Point, kind: str, colour: str, size: Point = NODE) -> None:
    """The shape of a kind of node."""
    (x, y), (wide, high) = at, size
    if kind == "CHANCE":
        cut = high / 4
        picture.area(
            [
                (x + cut, y),
                (x + wide - cut, y),
                (x + wide, y + high / 2),
                (x + wide - cut, y + high),
                (x + cut, y + high),
                (x, y + high / 2),
            ],
            colour,
        )
    elif kind == "TERMINAL":
        picture.box(at, size, colour, outline=False, opacity=0.22)
    else:
        picture.box(
            at, size, colour, radius=0 if kind == "OPPONENT" else high / 2, dashes=DASHES if kind == "SAMPLE" else ""
        )


def _call(picture: Drawing, start: float, end: float, top: float, action: str, colour: str) -> None:
    """From an OPPONENT node to the tree that decides there, and back."""
    y, middle = top + 12, (start + end) / 2
    picture.line([(start + 4, y), (end - 5, y)], colour=colour, arrow=True)
    picture.text((middle, y - 6), "one visit", size=12, anchor="middle")
    picture.line([(end - 4, y + 18), (start + 5, y + 18)], colour=colour, dashes=DASHES, arrow=True)
    picture.text((middle, y + 35), action, colour=colour, size=13, anchor="middle", bold=True)
    picture.text((middle, y + 50), "and no more", size=12, anchor="middle")


def _legend(picture: Drawing) -> None:
    """The kinds of node, at the right of the first tree."""
    for k, (kind, meaning) in enumerate(LEGEND):
        y = 14 + 25 * k
        _node(picture, (242, y), kind, FAINT, (28, 16))
        picture.text((278, y + 12.5), kind, size=11, bold=True)
        picture.text((358, y + 12.5), meaning, size=12)


def main() -> None:
    """Draw the picture."""
    draw().save(PICTURE)


if __name__ == "__main__":
    main()

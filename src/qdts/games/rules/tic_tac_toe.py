"""Tic-tac-toe, as OpenSpiel's `tic_tac_toe`.

Player 0 sets crosses and player 1 noughts, in turn, on a board of three by three cells; the first to have
three in a line wins. Nothing is hidden: a view is the position, however it came about.

    component       holds
    p               the set of player p's cells: bit 3 row + column, the first row at the top
    TURN            the player to move, 2 when the game is over
"""

from __future__ import annotations

import numpy as np

from qdts.games.family import Family
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import TERMINAL, compile_rules, rule
from qdts.games.sets import any_of, listed
from qdts.kernels import Ints, Reals, Reals32, kernel

TURN = 2
OVER = 2
CELLS = 9
FULL = (1 << CELLS) - 1
LINES = (0b000000111, 0b000111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)
NAMES = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1")
# `rules` says of every set of cells whether it holds a line.


@rule
def initial(rules: Ints, world: Ints) -> None:
    """The board is empty."""
    for i in range(TURN + 1):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """As `step` left it."""
    return TERMINAL if world[TURN] == OVER else world[TURN]


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Every empty cell."""
    return listed(FULL & ~(world[0] | world[1]), actions)


@kernel(inline=True)
def pick(rules: Ints, world: Ints, bits: np.uint64) -> int:
    """One of the empty cells."""
    return any_of(FULL & ~(world[0] | world[1]), bits)


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Take a cell."""
    player = world[TURN]
    world[player] |= 1 << action
    over = (rules[world[player]] != 0) | (world[0] | world[1] == FULL)
    world[TURN] = OVER if over else 1 - player


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """One point for a line."""
    utilities[0] = rules[world[0]] - rules[world[1]]
    utilities[1] = -utilities[0]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Three planes: the player's own cells, the other's, and whether they move first."""
    for k in range(CELLS):
        out[k] = world[player] >> k & 1
        out[CELLS + k] = world[1 - player] >> k & 1
        out[2 * CELLS + k] = player == 0


def build(spec: str) -> Game:
    """The game."""
    has_line = [any(cells & line == line for line in LINES) for cells in range(FULL + 1)]

    def title(view: Ints) -> str:
        cells = "".join("x" if view[0] >> k & 1 else "o" if view[1] >> k & 1 else "-" for k in range(CELLS))
        return "/".join(cells[row : row + 3] for row in range(0, CELLS, 3))

    return Game(
        name="tic_tac_toe",
        parameters={},
        spec=spec,
        version=2,
        players=2,
        rules=np.array(has_line, np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("crosses", NAMES, bits=True),
                Field("noughts", NAMES, bits=True),
                Field("turn", ("x", "o", "over")),
            )
        ),
        num_actions=CELLS,
        num_outcomes=0,
        num_values=0,
        max_depth=CELLS,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(3, 3, 3),
        action_name=NAMES.__getitem__,
        hidden=False,
        pick=pick,
        title=title,
    )


FAMILY = Family(name="tic_tac_toe", summary="Tic-tac-toe: three in a line, nothing hidden", parameters=(), build=build)

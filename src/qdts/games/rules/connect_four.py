"""Connect four, as OpenSpiel's `connect_four`.

Player 0 drops crosses and player 1 noughts, in turn, each to the lowest free cell of a column; the first to have
four in a line, upright, level or slanting, wins. Nothing is hidden: a view is the position, however it came about.

    component       holds
    p               the set of player p's cells: bit `rows * column + row` is the cell in a row from the bottom
    TURN            the player to move, 2 when the game is over
"""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from qdts.errors import InputError
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import TERMINAL, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32, kernel

TURN = 2
OVER = 2
MOST_CELLS = 62  # that fit in a component

# What `rules` holds: the board's size, how many make a line, the bottom row, and the cells from which a line
# may go up and may go down.
ROWS, COLUMNS, LINE, BOTTOM, RISING, FALLING = 0, 1, 2, 3, 4, 5


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
    """Every column whose top is free."""
    taken = world[0] | world[1]
    count = 0
    for column in range(rules[COLUMNS]):
        if not taken >> (column + 1) * rules[ROWS] - 1 & 1:
            actions[count] = column
            count += 1
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Drop a stone: one more than the taken cells of a column, read as a number, is its lowest free cell."""
    low = action * rules[ROWS]
    player = world[TURN]
    taken = world[0] | world[1]
    column = taken >> low & (1 << rules[ROWS]) - 1
    world[player] |= column + 1 << low
    taken |= column + 1 << low
    full = taken == (rules[BOTTOM] << rules[ROWS]) - rules[BOTTOM]
    world[TURN] = OVER if full or has_line(rules, world[player]) else 1 - player


@kernel()
def has_line(rules: Ints, cells: int) -> bool:
    """Whether a set of cells holds a line."""
    rows = rules[ROWS]
    return (
        starts(rules, cells, rows) != 0
        or starts(rules, cells, 1) & rules[RISING] != 0
        or starts(rules, cells, rows + 1) & rules[RISING] != 0
        or starts(rules, cells, rows - 1) & rules[FALLING] != 0
    )


@kernel()
def starts(rules: Ints, cells: int, shift: int) -> int:
    """The cells of a set that are followed, from one to the next by a shift, by enough others for a line."""
    found = cells
    for _ in range(1, rules[LINE]):
        found = found >> shift & cells
    return found


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """One point for a line."""
    utilities[0] = 1.0 if has_line(rules, world[0]) else -1.0 if has_line(rules, world[1]) else 0.0
    utilities[1] = -utilities[0]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Three planes, the top row first: the player's own cells, the other's, and whether they move first."""
    rows, columns = rules[ROWS], rules[COLUMNS]
    own, other, cells = world[player], world[1 - player], rows * columns
    at = 0
    for row in range(rows - 1, -1, -1):
        for column in range(columns):
            cell = column * rows + row
            out[at] = own >> cell & 1
            out[cells + at] = other >> cell & 1
            at += 1
    for i in range(2 * cells, 3 * cells):
        out[i] = player == 0


def build(spec: str, rows: int, columns: int, x_in_row: int, egocentric_obs_tensor: bool) -> Game:
    """The game on a board."""
    cells = rows * columns
    if cells > MOST_CELLS:
        raise InputError(
            f"connect_four: rows={rows} and columns={columns} make {cells} cells, expected at most {MOST_CELLS}"
        )
    bottom = sum(1 << rows * column for column in range(columns))
    rising = sum(bottom << row for row in range(rows - x_in_row + 1))
    falling = sum(bottom << row for row in range(x_in_row - 1, rows))
    letters = ascii_lowercase[:columns]
    names = tuple(f"{letter}{row + 1}" for letter in letters for row in range(rows))
    return Game(
        name="connect_four",
        parameters={
            "rows": rows,
            "columns": columns,
            "x_in_row": x_in_row,
            "egocentric_obs_tensor": egocentric_obs_tensor,
        },
        spec=spec,
        version=1,
        players=2,
        rules=np.array([rows, columns, x_in_row, bottom, rising, falling], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("crosses", names, bits=True),
                Field("noughts", names, bits=True),
                Field("turn", ("x", "o", "over")),
            )
        ),
        num_actions=columns,
        num_outcomes=0,
        num_values=0,
        max_depth=cells,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(3, rows, columns),
        action_name=letters.__getitem__,
        hidden=False,
    )


FAMILY = Family(
    name="connect_four",
    summary="Connect four: drop stones into columns, four in a line; nothing hidden",
    parameters=(
        Parameter("rows", 6, "how high the board is", low=1, high=MOST_CELLS),
        Parameter("columns", 7, "how wide the board is", low=1, high=len(ascii_lowercase)),
        Parameter("x_in_row", 4, "how many in a line win", low=1, high=MOST_CELLS),
        Parameter("egocentric_obs_tensor", False, "OpenSpiel's; features are from a player's seat either way"),
    ),
    build=build,
    examples=("connect_four(rows=3,columns=4,x_in_row=3)", "connect_four(rows=4,columns=3,x_in_row=3)"),
)

"""Tic-tac-toe, as OpenSpiel's `tic_tac_toe`.

Player 0 sets crosses and player 1 noughts, in turn, on a board of three by three cells; the first to have
three in a line wins. Nothing is hidden: a view is the position, however it came about.

    slot            holds
    k               cell 3 row + column: 0 while empty, 1 + the player who took it
"""

from __future__ import annotations

import numpy as np

from qdts.games.family import Family
from qdts.games.game import Game
from qdts.games.interface import TERMINAL, compile_rules, rule
from qdts.games.layout import Field, Layout
from qdts.kernels import Ints, Reals, Reals32, kernel

CELLS = 9
FULL = (1 << CELLS) - 1
LINES = (0b000000111, 0b000111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)
# `rules` says of every set of cells whether it holds a line.


@rule
def initial(rules: Ints, world: Ints) -> None:
    """The board is empty."""
    for k in range(CELLS):
        world[k] = 0


@kernel()
def taken(world: Ints, player: int) -> int:
    """The set of a player's cells."""
    cells = 0
    for k in range(CELLS):
        cells |= (world[k] == player + 1) << k
    return cells


@kernel()
def stones(world: Ints) -> int:
    """How many cells are taken."""
    count = 0
    for k in range(CELLS):
        count += world[k] != 0
    return count


@rule
def mover(rules: Ints, world: Ints) -> int:
    """The players take turns until one has a line or the board is full."""
    crosses, noughts = taken(world, 0), taken(world, 1)
    if rules[crosses] or rules[noughts] or crosses | noughts == FULL:
        return TERMINAL
    return stones(world) & 1


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Every empty cell."""
    count = 0
    for k in range(CELLS):
        if world[k] == 0:
            actions[count] = k
            count += 1
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Take a cell."""
    world[action] = 1 + (stones(world) & 1)


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """One point for a line."""
    utilities[0] = rules[taken(world, 0)] - rules[taken(world, 1)]
    utilities[1] = -utilities[0]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Three planes: the player's own cells, the other's, and whether he moves first."""
    for k in range(CELLS):
        out[k] = world[k] == player + 1
        out[CELLS + k] = world[k] == 2 - player
        out[2 * CELLS + k] = player == 0


def build(spec: str) -> Game:
    """The game."""
    has_line = [any(cells & line == line for line in LINES) for cells in range(FULL + 1)]
    return Game(
        name="tic_tac_toe",
        parameters={},
        spec=spec,
        version=1,
        players=2,
        rules=np.array(has_line, np.int64),
        kernels=compile_rules(globals()),
        layout=Layout((Field("board", ("-", "x", "o"), length=CELLS, row=3),)),
        num_actions=CELLS,
        num_outcomes=0,
        num_values=0,
        max_depth=CELLS,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(3, 3, 3),
        action_name=lambda k: f"{'abc'[k % 3]}{3 - k // 3}",
        hidden=False,
    )


FAMILY = Family(name="tic_tac_toe", summary="Tic-tac-toe: three in a line, nothing hidden", parameters=(), build=build)

"""Hide and guess: a coin is hidden in a cell of a square board, and the other player guesses which.

Player 0 hides the coin, player 1 guesses. Player 1 gets half a point for the right row and half a point for the right
column. A cell is a split action: first the row, then the column. With n × n cells there are 2 n sub-actions in place of
n² actions, so a network that chooses a cell of a large board stays small.

    component       holds
    TURN            how many sub-actions have been made
    PARTS           1 + the row of the coin, 0 before; hidden from player 1
    PARTS + 1       1 + its column, 0 before; hidden from player 1
    PARTS + 2       1 + the guessed row, 0 before; hidden from player 0 until the guess is complete
    PARTS + 3       1 + the guessed column, 0 before
"""

from __future__ import annotations

import numpy as np

from qdts.games import NO_HOLE, TERMINAL, UNKNOWN, Family, Field, Game, Layout, Parameter, compile_rules, one_hot, rule
from qdts.kernels import Ints, Reals, Reals32

TURN, PARTS = 0, 1
COMPONENTS = 5
SIZE = 0  # where `rules` holds the length of an edge of the board


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nothing has happened."""
    for i in range(COMPONENTS):
        world[i] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """Each player makes two sub-actions in a row."""
    return TERMINAL if world[TURN] == 4 else world[TURN] // 2


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """First a row, then a column."""
    first = 0 if world[TURN] % 2 == 0 else rules[SIZE]
    for i in range(rules[SIZE]):
        actions[i] = first + i
    return rules[SIZE]


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Choose a row or a column."""
    world[PARTS + world[TURN]] = action % rules[SIZE] + 1
    world[TURN] += 1


@rule
def midway(rules: Ints, world: Ints) -> int:
    """Whether a row has been chosen, and its column not yet."""
    return world[TURN] % 2


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """Half a point for each coordinate that was guessed."""
    points = 0.0
    for i in range(2):
        if world[PARTS + i] == world[PARTS + 2 + i]:
            points += 0.5
    utilities[0] = -points
    utilities[1] = points


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the coin from player 1, and half a guess from player 0."""
    for i in range(2):
        if player == 1 and world[PARTS + i] != 0:
            world[PARTS + i] = UNKNOWN
    if player == 0 and world[TURN] == 3:
        world[PARTS + 2] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The first unknown component."""
    for i in range(PARTS, COMPONENTS):
        if view[i] == UNKNOWN:
            return i
    return NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Any row or column."""
    for i in range(rules[SIZE]):
        values[i] = i
        weights[i] = 1.0 / rules[SIZE]
    return rules[SIZE]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, and every component but TURN, which follows from the others."""
    at = one_hot(out, 0, player, 2)
    for i in range(PARTS, COMPONENTS):
        at = one_hot(out, at, world[i], rules[SIZE] + 1)


def build(spec: str, size: int) -> Game:
    """The game on a board with so many rows and columns."""
    numbers = tuple(str(i + 1) for i in range(size))

    def replay(world: Ints) -> list[int]:
        made = [int(part) - 1 for part in world[PARTS : PARTS + world[TURN]]]
        return [part + size * (i % 2) for i, part in enumerate(made)]

    return Game(
        name="hide_and_guess",
        parameters={"size": size},
        spec=spec,
        version=1,
        players=2,
        rules=np.array([size], np.int64),
        kernels=compile_rules(globals()),
        layout=Layout(
            (
                Field("turn"),
                Field(
                    "parts", ("-", *numbers), 4, places=("coin's row", "coin's column", "guess's row", "guess's column")
                ),
            )
        ),
        num_actions=2 * size,
        num_outcomes=0,
        num_values=size,
        max_depth=4,
        min_return=-1.0,
        max_return=1.0,
        feature_shape=(3 + 4 * (size + 2),),
        action_name=lambda action: f"{'row' if action < size else 'column'} {action % size + 1}",
        replay=replay,
    )


FAMILY = Family(
    name="hide_and_guess",
    summary="Hide and guess: a coin in a cell, hidden and guessed by row and column",
    parameters=(Parameter("size", 3, "rows and columns of the board", low=2, high=30),),
    build=build,
    small=("hide_and_guess(size=2)",),
)

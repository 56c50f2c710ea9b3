"""Matrix games: both players choose once, neither knowing the other's choice.

Player 0 picks a row, then player 1 a column without seeing the row; then both are shown. `payoffs` holds what
player 0 gets, `column_payoffs` what player 1 gets; where that is left out, what the one wins the other loses.

    component       holds
    ROW             1 + the row, 0 before; hidden from player 1 until they have chosen
    COLUMN          1 + the column, 0 before
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.games.defaults import one_hot, real, real_bits
from qdts.games.family import Family, Parameter, is_number
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.rule import NO_HOLE, TERMINAL, UNKNOWN, compile_rules, rule
from qdts.kernels import Ints, Reals, Reals32

ROW, COLUMN = 0, 1
ROWS, COLUMNS, PAYOFFS = 0, 1, 2  # what `rules` holds; PAYOFFS: both tables, row by row
LARGEST = 64

PRESETS = {
    "rock_paper_scissors": [[0, -1, 1], [1, 0, -1], [-1, 1, 0]],
    "matching_pennies": [[1, -1], [-1, 1]],
}
NAMES = {"rock_paper_scissors": ("Rock", "Paper", "Scissors"), "matching_pennies": ("Heads", "Tails")}


@rule
def initial(rules: Ints, world: Ints) -> None:
    """Nobody has chosen."""
    world[ROW] = 0
    world[COLUMN] = 0


@rule
def mover(rules: Ints, world: Ints) -> int:
    """The row first, then the column."""
    if world[ROW] == 0:
        return 0
    return 1 if world[COLUMN] == 0 else TERMINAL


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Every row, or every column."""
    count = rules[ROWS] if world[ROW] == 0 else rules[COLUMNS]
    for i in range(count):
        actions[i] = i
    return count


@rule
def step(rules: Ints, world: Ints, action: int) -> None:
    """Choose."""
    world[ROW if world[ROW] == 0 else COLUMN] = action + 1


@rule
def returns(rules: Ints, world: Ints, utilities: Reals) -> None:
    """What the tables say."""
    cell = PAYOFFS + (world[ROW] - 1) * rules[COLUMNS] + world[COLUMN] - 1
    utilities[0] = real(rules[cell])
    utilities[1] = real(rules[cell + rules[ROWS] * rules[COLUMNS]])


@rule
def redact(rules: Ints, world: Ints, player: int) -> None:
    """Hide the row from player 1 until they have chosen."""
    if player == 1 and world[ROW] != 0 and world[COLUMN] == 0:
        world[ROW] = UNKNOWN


@rule
def hole(rules: Ints, view: Ints) -> int:
    """The row, if it is hidden."""
    return ROW if view[ROW] == UNKNOWN else NO_HOLE


@rule
def values(rules: Ints, view: Ints, hole: int, values: Ints, weights: Reals) -> int:
    """Any row."""
    for i in range(rules[ROWS]):
        values[i] = i
        weights[i] = 1.0 / rules[ROWS]
    return rules[ROWS]


@rule
def features(rules: Ints, world: Ints, player: int, out: Reals32) -> None:
    """Whose point of view it is, the row and the column."""
    at = one_hot(out, 0, player, 2)
    at = one_hot(out, at, world[ROW], rules[ROWS] + 1)
    one_hot(out, at, world[COLUMN], rules[COLUMNS] + 1)


def read_table(name: str, table: list[Any]) -> Reals:
    """A table of payoffs as an array; raises an InputError that says what is wrong with it."""
    if not 1 <= len(table) <= LARGEST:
        raise InputError(f"matrix_game: {name} has {len(table)} rows, expected 1 to {LARGEST}")
    for i, row in enumerate(table):
        where = f"matrix_game: row {i} of {name}"
        if not isinstance(row, list):
            raise InputError(f"{where} is '{row!s:.40}', expected a list of numbers")
        if not 1 <= len(row) <= LARGEST:
            raise InputError(f"{where} has length {len(row)}, expected 1 to {LARGEST}")
        if len(row) != len(table[0]):
            raise InputError(f"{where} has length {len(row)}, expected {len(table[0])} as in row 0")
        for entry in row:
            if not is_number(entry):
                raise InputError(f"{where} has '{entry!s:.40}', expected a finite number")
    return np.array(table, np.float64)


def build(spec: str, payoffs: list[Any], column_payoffs: list[Any]) -> Game:
    """The game with these payoffs."""
    first = read_table("payoffs", payoffs)
    second = read_table("column_payoffs", column_payoffs) if column_payoffs else 0.0 - first
    if first.shape != second.shape:
        raise InputError(
            f"matrix_game: payoffs have {first.shape[0]} rows of {first.shape[1]} and column_payoffs "
            f"{second.shape[0]} of {second.shape[1]}, expected the same shape"
        )
    rows, columns = first.shape
    preset = next((NAMES[word] for word, table in PRESETS.items() if table == payoffs), None)
    names = preset or tuple(str(i) for i in range(max(rows, columns)))

    def title(view: Ints) -> str:
        if view[COLUMN]:
            return f"{names[view[ROW] - 1]} against {names[view[COLUMN] - 1]}"
        if view[ROW] == UNKNOWN:
            return "to choose a column"
        return f"chose {names[view[ROW] - 1]}" if view[ROW] else "to choose a row"

    return Game(
        name="matrix_game",
        parameters={"payoffs": payoffs, "column_payoffs": column_payoffs},
        spec=spec,
        version=1,
        players=2,
        rules=np.concatenate([np.array([rows, columns], np.int64), real_bits(first), real_bits(second)]),
        kernels=compile_rules(globals()),
        layout=Layout((Field("row", ("-", *names[:rows])), Field("column", ("-", *names[:columns])))),
        num_actions=max(rows, columns),
        num_outcomes=0,
        num_values=rows,
        max_depth=2,
        min_return=float(min(first.min(), second.min())),
        max_return=float(max(first.max(), second.max())),
        feature_shape=(7 + rows + columns,),
        action_name=names.__getitem__,
        zero_sum=bool((first == -second).all()),
        weights="equal",
        replay=lambda world: [int(v) - 1 for v in world if v > 0],
        title=title,
    )


FAMILY = Family(
    name="matrix_game",
    summary="Matrix games: both choose once, unseen by the other",
    parameters=(
        Parameter("payoffs", PRESETS["rock_paper_scissors"], "what the first player gets, by row", presets=PRESETS),
        Parameter("column_payoffs", [], "what the second player gets, by row; empty: what the first loses"),
    ),
    build=build,
    examples=(
        "matrix_game(payoffs=matching_pennies)",
        "matrix_game(payoffs=[[3,0],[5,1]],column_payoffs=[[3,5],[0,1]])",
        "matrix_game(payoffs=[[0.5,-2,3],[1,4,-1]])",
    ),
)

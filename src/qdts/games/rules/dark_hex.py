"""Dark hex, as OpenSpiel's `dark_hex`.

On a board of hexagons player 0 connects the first row with the last, player 1 the first column with the last, and
nobody sees the other's stones. Who tries a cell that the other has taken learns just that; by the classical rules
(`cdh`) they then try another, by the abrupt ones (`adh`) their turn is lost. `hidden_moves` has the rules.

What a player knows of the other's tries, beyond the stones that they met:

    gameversion     obstype             they know
    cdh             reveal-nothing      how many there were in all, but not how many there were at their earlier turns
    cdh             reveal-numturns     how many, and when; so also which of them failed, since those did not end a turn
    adh             either              how many, as turns alternate; not which of them failed

Even `reveal-nothing` shows the total: OpenSpiel's information states do, and forget what it was before. So
memory is not perfect there on boards larger than 2 by 2, and what is forgotten can matter: a failure before
a stone was set can't have been at that stone. Solvers that need perfect recall need `reveal-numturns` (or `adh`).
"""

from __future__ import annotations

from qdts.errors import InputError
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.rules.hidden_moves import MOST_CELLS, build_game

LONGEST = 20


def build(spec: str, gameversion: str, obstype: str, board_size: int, num_cols: int, num_rows: int) -> Game:
    """The game for a board, a version and what is revealed."""
    abrupt, revealed = gameversion == "adh", obstype == "reveal-numturns"
    columns, rows = num_cols or board_size, num_rows or board_size
    if min(columns, rows) < 2 or columns * rows > MOST_CELLS:
        raise InputError(
            f"dark_hex: a board of {rows} rows and {columns} columns is not possible, "
            f"expected at least 2 of each and at most {MOST_CELLS} cells"
        )
    first_row, first_column = (1 << columns) - 1, sum(1 << columns * r for r in range(rows))
    return build_game(
        "dark_hex",
        spec,
        {
            "gameversion": gameversion,
            "obstype": obstype,
            "board_size": board_size,
            "num_cols": num_cols,
            "num_rows": num_rows,
        },
        names=[f"{chr(ord('a') + k % columns)}{k // columns + 1}" for k in range(columns * rows)],
        abrupt=abrupt,
        counted=True,
        outcomes=revealed and not abrupt,
        paths=(columns, first_row, first_column, first_row << columns * (rows - 1), first_column << (columns - 1)),
        memory="perfect" if abrupt or revealed else "sufficient",
    )


FAMILY = Family(
    name="dark_hex",
    summary="Dark hex: connect two edges, the other's stones unseen",
    parameters=(
        Parameter("gameversion", "cdh", "whether a failed try ends the turn (adh) or not", choices=("cdh", "adh")),
        Parameter(
            "obstype",
            "reveal-nothing",
            "whether players also see when the other tried",
            choices=("reveal-nothing", "reveal-numturns"),
        ),
        Parameter("board_size", 3, "rows and columns of the board", low=2, high=LONGEST),
        Parameter("num_cols", 0, "columns; 0 for board_size", low=0, high=LONGEST),
        Parameter("num_rows", 0, "rows; 0 for board_size", low=0, high=LONGEST),
    ),
    build=build,
    examples=(
        "dark_hex(num_cols=2,num_rows=2)",
        "dark_hex(obstype=reveal-numturns,num_cols=2,num_rows=2)",
        "dark_hex(gameversion=adh,num_cols=2,num_rows=2)",
        "dark_hex(gameversion=adh,obstype=reveal-numturns,num_cols=2,num_rows=2)",
    ),
)

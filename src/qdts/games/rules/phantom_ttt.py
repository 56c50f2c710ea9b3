"""Phantom tic-tac-toe, as OpenSpiel's `phantom_ttt`.

Tic-tac-toe in which nobody sees the other's marks. Who tries a cell that the other has taken learns just that; by the
classical rules they then try another, by the abrupt ones their turn is lost. `hidden_moves` has the rules.

What a player knows of the other's tries, beyond the stones that they met:

    gameversion     obstype             they know
    classical       reveal-nothing      nothing: not even how many there were
    classical       reveal-numturns     how many, and when; so also which of them failed, since those did not end a turn
    abrupt          either              how many, as turns alternate; not which of them failed
"""

from __future__ import annotations

from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.rules.hidden_moves import build_game
from qdts.games.rules.tic_tac_toe import CELLS, LINES


def build(spec: str, gameversion: str, obstype: str) -> Game:
    """The game for a version and what is revealed."""
    abrupt, revealed = gameversion == "abrupt", obstype == "reveal-numturns"
    return build_game(
        "phantom_ttt",
        spec,
        {"gameversion": gameversion, "obstype": obstype},
        names=[f"{'abc'[k % 3]}{3 - k // 3}" for k in range(CELLS)],
        abrupt=abrupt,
        counted=abrupt or revealed,
        outcomes=revealed and not abrupt,
        lines=LINES,
    )


FAMILY = Family(
    name="phantom_ttt",
    summary="Phantom tic-tac-toe: three in a line, the other's marks unseen",
    parameters=(
        Parameter("gameversion", "classical", "whether a failed try ends the turn", choices=("classical", "abrupt")),
        Parameter(
            "obstype",
            "reveal-nothing",
            "whether players see how many tries were made",
            choices=("reveal-nothing", "reveal-numturns"),
        ),
    ),
    build=build,
    examples=(
        "phantom_ttt(obstype=reveal-numturns)",
        "phantom_ttt(gameversion=abrupt)",
        "phantom_ttt(gameversion=abrupt,obstype=reveal-numturns)",
    ),
)

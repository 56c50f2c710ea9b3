"""The working memory of simulations.

    axis  counts
    W     components of a world
    B     the most choices there can be, values of a hole among them
    P     players
    D     the game's greatest depth
    F     fillings of a root: values of its first hole, or worlds where those of a root are listed

Nothing in it outlives a simulation but the fillings of the root.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from qdts.fields import empty_arrays, tuple_type
from qdts.games.game import Game
from qdts.kernels import Ints, Reals

LOGARITHMS = 1 << 14
"""How many logarithms are kept: they would take a tenth of the time of a simulation of a small game."""


class Scratch(NamedTuple):
    """Arrays that simulations overwrite; in kernels pointers to them."""

    world: Annotated[Ints, "W"]
    seen: Annotated[Ints, "W"]  # a player's view of it
    choices: Annotated[Ints, "B"]
    chances: Annotated[Reals, "B"]
    fresh: Annotated[Ints, "B"]  # legal edges without a visit
    utilities: Annotated[Reals, "P"]
    path: Annotated[Ints, "D"]  # the edges of the simulation
    movers: Annotated[Ints, "D"]  # who moved there
    fillings: Annotated[Ints, "1"]  # how many fillings the root has; 0 where it has no hole
    weights: Annotated[Reals, "F"]  # their weights
    filled: Annotated[Ints, "F W"]  # the root with its first hole filled, or with all of them
    next_hole: Annotated[Ints, "F"]  # the next hole of each, or NO_HOLE
    logarithms: Annotated[Reals, "LOGARITHMS"]  # ln n, read only


ScratchType = tuple_type(Scratch)


def make_scratch(game: Game, worlds: int) -> Scratch:
    """Working memory for a game; `worlds` is how many a root has at most, where they are listed."""
    lengths = {
        "W": game.world_size,
        "B": max(game.max_branching, game.num_values),
        "P": game.players,
        "D": game.max_depth,
        "F": max(game.num_values, worlds),
    }
    return empty_arrays(Scratch, lengths, fillings=np.zeros(1, np.int64), logarithms=_logarithms())


@cache
def _logarithms() -> Reals:
    return np.array([-math.inf, *map(math.log, range(1, LOGARITHMS))])

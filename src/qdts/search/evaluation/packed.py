"""A query and its evaluation as kernels read and write them: pointers, with their lengths beside them."""

from __future__ import annotations

from typing import NamedTuple

from qdts.kernels import Ints, Reals
from qdts.rng import State


class PackedQuery(NamedTuple):
    """A `Query`, without the rules' weights, which are where its prior will be."""

    kind: int
    vector: Ints  # [size]
    size: int  # W
    player: int
    pending: int
    hole: int
    choices: Ints  # [degree]
    degree: int
    state: State  # the random stream of its search


class PackedEvaluation(NamedTuple):
    """Where an evaluation is written."""

    value: Reals  # [values] V
    children: Reals  # [degree, values] V_c
    prior: Reals  # [degree] P or H; beforehand the rules' weights
    values: int  # K


class Workspace(NamedTuple):
    """Memory that is overwritten."""

    world: Ints  # [W]
    seen: Ints  # [W]
    moves: Ints  # [B]
    chances: Reals  # [B]
    utilities: Reals  # [P]; may be `chances`

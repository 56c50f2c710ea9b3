"""The completions of a view: every world that fills its holes, in the order of `hole` and `values`.

axis  counts
W     components of a world
D     holes of a view at most, plus one
V     values of a hole at most
n     completions
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import int64
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.fields import empty_arrays, tuple_type
from qdts.games.game import Game
from qdts.games.interface import NO_HOLE, UNKNOWN, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element

MOST = 100_000
"""Completions of a view that are listed at most."""
TOO_MANY, DEAD_END = -1, -2
"""What `_complete` returns instead of a number."""


class Completions(NamedTuple):
    """Worlds that fill a view, and a weight for each."""

    worlds: Annotated[Ints, "n W"]
    weights: Annotated[Reals, "n"]


CompletionsType = tuple_type(Completions)


class Walk(NamedTuple):
    """Where the walk over completions is: level by level, the holes that are filled and how."""

    vector: Annotated[Ints, "D W"]  # the view with the holes before this level filled
    product: Annotated[Reals, "D"]  # of the rules' weights of their values
    hole: Annotated[Ints, "D"]
    options: Annotated[Ints, "D"]  # how many values it may have
    place: Annotated[Ints, "D"]  # which of them is next
    choices: Annotated[Ints, "D V"]  # its values
    weights: Annotated[Reals, "D V"]


WalkType = tuple_type(Walk)


def completions(game: Game, view: Ints) -> Completions:
    """All completions of a view, weighted by the rules: the product along the holes, which sums to one.

    Raises an InputError where there are more than MOST.
    """
    lengths = {"n": MOST, "W": game.world_size, "D": game.world_size + 1, "V": max(game.num_values, 1)}
    found, walk = empty_arrays(Completions, lengths), empty_arrays(Walk, lengths)
    walk.vector[0], walk.product[0] = game.verify_vector(view), 1.0
    count = int(_complete(game.kernels, game.rules, walk, found))
    if count == TOO_MANY:
        raise InputError(
            f"{game.spec}: the view {game.layout.write(view)} has more than {MOST:,} completions, "
            "expected fewer where they are weighed: use belief=rules, holes or model"
        )
    if count == DEAD_END:
        raise InputError(f"{game.spec}: a hole of the view {game.layout.write(view)} can't be filled")
    return Completions(found.worlds[:count].copy(), found.weights[:count].copy())


def agree(worlds: Ints, vector: Ints) -> NDArray[np.bool_]:
    """Which worlds agree with the known components of a vector. bool[n]"""
    return np.asarray(((worlds == vector) | (vector == UNKNOWN)).all(1))


@kernel(int64(KernelsType, RulesType, WalkType, CompletionsType))
def _complete(game: Any, rules: Ints, walk: Walk, out: Completions) -> int:
    """Write the completions of the vector at level 0 and their weights, depth first; their number, or a status."""
    rules_at, size, values = element(rules, 0), walk.vector.shape[1], walk.choices.shape[1]
    found, depth, new = 0, 0, True
    while depth >= 0:
        if new:
            vector = element(walk.vector, depth * size)
            walk.hole[depth] = game.hole(rules_at, vector)
            if walk.hole[depth] == NO_HOLE:
                if found == len(out.weights):
                    return TOO_MANY
                out.worlds[found] = walk.vector[depth]
                out.weights[found] = walk.product[depth]
                found += 1
                depth -= 1
                new = False
                continue
            if depth == size:
                return DEAD_END
            choices, weights = element(walk.choices, depth * values), element(walk.weights, depth * values)
            walk.options[depth] = game.values(rules_at, vector, walk.hole[depth], choices, weights)
            walk.place[depth] = 0
            if walk.options[depth] < 1:
                return DEAD_END
        new = walk.place[depth] < walk.options[depth]
        if new:
            place = walk.place[depth]
            walk.vector[depth + 1] = walk.vector[depth]
            next_vector = element(walk.vector, (depth + 1) * size)
            game.fill(rules_at, next_vector, walk.hole[depth], walk.choices[depth, place])
            walk.product[depth + 1] = walk.product[depth] * walk.weights[depth, place]
            walk.place[depth] += 1
            depth += 1
        else:
            depth -= 1
    return found

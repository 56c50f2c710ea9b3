"""The completions of a view: every world that fills its holes, in the order of `hole` and `values`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64
from numpy.typing import NDArray

from qdts.errors import InputError
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

    worlds: Ints  # [n, W]
    weights: Reals  # [n]


def completions(game: Game, view: Ints) -> Completions:
    """All completions of a view, weighted by the rules: the product along the holes, which sums to one.

    Raises an InputError where there are more than MOST.
    """
    size, values = game.world_size, max(game.num_values, 1)
    found = Completions(np.empty((MOST, size), np.int64), np.empty(MOST))
    levels, at = np.empty((size + 1, size), np.int64), np.zeros((3, size + 1), np.int64)
    choices, weights = np.empty((size + 1, values), np.int64), np.empty((size + 1, values))
    products = np.ones(size + 1)
    levels[0] = game.verify_vector(view)
    count = int(_complete(game.kernels, game.rules, levels, products, choices, weights, at, *found))
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


@kernel(
    int64(
        KernelsType, RulesType, int64[:, ::1], float64[::1], int64[:, ::1], float64[:, ::1], int64[:, ::1],
        int64[:, ::1], float64[::1],
    )
)  # fmt: skip
def _complete(
    game: Any, rules: Ints, levels: Ints, products: Reals, choices: Ints, weights: Reals, at: Ints, worlds: Ints,
    totals: Reals,
) -> int:  # fmt: skip
    """Write the completions of the vector `levels[0]` and their weights, depth first; return their number or a status.

    A level of `at` holds the hole, how many values it may have, and which of them is next.
    """
    rules_at, size = element(rules, 0), levels.shape[1]
    holes, counts, places = at[0], at[1], at[2]
    found, depth, new = 0, 0, True
    while depth >= 0:
        if new:
            holes[depth] = game.hole(rules_at, element(levels, depth * size))
            if holes[depth] == NO_HOLE:
                if found == len(worlds):
                    return TOO_MANY
                worlds[found] = levels[depth]
                totals[found] = products[depth]
                found += 1
                depth -= 1
                new = False
                continue
            if depth == size:
                return DEAD_END
            counts[depth] = game.values(
                rules_at, element(levels, depth * size), holes[depth], element(choices, depth * choices.shape[1]),
                element(weights, depth * weights.shape[1]),
            )  # fmt: skip
            places[depth] = 0
            if counts[depth] < 1:
                return DEAD_END
        new = places[depth] < counts[depth]
        if new:
            levels[depth + 1] = levels[depth]
            game.fill(rules_at, element(levels, (depth + 1) * size), holes[depth], choices[depth, places[depth]])
            products[depth + 1] = products[depth] * weights[depth, places[depth]]
            places[depth] += 1
            depth += 1
        else:
            depth -= 1
    return found

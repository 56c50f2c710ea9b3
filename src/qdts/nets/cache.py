"""A cache of evaluations by their queries.

The hash of a query is the one place where its entry can be; a new entry replaces the old one. So memory is bounded, and
an entry that is found is the network's own evaluation of the same query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.hashing import hash_vector
from qdts.kernels import Ints, Reals, declare, kernel
from qdts.pointers import element
from qdts.search.evaluation.evaluator import Evaluations, EvaluationsType, Queries, QueriesType

EMPTY = -1
"""`kind` of a place without an entry."""


class Cache(NamedTuple):
    """Entries by place; a query is known by its vector, kind, player and pending action."""

    key: Ints  # [T, 3 + W] kind, player, pending, vector; T is a power of two, or 0
    value: Reals  # [T, K]
    children: Reals  # [T, B, K]
    prior: Reals  # [T, B]


CacheType = types.NamedTuple([int64[:, ::1], float64[:, ::1], float64[:, :, ::1], float64[:, ::1]], Cache)
declare(Cache, CacheType)


def make_cache(game: Game, entries: int) -> Cache:
    """An empty cache for so many evaluations, rounded up to a power of two; none for 0."""
    if not 0 <= entries <= 1 << 30:
        raise InputError(f"a cache of {entries} evaluations is not possible, expected 0 to {1 << 30:,}")
    places = 1 << (entries - 1).bit_length() if entries else 0
    k, b = 1 if game.hidden else game.players, game.max_choices
    keys = np.full((places, 3 + game.world_size), EMPTY, np.int64)
    return Cache(keys, np.zeros((places, k)), np.zeros((places, b, k)), np.zeros((places, b)))


@kernel(inline=True)
def place_of(cache: Cache, queries: Queries, q: int) -> int:
    """The place of a query."""
    size = queries.vector.shape[1]
    seed = (queries.kind[q] << 40) + (queries.player[q] << 32) + queries.pending[q] + 1
    return hash_vector(element(queries.vector, q * size), size, seed) & (cache.key.shape[0] - 1)


@kernel(int64(CacheType, QueriesType, EvaluationsType, int64[::1]))
def look_up(cache: Cache, queries: Queries, evaluations: Evaluations, missing: Ints) -> int:
    """Write the evaluations that are known, and the numbers of the other queries into `missing`; return their count."""
    count, has_entries = 0, cache.key.shape[0] > 0
    for q in range(queries.kind.shape[0]):
        found = False
        if has_entries:
            place = place_of(cache, queries, q)
            found = (
                cache.key[place, 0] == queries.kind[q]
                and cache.key[place, 1] == queries.player[q]
                and cache.key[place, 2] == queries.pending[q]
            )
            for i in range(queries.vector.shape[1]):
                found &= cache.key[place, 3 + i] == queries.vector[q, i]
        if not found:
            missing[count] = q
            count += 1
            continue
        for k in range(cache.value.shape[1]):
            evaluations.value[q, k] = cache.value[place, k]
        for i in range(queries.degree[q]):
            evaluations.prior[q, i] = cache.prior[place, i]
            for k in range(cache.value.shape[1]):
                evaluations.children[q, i, k] = cache.children[place, i, k]
    return count


@kernel(types.void(CacheType, QueriesType, EvaluationsType, int64[::1], int64))
def remember(cache: Cache, queries: Queries, evaluations: Evaluations, missing: Ints, count: int) -> None:
    """Enter the evaluations of the first `count` missing queries."""
    if cache.key.shape[0] == 0:
        return
    for row in range(count):
        q = missing[row]
        place = place_of(cache, queries, q)
        cache.key[place, 0] = queries.kind[q]
        cache.key[place, 1] = queries.player[q]
        cache.key[place, 2] = queries.pending[q]
        for i in range(queries.vector.shape[1]):
            cache.key[place, 3 + i] = queries.vector[q, i]
        for k in range(cache.value.shape[1]):
            cache.value[place, k] = evaluations.value[q, k]
        for i in range(queries.degree[q]):
            cache.prior[place, i] = evaluations.prior[q, i]
            for k in range(cache.value.shape[1]):
                cache.children[place, i, k] = evaluations.children[q, i, k]

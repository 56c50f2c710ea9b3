"""Finding vectors by what they hold: an open hash table over the rows of an array."""

from __future__ import annotations

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from qdts.kernels import Ints, kernel
from qdts.pointers import element

FREE = -1
"""A place of the table without a row."""


@kernel()
def hash_vector(vector: Ints, size: int, seed: int) -> int:
    """A hash of 63 bits; seeds give independent ones."""
    h = np.uint64(0x9E3779B97F4A7C15) * np.uint64(seed + 1)
    for i in range(size):
        h = (h ^ np.uint64(vector[i])) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return int(np.int64(h >> np.uint64(1)))


@kernel()
def probe(rows: Ints, table: NDArray[np.int32], mask: int, vector: Ints, size: int) -> int:
    """The place of a vector among rows of the same size: where it stands, or the free place where it belongs."""
    place = hash_vector(vector, size, 0) & mask
    while table[place] != FREE:
        same, row = True, table[place] * size
        for i in range(size):
            same &= rows[row + i] == vector[i]
        if same:
            break
        place = (place + 1) & mask
    return place


@kernel(int32[::1](int64[:, ::1]))
def index_rows(rows: Ints) -> NDArray[np.int32]:
    """A table for `probe`, with room for twice as many rows; of equal rows the first is known."""
    length = 16
    while length < 2 * rows.shape[0]:
        length *= 2
    table = np.full(length, FREE, np.int32)
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        place = probe(element(rows, 0), element(table, 0), length - 1, element(rows, row * size), size)
        if table[place] == FREE:
            table[place] = row
    return table

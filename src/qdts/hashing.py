"""Integer vectors as keys: a hash, and an open hash table that finds a vector among the rows of an array.

A table is an int32 array whose length is a power of two. An entry is the number of a row, or FREE.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, kernel
from qdts.pointers import flat

FREE = -1
"""An entry of the table without a row."""


def table_size(rows: int) -> int:
    """The length of a table for so many rows: a power of two, at least twice their number."""
    return 1 << max(4, (2 * rows - 1).bit_length())


def index_rows(rows: Ints, capacity: int = 0) -> NDArray[np.int32]:
    """A table of the rows of int64[N, W], with space for `capacity` rows or N; of equal rows the first is in it."""
    table = np.full(table_size(max(len(rows), capacity)), FREE, np.int32)
    _insert_all(np.ascontiguousarray(rows), table)
    return table


def find_rows(rows: Ints, wanted: Ints, table: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """The number of each wanted vector among the rows, both int64[any, W]; FREE where it is not among them.

    Who looks up many times gives the table of the rows (`index_rows`).
    """
    index = index_rows(rows) if table is None else table
    return _find_all(np.ascontiguousarray(rows), index, np.ascontiguousarray(wanted))


def distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
    """For every row of int64[N, W] which of the different rows it is, int64[N]; and the first of each, ascending.

    Examples:
        >>> distinct_rows(np.array([[5, 6], [7, 8], [5, 6]]))
        (array([0, 1, 0]), array([0, 1]))
    """
    table = np.full(table_size(len(rows)), FREE, np.int32)
    number, first = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    return number, first[: _number_all(np.ascontiguousarray(rows), table, number, first)]


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
    """The entry of a vector among rows of the same size: the one that holds it, or the free one where it belongs.

    Rows and table are given flat, by pointers; `mask` is the table's length minus one. Components are compared one at a
    time: reading several at once, right after each was written by itself, makes the processor wait.
    """
    place = hash_vector(vector, size, 0) & mask
    while table[place] != FREE:
        i, row = 0, table[place] * size
        while i < size and rows[row + i] == vector[i]:
            i += 1
        if i == size:
            break
        place = (place + 1) & mask
    return place


@kernel()
def probe_rows(rows: Ints, table: NDArray[np.int32], vector: Ints) -> int:
    """`probe` for arrays: int64[N, W], int32[power of two] and int64[W]."""
    return probe(flat(rows), flat(table), table.shape[0] - 1, flat(vector), vector.shape[0])


@kernel(types.void(int64[:, ::1], int32[::1]))
def _insert_all(rows: Ints, table: NDArray[np.int32]) -> None:
    for row in range(rows.shape[0]):
        place = probe_rows(rows, table, rows[row])
        if table[place] == FREE:
            table[place] = row


@kernel(int64(int64[:, ::1], int32[::1], int64[::1], int64[::1]))
def _number_all(rows: Ints, table: NDArray[np.int32], number: Ints, first: Ints) -> int:
    """Write which of the different rows each is, and the first of each; how many there are."""
    count = 0
    for row in range(rows.shape[0]):
        place = probe_rows(rows, table, rows[row])
        if table[place] == FREE:
            table[place] = row
            first[count] = row
            number[row] = count
            count += 1
        else:
            number[row] = number[table[place]]
    return count


@kernel(int32[::1](int64[:, ::1], int32[::1], int64[:, ::1]))
def _find_all(rows: Ints, table: NDArray[np.int32], wanted: Ints) -> NDArray[np.int32]:
    numbers = np.empty(wanted.shape[0], np.int32)
    for i in range(wanted.shape[0]):
        numbers[i] = table[probe_rows(rows, table, wanted[i])]
    return numbers

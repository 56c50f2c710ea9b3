"""Which rows of a matrix are equal."""

from __future__ import annotations

import numpy as np
from numba import int64, types

from qdts.hashing import hash_vector
from qdts.kernels import Ints, kernel

FREE = -1
"""A place of the hash table that is not taken."""


def distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The number of every row's class, int64[N], and the first member of each class, int64[classes], ascending."""
    table = np.full(1 << max(4, (2 * len(rows)).bit_length()), FREE, np.int64)
    number, first = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    classes = _distinct(rows, table, number, first)
    return number, first[:classes]


def find(rows: Ints, wanted: Ints) -> Ints:
    """Where each wanted row stands among distinct rows; `len(rows)` or more where it does not."""
    number, first = distinct(np.concatenate([rows, wanted]))
    return first[number[len(rows) :]]


@kernel(types.boolean(int64[::1], int64[::1]))
def _equal(one: Ints, other: Ints) -> bool:
    same = True
    for i in range(one.shape[0]):
        same &= one[i] == other[i]
    return same


@kernel(int64(int64[:, ::1], int64[::1], int64[::1], int64[::1]))
def _distinct(rows: Ints, table: Ints, number: Ints, first: Ints) -> int:
    """Write every row's class and each class's first member; return how many classes. The table starts FREE."""
    mask = table.shape[0] - 1
    classes = 0
    for i in range(rows.shape[0]):
        place = hash_vector(rows[i], rows.shape[1], 0) & mask
        while table[place] != FREE and not _equal(rows[first[table[place]]], rows[i]):
            place = (place + 1) & mask
        if table[place] == FREE:
            table[place] = classes
            first[classes] = i
            classes += 1
        number[i] = table[place]
    return classes


@kernel(types.void(int64[:, ::1], int64[:, ::1]))
def fingerprint(rows: Ints, out: Ints) -> None:
    """Write two independent hashes of every row, int64[N, 2]: they tell apart rows that are too long to keep."""
    for i in range(rows.shape[0]):
        out[i, 0] = hash_vector(rows[i], rows.shape[1], 1)
        out[i, 1] = hash_vector(rows[i], rows.shape[1], 0x2545F4914F6CDD1D)

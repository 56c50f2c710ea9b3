"""Which rows of a matrix are equal."""

from __future__ import annotations

import numpy as np
from numba import int64, types

from qdts.hashing import distinct_rows, hash_vector
from qdts.kernels import Ints, kernel


def find(rows: Ints, wanted: Ints) -> Ints:
    """Where each wanted row stands among distinct rows; `len(rows)` or more where it does not."""
    number, first = distinct_rows(np.concatenate([rows, wanted]))
    return first[number[len(rows) :]]


@kernel(types.void(int64[:, ::1], int64[:, ::1]))
def fingerprint(rows: Ints, out: Ints) -> None:
    """Write two independent hashes of every row, int64[N, 2]: they tell apart rows that are too long to keep."""
    for i in range(rows.shape[0]):
        out[i, 0] = hash_vector(rows[i], rows.shape[1], 1)
        out[i, 1] = hash_vector(rows[i], rows.shape[1], 0x2545F4914F6CDD1D)

"""A sparse matrix cut into blocks of neighbouring rows, for a fast product with a vector.

Hands with the same public line have payoffs against the same sequences of the other player, so a few neighbouring rows
share nearly all their columns. A block holds up to HEIGHT rows and, for each column that any of them has, all HEIGHT
entries side by side (zeros where a row has none): one load of the vector and one vector instruction serve them all,
and HEIGHT entries need one column number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, Reals, kernel

HEIGHT = 8
"""Rows of a block: one 512-bit register of float64."""
OVERLAP = 0.5
"""A row joins the block above if at least this share of its columns is in the block."""


class RowBlocks(NamedTuple):
    """The matrix: N blocks with C columns in all."""

    top: Ints  # [N] the first row
    start: Ints  # [N + 1] a block's columns are entries start[p] to start[p + 1]
    column: NDArray[np.int32]  # [C]
    entry: Reals  # [C · HEIGHT] by column, then by row


RowBlocksType = types.NamedTuple([int64[::1], int64[::1], types.int32[::1], float64[::1]], RowBlocks)


def make_row_blocks(row: NDArray[np.int32], column: NDArray[np.int32], entry: Reals) -> RowBlocks:
    """The blocks of a matrix in compressed rows: row s has entries row[s] to row[s + 1], by ascending column."""
    top, owner = _assign(row, column)
    rows = np.repeat(np.arange(len(row) - 1), np.diff(row))
    block = owner[rows]
    width = int(column.max(initial=0)) + 1
    used, place = np.unique(block * width + column, return_inverse=True)
    start = np.searchsorted(used, np.arange(len(top) + 1) * width)
    dense = np.zeros((len(used), HEIGHT))
    dense[place.reshape(-1), rows - top[block]] = entry
    return RowBlocks(top, start.astype(np.int64), (used % width).astype(np.int32), dense.reshape(-1))


@kernel(types.Tuple((int64[::1], int64[::1]))(types.int32[::1], types.int32[::1]))
def _assign(row: NDArray[np.int32], column: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The first row of each block, and each row's block."""
    rows = len(row) - 1
    block_of_column = np.full(max(column.max() if len(column) else 0, 0) + 1, -1)
    top, owner = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    blocks = 0
    for s in range(rows):
        shared = 0
        for z in range(row[s], row[s + 1]):
            shared += block_of_column[column[z]] == blocks - 1
        joins = blocks > 0 and s - top[blocks - 1] < HEIGHT and shared >= OVERLAP * (row[s + 1] - row[s])
        if not joins:
            top[blocks] = s
            blocks += 1
        owner[s] = blocks - 1
        for z in range(row[s], row[s + 1]):
            block_of_column[column[z]] = blocks - 1
    return top[:blocks].copy(), owner


@kernel()
def multiply(matrix: RowBlocks, vector: Reals, product: Reals) -> None:
    """Product = matrix · vector; `product` is HEIGHT - 1 entries longer than there are rows.

    Every block writes HEIGHT rows; those that are not its own are overwritten by the blocks after it.
    """
    for p in range(len(matrix.top)):
        a = b = c = d = e = f = g = h = 0.0
        for z in range(matrix.start[p], matrix.start[p + 1]):
            x, i = vector[matrix.column[z]], z * HEIGHT
            a += matrix.entry[i] * x
            b += matrix.entry[i + 1] * x
            c += matrix.entry[i + 2] * x
            d += matrix.entry[i + 3] * x
            e += matrix.entry[i + 4] * x
            f += matrix.entry[i + 5] * x
            g += matrix.entry[i + 6] * x
            h += matrix.entry[i + 7] * x
        s = matrix.top[p]
        product[s] = a
        product[s + 1] = b
        product[s + 2] = c
        product[s + 3] = d
        product[s + 4] = e
        product[s + 5] = f
        product[s + 6] = g
        product[s + 7] = h

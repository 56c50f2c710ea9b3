"""The panelled matrix product against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types
from scipy.sparse import csr_array

from qdts import load_game
from qdts.kernels import Reals, kernel
from qdts.solving.sequence.form import sequence_form
from qdts.solving.sequence.row_blocks import HEIGHT, RowBlocks, RowBlocksType, make_row_blocks, multiply
from qdts.solving.tree.recent import game_tree


@kernel(types.void(RowBlocksType, types.float64[::1], types.float64[::1]))
def product_of(blocks: RowBlocks, vector: Reals, product: Reals) -> None:
    multiply(blocks, vector, product)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 30), st.floats(0, 1), st.integers(0, 10**6))
def test_product_of_random_matrices(rows: int, columns: int, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    matrix = csr_array(dense)
    blocks = make_row_blocks(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data)
    vector, product = rng.normal(size=columns), np.full(rows + HEIGHT, np.nan)
    product_of(blocks, vector, product)
    assert product[:rows] == pytest.approx(dense @ vector, abs=1e-12)


def test_hands_of_one_public_line_share_a_block() -> None:
    form = sequence_form(game_tree(load_game("liars_dice")))
    for seat, matrix in zip(form.seats, form.matrices, strict=True):
        assert matrix.nnz == 147420
        assert len(seat.payoff.column) * 6 == matrix.nnz  # six dice a block, no padding within its six rows

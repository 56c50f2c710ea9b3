"""Finding vectors by hash, beside a plain dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from qdts.hashing import FREE, distinct_rows, find_rows, index_rows, table_size


@pytest.mark.parametrize(("rows", "size"), [(0, 16), (8, 16), (9, 32), (16, 32), (17, 64), (1000, 2048)])
def test_tables_are_at_least_twice_as_long_as_their_rows(rows: int, size: int) -> None:
    assert table_size(rows) == size


def test_rows_are_found_and_the_first_of_equal_ones_counts() -> None:
    rng = np.random.default_rng(0)
    rows, wanted = rng.integers(-1, 3, (200, 5)), rng.integers(-1, 3, (300, 5))
    first: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        first.setdefault(row.tobytes(), i)
    assert len(first) < len(rows)
    assert find_rows(rows, wanted).tolist() == [first.get(row.tobytes(), FREE) for row in wanted]
    assert sorted(index_rows(rows)[index_rows(rows) != FREE].tolist()) == sorted(first.values())


def test_room_for_more_rows() -> None:
    rows = np.arange(12).reshape(4, 3)
    table = index_rows(rows, 100)
    assert len(table) == 256
    assert sorted(table[table != FREE].tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("count", [0, 1, 300])
@pytest.mark.parametrize("largest", [3, 255, 2**40])
def test_different_rows_are_numbered_as_they_appear(largest: int, count: int) -> None:
    stream = np.random.default_rng(count)
    rows = stream.integers(-1, largest, (count, 5))
    rows = rows[stream.integers(0, max(count, 1), count)]
    number, first = distinct_rows(rows)
    texts = [row.tobytes() for row in rows]
    assert first.tolist() == sorted(texts.index(text) for text in set(texts))
    np.testing.assert_array_equal(rows[first][number], rows)

"""Curves in text."""

from __future__ import annotations

import math

import pytest

from qdts.cli.display.chart import BLANK, log_log


def dots(line: str) -> int:
    return sum((ord(c) - BLANK).bit_count() for c in line if BLANK <= ord(c) < BLANK + 256)


def test_a_power_law_is_a_straight_line_from_corner_to_corner() -> None:
    assert log_log([(10.0**k, 10.0**-k) for k in range(4)], width=24, height=4) == [
        "    1 ┤⠉⠒⠢⠤⢄⣀",
        "  0.1 ┤      ⠉⠑⠒⠤⢄⣀",
        " 0.01 ┤            ⠉⠑⠒⠤⢄⣀",
        "0.001 ┤                  ⠉⠉⠒⠢⠤⣀",
        "      └┬───────┬──────┬───────┬",
        "       1      10     100    1,000",
    ]


@pytest.mark.parametrize(("width", "height"), [(64, 12), (20, 3), (1, 1)])
def test_it_has_the_size_asked_for(width: int, height: int) -> None:
    lines = log_log([(1, 5.0), (3, 0.2), (700, 0.003)], width=width, height=height)
    assert len(lines) == height + 2
    margin = lines[0].index("┤") + 1
    assert all(len(line) <= margin + width for line in lines[:height])
    assert len(lines[height]) == margin + width


def test_decades_are_labelled() -> None:
    *_, axis, labels = log_log([(1, 2.0), (2000, 0.02)])
    assert axis.count("┬") == 4
    assert labels.split() == ["1", "10", "100", "1,000"]


def test_labels_without_room_are_left_out() -> None:
    labels = log_log([(1, 1.0), (10**9, 0.1)], width=32)[-1].split()
    assert 3 <= len(labels) < 10
    assert {*labels} <= {f"{10**k:,}" for k in range(10)}


def test_the_line_has_no_gaps() -> None:
    rows = log_log([(1, 1.0), (1000, 0.0001)], width=30, height=10)[:10]
    assert all(dots(row) for row in rows)


def test_one_point_is_one_dot() -> None:
    assert sum(map(dots, log_log([(1, 0.5)]))) == 1


def test_points_without_a_logarithm_are_left_out() -> None:
    curve = [(1.0, 1.0), (10.0, 0.1)]
    assert log_log([*curve, (20, 0.0), (0, 1.0), (30, math.nan), (40, math.inf)]) == log_log(curve)
    assert log_log([(1, 0.0), (2, 0.0)]) == []
    assert log_log([]) == []

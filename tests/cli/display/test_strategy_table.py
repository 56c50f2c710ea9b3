"""A strategy as a table."""

from __future__ import annotations

import pytest

from qdts.cli.display.strategy import first_rows
from qdts.games.registry import load_game
from qdts.solving import solve


def test_a_strategy_starts_where_play_does() -> None:
    policy = solve(load_game("kuhn_poker"), iterations=1000).policy
    rows = first_rows(policy)
    assert sum(len(row.views) for row in rows) == 12
    assert [row.player for row in rows[:3]] == [0, 0, 0]
    assert rows[0].views == ["J; to open"]
    king = next(row for row in rows if "K; bet" in row.views)
    assert king.plays["Bet"] == pytest.approx(1.0)

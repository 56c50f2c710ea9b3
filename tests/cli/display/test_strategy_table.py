"""A strategy as a table."""

from __future__ import annotations

import pytest

from qdts.cli.display.strategy import _joined, first_rows
from qdts.games.registry import load_game
from qdts.solving import solve


@pytest.mark.parametrize(
    ("views", "line"),
    [
        (["13; ? as 2", "23; ? as 2"], "13/23; ? as 2"),
        (["13; ? as 2", "12; ? as 2"], "13/12; ? as 2"),
        (["J♠ | to open", "J♥ | to open"], "J♠/♥ | to open"),
        (["? against J; to open", "? against Q; to open"], "? against J/Q; to open"),
        (["pass", "pass pass"], "pass/pass pass"),
        (["to open"], "to open"),
    ],
)
def test_views_share_whole_words(views: list[str], line: str) -> None:
    assert _joined(views) == line


def test_a_strategy_starts_where_play_does() -> None:
    policy = solve(load_game("kuhn_poker"), iterations=1000).policy
    rows = first_rows(policy)
    assert sum(len(row.views) for row in rows) == 12
    assert [row.player for row in rows[:3]] == [0, 0, 0]
    assert rows[0].views == ["J; to open"]
    king = next(row for row in rows if "K; bet" in row.views)
    assert king.plays["Bet"] == pytest.approx(1.0)

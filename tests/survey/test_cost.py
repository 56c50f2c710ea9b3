"""What a search costs: the page's table, and that counting in steps changes nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from qdts import load_game, uniform_policy
from qdts.search.evaluation.builtin import Table
from qdts.search.options.named import named
from qdts.survey.cost import Cost, costs

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def leduc_costs(visits: list[int], share: bool) -> list[Cost]:
    game = load_game("leduc_poker")
    view = game.view(game.step(game.step(game.initial(), 0), 2), 0)
    return costs(game, view, 0, named("qdts", share=share), Table(uniform_policy(game)), visits)


def test_the_page_s_table() -> None:
    lines = PAGE.read_text(encoding="utf-8").split("## What a search costs")[1].split("\n## ")[0].splitlines()
    rows = [[c.strip().replace(",", "") for c in line.split("|")[1:-1]] for line in lines if line.startswith("| ")][2:]
    visits = [int(row[0]) for row in rows]
    assert visits == [16 * 4**k for k in range(7)]
    for share, column in ((False, 1), (True, 6)):
        touched, before = 0, 0
        for row, cost in zip(rows, leduc_costs(visits[:5], share), strict=False):
            late = (cost.touched - touched) / (cost.visits - before)
            assert row[column : column + 3] == [f"{late:.0f}", str(cost.evaluations), str(cost.nodes)]
            assert float(row[column + 3].split()[0]) == pytest.approx(cost.bytes / 1e6, abs=0.006)
            touched, before = cost.touched, cost.visits


def test_counting_changes_nothing() -> None:
    steps = leduc_costs([5, 50, 200], False)
    assert steps[-1][:6] == leduc_costs([200], False)[0][:6]
    assert all(a < b for one, other in pairwise(steps) for a, b in zip(one[:4], other[:4], strict=True))

"""Metrics: one table that lines, pages and docs agree with."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdts import InputError
from qdts.learning.metrics import (
    FIGURES,
    METRICS,
    is_measured,
    label,
    latest,
    line,
    markdown_table,
    with_speeds,
)
from qdts.learning.run import Run
from qdts.nets.losses import LOSSES

DOCS = Path(__file__).parents[2] / "docs" / "learning.md"


def test_every_metric_has_words() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert all(metric.label and metric.meaning for metric in METRICS)
    assert all(metric.figure in FIGURES and metric.curve for metric in METRICS if metric.figure is not None)
    assert {*LOSSES} <= {metric.name for metric in METRICS}


def test_the_docs_have_the_table() -> None:
    """`python -c "from qdts.learning.metrics import markdown_table; print(markdown_table())"` prints it."""
    assert markdown_table() in DOCS.read_text(encoding="utf-8")


NOT_OF_IT = {"searches", "visits", "outcome_residual", "consistency_loss", "best_child_loss", "bayes_loss"}
"""Those of searched games, and losses without a weight."""


def test_a_run_writes_metrics_in_their_order(kuhn_run: Run) -> None:
    names = [metric.name for metric in METRICS if not metric.derived]
    for found in kuhn_run.metrics():
        assert [*found] == [name for name in names if name in found]
    of_others = NOT_OF_IT | {name for name in names if name.startswith(("return_", "match_"))}
    assert {*kuhn_run.metrics()[-1]} == {*names} - of_others, "its games are sampled, and it is measured exactly"


def test_lines() -> None:
    assert [*line(games=3, generation=1)] == ["generation", "games"]
    for name in ("gams", "games_per_second"):
        with pytest.raises(InputError, match="unknown metric"):
            line(**{name: 1})
    lines = [line(generation=1, nash_conv=0.5, nash_conv_average=0.4), line(generation=2)]
    assert (latest(lines, "nash_conv"), latest(lines, "value_error")) == (0.5, None)
    assert [is_measured(found) for found in lines] == [True, False]
    assert label("value_error") == "error of V"


def test_speeds() -> None:
    first = line(games=10, seconds=2.0, visits=40)
    assert with_speeds(first, None) == first | {"games_per_second": 5.0, "visits_per_second": 20.0}
    second = line(games=40, seconds=3.0, visits=50)
    assert with_speeds(second, first)["games_per_second"] == 30.0
    assert with_speeds(second, second) == second, "no time has passed"

"""What many tests need, made once."""

from __future__ import annotations

import pytest

from qdts.learning.loop import train
from qdts.learning.run import Run

TINY = (
    *("net.width=16", "net.layers=1", "play.games=40", "play.batch=32", "play.cache=1024", "search.visits=8"),
    *("fit.steps=8", "fit.rows=64", "belief.games=60", "belief.steps=8", "measure.visits=4"),
)
"""Settings of a run that learns little in no time."""


@pytest.fixture(scope="session")
def kuhn_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three generations of Kuhn poker. Whoever changes its folder copies it before."""
    return train("kuhn_poker", generations=3, out=tmp_path_factory.mktemp("runs") / "kuhn", settings=TINY)

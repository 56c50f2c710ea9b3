"""Searches that are looked at on their way."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.search.evaluation.builtin import Table
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_in_stages, run_searches
from qdts.solving.uniform import uniform_policy
from search.samples import first_view


@pytest.mark.parametrize(
    "options", [named("qdts"), named("mmds", share=True, step=1.0), named("a-ismcts", widen=True), named("ismcts")]
)
def test_a_search_in_stages_is_one_from_the_beginning(options: Options) -> None:
    game = load_game("leduc_poker")
    views, players = zip(*(first_view(game, 8 + s) for s in range(5)), strict=True)
    table = Table(uniform_policy(game), value_noise=0.1) if options.machine == "forest" else None
    stages = (1, 4, 30, 700)
    staged = run_in_stages(game, views, players, options, stages, evaluator=table, seeds=range(5))
    for visits, results in zip(stages, staged, strict=True):
        fresh = run_searches(game, views, players, options, visits, evaluator=table, seeds=range(5))
        for one, other in zip(results, fresh, strict=True):
            assert one.visits.sum() == visits
            for name in ("visits", "q_lo", "q_hi", "move", "nodes"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name

"""Lanes by themselves: visits in some of them, and a new search in one."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from search.naive_evaluators import Hashed
from search.samples import first_view


def searcher_of(spec: str, search: str, seeds: list[int]) -> Searcher:
    game = load_game(spec)
    view, player = first_view(game, 0)
    return Searcher(game, [view] * len(seeds), [player] * len(seeds), named(search), Hashed(game, 1), seeds=seeds)


@pytest.mark.parametrize(("spec", "search"), [("tic_tac_toe", "puct"), ("leduc_poker", "qdts")])
def test_visits_in_some_lanes(spec: str, search: str) -> None:
    """The others keep what they have, and continue as if nothing had been between."""
    some, all_ = searcher_of(spec, search, [1, 2, 3]), searcher_of(spec, search, [1, 2, 3])
    all_.run(30)
    some.run(10)
    some.run(20, lanes=np.array([0, 2]))
    assert [int(some.result(s).visits.sum()) for s in range(3)] == [30, 10, 30]
    some.run(20, lanes=np.array([1]))
    for s in range(3):
        np.testing.assert_array_equal(some.result(s).visits, all_.result(s).visits)
        np.testing.assert_array_equal(some.result(s).q_lo, all_.result(s).q_lo)


@pytest.mark.parametrize(("spec", "search"), [("tic_tac_toe", "puct"), ("leduc_poker", "qdts")])
def test_a_new_search_in_one_lane(spec: str, search: str) -> None:
    searcher, fresh = searcher_of(spec, search, [1, 2]), searcher_of(spec, search, [7])
    searcher.run(25)
    before = searcher.result(1)
    view, player = first_view(searcher.game, 0)
    searcher.begin(0, view, player, 7)
    searcher.run(15, lanes=np.array([0]))
    fresh.run(15)
    np.testing.assert_array_equal(searcher.result(0).visits, fresh.result(0).visits)
    np.testing.assert_array_equal(searcher.result(0).q_hi, fresh.result(0).q_hi)
    np.testing.assert_array_equal(searcher.result(1).visits, before.visits)
    with pytest.raises(InputError, match=r"not to move|not a view"):
        searcher.begin(0, view, 1 - player, 7)

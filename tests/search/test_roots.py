"""What a search refuses to begin with, before any kernel sees it."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.errors import InputError
from qdts.search.evaluation.builtin import Uniform
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.roots import MOST_VISITS, verify_view, verify_visits
from qdts.search.run import run_searches

GAME = load_game("kuhn_poker")
DEALT = GAME.step(GAME.step(GAME.initial(), 0), 1)
VIEW = GAME.view(DEALT, 0)


@pytest.mark.parametrize("name", ["qdts", "ismcts"])
def test_only_what_a_player_may_see_at_their_turn(name: str) -> None:
    for vector, player, words in (
        (DEALT, 0, "shows what they can't know"),
        (VIEW, 1, "shows what they can't know|not to move"),
        (VIEW, 7, "player 7, expected 0 to 1"),
        (GAME.initial(), 0, "not to move"),
        (VIEW[:-1].copy(), 0, r"got int64 with shape \(6,\)"),
        (GAME.step(GAME.step(DEALT, 0), 0), 0, "can't know|not to move"),
    ):
        with pytest.raises(InputError, match=words):
            run_searches(GAME, [vector], [player], named(name), 10)
    with pytest.raises(InputError, match="1 views, 1 players, 2 seeds"):
        run_searches(GAME, [VIEW], [0], named(name), 10, seeds=[1, 2])
    with pytest.raises(InputError, match="threads=0"):
        run_searches(GAME, [VIEW], [0], named(name), 10, threads=0)


@pytest.mark.parametrize("visits", [0, -1, MOST_VISITS + 1, 10**20])
def test_visits(visits: int) -> None:
    with pytest.raises(InputError, match=f"visits={visits}"):
        verify_visits(visits)
    for name in ("qdts", "ismcts"):
        with pytest.raises(InputError, match=f"visits={visits}"):
            run_searches(GAME, [VIEW], [0], named(name), visits)


def test_a_search_is_kept_for_its_own_player_alone() -> None:
    searcher = Searcher(GAME, [VIEW], [0], named("qdts"), Uniform(GAME))
    searcher.run(10)
    later = GAME.step(GAME.step(DEALT, 0), 1)
    with pytest.raises(InputError, match="can't know"):
        searcher.keep(0, later)
    assert searcher.keep(0, GAME.view(later, 0))


def test_views_that_no_play_leads_to() -> None:
    twice = VIEW.copy()
    twice[-1] = 1  # a move after nobody has moved
    with pytest.raises(InputError, match="no play leads player 0"):
        verify_view(GAME, twice, 0)
    table = load_game("openspiel:kuhn_poker")
    for node, classes in (([-1, -1], [-1, -1]), ([15, 15], [-1, -1])):
        vector = np.array([*node, *classes], np.int64)
        assert table.mover(vector) < 0
    large = load_game("connect_four")
    with pytest.raises(InputError, match="give the moves from the start"):
        verify_view(large, large.initial(), 0)

"""Strength by matches: opponents, bounds, seeds."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from qdts import PolicySeat, load_game, solve
from qdts.learning.metrics import BY_NAME
from qdts.learning.run import Run, is_kept, open_run
from qdts.play.agent import Agent, load_agent
from qdts.play.seats import Random, Seat
from qdts.play.strength import FIRST, OPPONENTS, WORDS, Opponents, earlier_than, play_matches, small_search


def test_an_earlier_checkpoint_is_kept_and_at_most_half_as_old() -> None:
    assert [earlier_than(n) for n in (1, 2, 3, 4, 5, 8, 11, 12, 100)] == [0, 1, 1, 2, 2, 4, 4, 6, 48]
    assert all(is_kept(earlier_than(n)) for n in range(2, 300))


def test_every_opponent_has_words_and_metrics() -> None:
    assert [*WORDS] == [*OPPONENTS]
    for name in OPPONENTS:
        metric = BY_NAME[f"return_{name}"]
        assert metric.interval == f"return_{name}_ci95"
        assert metric.interval in BY_NAME
        assert metric.curve == WORDS[name]


def test_opponents_of_a_run(kuhn_run: Run, tmp_path: Path) -> None:
    shutil.copytree(kuhn_run.folder, tmp_path / "run")
    run = open_run(tmp_path / "run")
    opponents = Opponents(run)
    assert [*opponents.of(1)] == ["uniform", "search"]
    assert [*opponents.of(3)] == ["uniform", "search", "first"], "half of 3 is the first checkpoint"
    seats = opponents.of(4)
    assert [*seats] == [*OPPONENTS]
    world = run.game.step(run.game.step(run.game.initial(), 2), 0)
    view = run.game.view(world, 0)
    for name, generation in (("first", 1), ("earlier", 2)):
        seat = seats[name]
        assert isinstance(seat, Agent)
        assert seat.evaluator.belief is None
        own = load_agent(run, generation=generation).policy(view)
        assert seat.policy(view) == pytest.approx(own, abs=1e-6)
    assert opponents.of(5)["first"] is seats["first"], "loaded once"


def test_the_small_search_fits_the_game() -> None:
    names = {spec: small_search(load_game(spec)).options for spec in ("kuhn_poker", "tic_tac_toe")}
    assert names["kuhn_poker"] != names["tic_tac_toe"]


def test_matches_follow_from_their_seed_and_find_the_better_player() -> None:
    game = load_game("kuhn_poker")
    strong = PolicySeat(solve(game, "lp").policy)
    opponents: dict[str, Seat] = {"uniform": Random(game), "search": small_search(game)}
    first, again, other = (
        play_matches(strong, opponents, games=600, seconds=math.inf, seed=[1, 2, k]) for k in (3, 3, 4)
    )
    assert [match.games for match in first.values()] == [600, 600]
    for name in opponents:
        np.testing.assert_array_equal(first[name].returns, again[name].returns)
        assert (first[name].returns != other[name].returns).any()
    interval = first["uniform"].ci95
    assert interval is not None
    assert interval[0] > 0.0


def test_matches_are_bounded_in_time() -> None:
    game = load_game("kuhn_poker")
    said: list[str] = []
    few = play_matches(
        Random(game),
        {"uniform": Random(game), "search": small_search(game)},
        games=10**9,
        seconds=0.0,
        seed=[0],
        report=lambda what, _share: said.append(what),
    )
    assert [match.games for match in few.values()] == [FIRST * 2] * 2
    assert said == ["playing against uniform play", "playing against a small search"]
    some = play_matches(Random(game), {"uniform": Random(game)}, games=10**9, seconds=0.3, seed=[0])["uniform"]
    assert FIRST * 2 < some.games < 10**6

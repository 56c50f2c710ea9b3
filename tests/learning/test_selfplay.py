"""Self-play: what a record holds was played by the rules, as the searches decided."""

from __future__ import annotations

import numpy as np
import pytest

from learning.samples import SPECS, made_up, sample
from qdts import load_game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.selfplay.decisions import Decisions
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.record import COLUMNS, NO_SEARCH, NOBODY, Record, world_type


@pytest.mark.parametrize("spec", SPECS)
def test_a_record_replays(spec: str) -> None:
    record = sample(spec)
    game = record.game
    assert (len(record), record.generation) == (60, 7)
    for g in range(len(record)):
        world = game.initial()
        for t in range(record.first[g], record.first[g + 1]):
            np.testing.assert_array_equal(record.worlds[t], world)
            assert record.mover[t] == game.mover(world) != TERMINAL
            possible = [c for c, _ in game.chance(world)] if record.mover[t] == CHANCE else game.legal(world)
            assert record.action[t] in possible
            assert (record.search[t] == NO_SEARCH) == (record.mover[t] == CHANCE)
            world = game.step(world, int(record.action[t]))
        assert game.mover(world) == TERMINAL
        np.testing.assert_array_equal(record.returns[g], game.returns(world))


@pytest.mark.parametrize("spec", SPECS)
def test_a_search_belongs_to_one_view_and_its_actions(spec: str) -> None:
    """Games that come to a view at the same time share its search, whose actions are the legal ones, in order."""
    record = sample(spec)
    game, decide = record.game, made_up(record.game)
    views: dict[int, tuple[int, bytes]] = {}
    for t in np.flatnonzero(record.search != NO_SEARCH):
        s, player = int(record.search[t]), int(record.mover[t])
        view = game.view(record.worlds[t], player)
        assert views.setdefault(s, (player, view.tobytes())) == (player, view.tobytes())
        of = slice(int(record.offset[s]), int(record.offset[s + 1]))
        assert of.stop - of.start == len(game.legal(view))
        told = decide(view[None], np.array([player]))
        for name in Decisions._fields[1:]:
            column = getattr(record, name)
            np.testing.assert_array_equal(column[of], getattr(told, name).astype(column.dtype), name)
    assert sorted(views) == list(range(len(record.offset) - 1))
    assert len(views) < (record.search != NO_SEARCH).sum()


def test_seats_take_turns_at_exploring_and_the_explorer_alone_explores() -> None:
    record = sample("kuhn_poker(players=3)", 3000)
    who = np.repeat(record.explorer, np.diff(record.first))
    assert np.bincount(record.explorer).tolist() == [1000, 1000, 1000]
    assert (record.mover[record.explored == 1] == who[record.explored == 1]).all()
    assert record.explored[who == record.mover].mean() == pytest.approx(0.3, abs=0.03)
    nobody = sample("kuhn_poker(players=3)", 30, 0.0)
    assert (nobody.explorer == NOBODY).all()
    assert not nobody.explored.any()
    always = sample("kuhn_poker(players=3)", 30, 1.0)
    assert (always.explored == (always.mover == np.repeat(always.explorer, np.diff(always.first)))).all()


def surprise(counts: Ints, expected: Reals) -> float:
    """χ², less what it is on average, in standard deviations."""
    there = expected > 0
    assert not counts[~there].any()
    degrees = max(1, int(there.sum()) - 1)
    return float((((counts - expected)[there] ** 2 / expected[there]).sum() - degrees) / np.sqrt(2 * degrees))


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "tic_tac_toe"])
def test_moves_and_outcomes_are_as_frequent_as_they_are_likely(spec: str) -> None:
    record = sample(spec, 4000)
    game, tested = record.game, 0
    for s in range(len(record.offset) - 1):
        steps = np.flatnonzero(record.search == s)
        if len(steps) < 400:
            continue
        legal = game.legal(record.worlds[steps[0]])
        of = slice(int(record.offset[s]), int(record.offset[s + 1]))
        for explored in (0, 1):
            actions = record.action[steps[record.explored[steps] == explored]]
            counts = np.array([(actions == a).sum() for a in legal])
            share = np.full(len(legal), 1 / len(legal)) if explored else record.move[of]
            assert surprise(counts, share * counts.sum()) < 6.0
            tested += 1
    assert tested > 3
    if spec != "tic_tac_toe":
        outcomes = record.action[record.first[:-1]]
        possible, chances = zip(*game.chance(game.initial()), strict=True)
        counts = np.array([(outcomes == c).sum() for c in possible])
        assert surprise(counts, np.array(chances) * len(record)) < 6.0


def test_an_action_without_probability_is_never_drawn() -> None:
    game = load_game("leduc_poker")
    usual = made_up(game)

    def decide(views: Ints, players: Ints) -> Decisions:
        told = usual(views, players)
        move = np.zeros(len(told.move))
        move[told.offset[1:] - 1 - (np.diff(told.offset) > 2)] = 1.0  # the last of two, the middle of three
        return told._replace(move=move)

    record = play_games(game, decide, 500, 0.0, np.random.default_rng(5))
    for t in np.flatnonzero(record.search != NO_SEARCH):
        legal = game.legal(record.worlds[t])
        assert record.action[t] == legal[-1 - (len(legal) > 2)]


def test_the_seed_decides_everything() -> None:
    game = load_game("leduc_poker")

    def play(seed: int) -> Record:
        return play_games(game, made_up(game), 50, 0.3, np.random.default_rng(seed))

    one, same, other = play(4), play(4), play(5)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name), name)
    assert not np.array_equal(one.returns, other.returns)


def test_games_over_are_told() -> None:
    game, told = load_game("kuhn_poker"), list[int]()
    play_games(game, made_up(game), 20, 0.3, np.random.default_rng(0), report=told.append)
    assert told[0] == 0
    assert told[-1] == 20
    assert told == sorted(told)


@pytest.mark.parametrize(("spec", "kind"), [("leduc_poker", np.int8), ("goofspiel", np.int16), ("hearts", np.int64)])
def test_worlds_are_kept_in_the_smallest_type_that_holds_them(spec: str, kind: type) -> None:
    game = load_game(spec)
    assert world_type(game) is kind
    assert game.layout.bounds.max() - 1 <= np.iinfo(kind).max


def test_worlds_are_read_as_kernels_need_them() -> None:
    record = sample("leduc_poker")
    assert record.world.dtype == np.int8
    assert record.worlds.dtype == np.int64

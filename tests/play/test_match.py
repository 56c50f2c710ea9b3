"""Matches: mirrored deals, lock-step that changes nothing, the interval, and Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import numpy as np
import pytest

from qdts import InputError, Policy, expected_values, load_game, uniform_policy
from qdts.games import Game
from qdts.interrupt import left_behind
from qdts.kernels import Ints, Reals
from qdts.play import match
from qdts.play.match import Match, begin, deal, play_match, rounds, sample
from qdts.play.seats import PolicySeat, Random, SearchSeat, Seat
from qdts.rng import State
from qdts.search.evaluation.builtin import Uniform
from qdts.search.evaluation.evaluator import Evaluation, Query
from qdts.search.options.named import named
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree


def always_last(game: Game) -> Policy:
    """The last legal action, always."""
    tree = game_tree(game)
    p = np.zeros(len(tree.infosets.action))
    p[tree.infosets.offset[1:] - 1] = 1.0
    return policy_on(tree, p)


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "kuhn_poker(players=3)", "leduc_poker(players=3)"])
def test_a_pure_strategy_against_itself_gains_nothing(spec: str) -> None:
    """The deals of a group are the same, so what one seat wins another has lost."""
    game = load_game(spec)
    seat = PolicySeat(always_last(game))
    played = play_match(game, seat, seat, 40, seed=3)
    assert played.returns.shape == (-(-40 // game.players), game.players)
    np.testing.assert_allclose(played.returns.sum(1), 0.0, atol=1e-12)
    assert np.ptp(played.returns) > 0
    assert played.ci95 == pytest.approx((0.0, 0.0))


def test_the_mean_is_the_exact_value() -> None:
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    last, even = always_last(game), uniform_policy(game)
    owner = np.repeat(tree.infosets.owner, np.diff(tree.infosets.offset))
    mixed = [policy_on(tree, np.where(owner == seat, last.probability, even.probability)) for seat in (0, 1)]
    exact = [float(expected_values(game, policy)[seat]) for seat, policy in enumerate(mixed)]
    played = play_match(game, PolicySeat(last), Random(game), 4000)
    assert played.ci95 is not None
    error = (played.ci95[1] - played.mean) / 1.96
    assert error < 0.05
    assert abs(played.mean - np.mean(exact)) < 4 * error
    np.testing.assert_allclose(played.returns.mean(0), exact, atol=0.15)


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
def test_games_do_not_depend_on_those_beside_them(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game(spec)
    a, b = SearchSeat(game, named("qdts"), 10), SearchSeat(game, named("mmds"), 10, threads=2)
    together = play_match(game, a, b, 24, seed=5).returns
    monkeypatch.setattr(match, "SIDE_BY_SIDE", 1)
    np.testing.assert_array_equal(play_match(game, a, b, 24, seed=5).returns, together)
    assert (play_match(game, a, b, 24, seed=6).returns != together).any()
    alone = [begin(game, 5, 2, seat) for seat in range(game.players)]
    for play in alone:
        assert list(rounds(game, a, b, [play]))
    assert [game.returns(play.world)[play.a_sits] for play in alone] == together[2].tolist()


def test_a_group_shares_its_deals() -> None:
    game = load_game("leduc_poker")
    for group in range(10):
        plays = [begin(game, 0, group, seat) for seat in (0, 1)]
        deal(game, plays)
        assert plays[0].world.tolist() == plays[1].world.tolist()
    dealt = set()
    for group in range(20):
        play = begin(game, 0, group, 0)
        deal(game, [play])
        dealt.add(play.world.tobytes())
    assert len(dealt) > 8


def test_the_interval() -> None:
    """Student's distribution with three degrees of freedom: 3.1824 standard errors."""
    played = Match(np.array([[0.0, 2.0], [1.0, 3.0], [3.0, 3.0], [4.0, 4.0]]))
    assert (played.games, played.mean) == (8, 2.5)
    half = 3.182446 * np.std([1, 2, 3, 4], ddof=1) / 2
    assert played.ci95 == pytest.approx((2.5 - half, 2.5 + half), abs=1e-5)
    assert Match(np.array([[0.0, 2.0]])).ci95 is None


def test_drawing() -> None:
    p = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    assert [sample(p, u) for u in (0.0, 0.2, 0.25, 0.9, 1.0 - 1e-16, 1.0)] == [1, 1, 3, 3, 3, 3]


class Stopping:
    """A seat at which someone presses Ctrl-C at its n-th decision."""

    def __init__(self, seat: Seat, after: int) -> None:
        self.seat, self.game = seat, seat.game
        self.left = after

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)
        return self.seat.decide(views, players, seeds)


def test_ctrl_c_keeps_what_is_finished() -> None:
    game = load_game("kuhn_poker")
    whole = play_match(game, Random(game), Random(game), 300)
    assert not whole.interrupted
    played = play_match(game, Stopping(Random(game), 4), Random(game), 300)
    assert played.interrupted
    assert match.SIDE_BY_SIDE <= played.games < 300
    np.testing.assert_array_equal(played.returns[:64], whole.returns[:64])
    with pytest.raises(KeyboardInterrupt):
        play_match(load_game("hearts"), Stopping(Random(load_game("hearts")), 1), Random(load_game("hearts")), 4)


def test_no_games() -> None:
    game = load_game("kuhn_poker")
    with pytest.raises(InputError, match="games=0 is not possible for a match"):
        play_match(game, Random(game), Random(game), 0)


def test_seats_of_another_game_are_refused() -> None:
    kuhn, leduc = load_game("kuhn_poker"), load_game("leduc_poker")
    with pytest.raises(InputError, match="a seat is for leduc_poker, expected one for kuhn_poker"):
        play_match(kuhn, Random(leduc), Random(kuhn), 4)
    with pytest.raises(InputError, match="seed=-1"):
        play_match(kuhn, Random(kuhn), Random(kuhn), 4, seed=-1)


class Pressed:
    """An evaluator that plays out a long batch; somebody presses Ctrl-C after some queries."""

    def __init__(self, game: Game, after: int) -> None:
        self.uniform, self.left = Uniform(game), after

    def evaluate(self, query: Query, state: State) -> Evaluation:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return self.uniform.evaluate(query, state)


def test_ctrl_c_does_not_wait_for_a_batch() -> None:
    """The searches of a round stop within; what was finished before counts."""
    game = load_game("kuhn_poker")
    evaluator = Pressed(game, 500)
    with pytest.raises(KeyboardInterrupt):
        play_match(game, SearchSeat(game, named("qdts"), 10_000, evaluator), Random(game), 128)
    assert -evaluator.left < 50_000
    assert not left_behind()

"""Seats and states from text, and what a seat gets to see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from qdts import InputError, load_game, save_policy, uniform_policy
from qdts.games import Game
from qdts.games.interface import CHANCE, NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.play.decision import decide
from qdts.play.match import Play, move
from qdts.play.seats import PolicySeat, Random, SearchSeat, Seat, evaluator_for, read_seat
from qdts.play.state import read_state
from qdts.search.evaluation.builtin import Playouts, Table, Uniform
from qdts.search.options.named import named
from qdts.search.options.parsing import read_search


class Watched:
    """A seat that remembers what it was shown and what it said."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.game = seat.game
        self.views: list[list[int]] = []
        self.said: list[bytes] = []

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        distributions = self.seat.decide(views, players, seeds)
        self.views += [view.tolist() for view in views]
        self.said += [d.tobytes() for d in distributions]
        return distributions


def world_after(game: Game, stream: np.random.Generator, moves: int) -> Ints:
    """A world at a player's turn after some random moves."""
    world = game.initial()
    while True:
        chance = game.mover(world) == CHANCE
        if moves <= 0 and not chance:
            return world
        choices = [o for o, _ in game.chance(world)] if chance else game.legal(world)
        after = game.step(world, int(stream.choice(choices)))
        if game.mover(after) < CHANCE:
            return world
        world, moves = after, moves - (not chance)


def completion(game: Game, view: Ints, stream: np.random.Generator) -> Ints:
    """A world that the owner of a view could be in."""
    while (hole := game.hole(view)) != NO_HOLE:
        view = game.fill(view, hole, int(stream.choice([v for v, _ in game.values(view, hole)])))
    return view


@pytest.mark.parametrize(
    ("spec", "visits"),
    [
        ("leduc_poker", 60),
        ("liars_dice(numdice=2,dice_sides=3)", 60),
        ("phantom_ttt", 40),
        ("goofspiel(num_cards=3,imp_info=true)", 60),
        ("hearts", 3),
    ],
)
@pytest.mark.parametrize("search", ["qdts", "a-ismcts", "mmds", "ismcts"])
def test_what_the_owner_cannot_see_changes_nothing(spec: str, visits: int, search: str) -> None:
    """Through the path of a match, true worlds with the same view lead to the same decision, bit for bit."""
    game, different = load_game(spec), 0
    for number in range(4 if spec == "hearts" else 10):
        stream = np.random.default_rng(number)
        world = world_after(game, stream, 1 + number % 4)
        owner = game.mover(world)
        view = game.view(world, owner)
        worlds = [world, *(completion(game, view, stream) for _ in range(3))]
        different += len({w.tobytes() for w in worlds}) > 1
        watched = Watched(SearchSeat(game, named(search), visits))
        plays = [Play(w, owner, stream, np.random.default_rng(7)) for w in worlds]
        move(game, watched, plays)
        assert all(shown == view.tolist() for shown in watched.views)
        assert len({*watched.said}) == 1
        alone = SearchSeat(game, named(search), visits)
        seed = int(np.random.default_rng(7).integers(2**63))
        assert alone.decide([view], [owner], [seed])[0].tobytes() == watched.said[0]
    assert different >= 2


def test_seats_from_text(tmp_path: Path) -> None:
    game = load_game("kuhn_poker")
    file = tmp_path / "kuhn.npz"
    save_policy(uniform_policy(game), file)
    assert isinstance(read_seat(game, "random"), Random)
    assert isinstance(read_seat(game, str(file)), PolicySeat)
    plain = read_seat(game, "ismcts:500")
    assert isinstance(plain, SearchSeat)
    assert (plain.options, plain.visits) == (named("ismcts"), 500)
    knowing = read_seat(game, f" qdts[c=0.2, eps_sample=0.05]:200@{file} ")
    assert isinstance(knowing, SearchSeat)
    assert (knowing.options, knowing.visits) == (named("qdts", c=0.2, eps_sample=0.05), 200)
    assert isinstance(knowing.evaluator, Table)
    for text, evaluator in (("qdts:200", Uniform), ("qdts:200@playouts", Playouts)):
        unknowing = read_seat(game, text)
        assert isinstance(unknowing, SearchSeat)
        assert isinstance(unknowing.evaluator, evaluator)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "makes no sense, expected random, FILE.npz, RUN, NAME:VISITS, NAME:VISITS@FILE, NAME:VISITS@RUN, NAM"),
        ("", "or openspiel:BOT, NAME one of a-ismcts, ismcts"),
        ("rondom", "seat 'rondom' makes no sense"),
        ("qdts", "seat 'qdts' has no visits, expected qdts:100"),
        ("qdst:100", "unknown search 'qdst': did you mean qdts"),
        ("qdts:", "visits=nothing is not possible"),
        ("qdts:many", "visits=many is not possible"),
        ("qdts:0", "visits=0 is not possible for a search, expected at least 1"),
        ("qdts[eps=1]:10", "unknown option of a search 'eps'"),
        ("qdts[eps_sample=3]:10", "eps_sample=3.0 is not possible for a search, expected a number from 0 to 2"),
        ("qdts[eps_opponent=-0.1]:10", "eps_opponent=-0.1 is not possible"),
        ("qdts[c=nan]:10", "c=nan is not possible"),
        ("qdts[c=low]:10", "c=low is not possible for a search, expected a number"),
        ("qdts[widen=1]:10", "widen=1 is not possible for a search, expected true or false"),
        ("qdts[max_nodes=1.5]:10", "max_nodes=1.5 is not possible for a search, expected a whole number"),
        ("qdts[decision=best]:10", "unknown decision of a search 'best'"),
        ("qdts[c]:10", "'c' is not an option of a search, expected option=value"),
        ("qdts[c=1,c=2]:10", "option c of a search is given twice"),
        ("qdts[c=1:10", "makes no sense"),
        ("uct:10", "uct searches perfect-information games, and kuhn_poker has hidden information: use ismcts"),
        ("puct:10", "puct searches perfect-information games"),
        ("none.npz", "there is no file 'none.npz'"),
        ("qdts:10@none.npz", "there is no file 'none.npz'"),
    ],
)
def test_seats_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_seat(load_game("kuhn_poker"), text)
    assert message in str(caught.value)


def test_policies_that_do_not_fit(tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    save_policy(uniform_policy(load_game("kuhn_poker")), file)
    for text in (str(file), f"qdts:10@{file}"):
        with pytest.raises(InputError, match="is a policy for kuhn_poker, expected leduc_poker"):
            read_seat(load_game("leduc_poker"), text)


def test_bandits_play_games_out_by_a_policy(tmp_path: Path) -> None:
    game, file = load_game("kuhn_poker"), tmp_path / "kuhn.npz"
    save_policy(uniform_policy(game), file)
    seat = read_seat(game, f"mt-ismcts:10@{file}")
    assert isinstance(seat, SearchSeat)
    assert isinstance(seat.evaluator, Playouts)
    view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
    assert seat.decide([view], [0], [1])[0].sum() == pytest.approx(1)
    with pytest.raises(InputError, match="no noise with uct, ismcts or mt-ismcts"):
        evaluator_for(game, seat.options, uniform_policy(game), value_noise=0.1)


def test_options_in_brackets() -> None:
    game = load_game("tic_tac_toe")
    assert read_search(game, "uct") == named("uct")
    assert read_search(game, "puct[ widen = true ,estimate=sticky,max_nodes=99]") == named(
        "puct", widen=True, estimate="sticky", max_nodes=99
    )


@pytest.mark.parametrize(
    ("spec", "text", "view", "player"),
    [
        ("kuhn_poker", None, "turn=2 bettor=0 cards=J? bets=---", 0),
        ("kuhn_poker", "0 2", "turn=2 bettor=0 cards=J? bets=---", 0),
        ("kuhn_poker", "deal K, deal J, pass", "turn=3 bettor=0 cards=?J bets=p--", 1),
        ("kuhn_poker", "deal K deal J Pass 1", "turn=4 bettor=2 cards=K? bets=pb-", 0),
        ("kuhn_poker", "turn=3 bettor=0 cards=?J bets=p--", "turn=3 bettor=0 cards=?J bets=p--", 1),
        ("tic_tac_toe", "a3,b2", None, 0),
        ("tic_tac_toe", "", None, 0),
    ],
)
def test_states(spec: str, text: str | None, view: str | None, player: int) -> None:
    game = load_game(spec)
    found, whose = read_state(game, text)
    assert whose == player
    if view is not None:
        assert game.layout.write(found) == view
    again, _ = read_state(game, game.layout.write(found))
    assert again.tolist() == found.tolist()


def test_a_move_that_begins_like_another() -> None:
    game = load_game("goofspiel(num_cards=13,imp_info=true)")
    world = game.step(game.step(game.initial(), game.chance(game.initial())[0][0]), game.parse_action("bid 12"))
    first = game.outcome_name(game.chance(game.initial())[0][0])
    view, player = read_state(game, f"{first} bid 12")
    assert view.tolist() == game.view(world, player).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn=2 bettor=0 cards=JJ bets=---", "no play leads player 0 to"),
        ("turn=3 bettor=0 cards=J? bets=p--", "no play leads player 1 to"),
        ("turn=2 bettor=0 cards=J?", "field bets is missing"),
        ("deal J", "chance moves at"),
        ("deal J deal Q Bet Bet", "the game is over at"),
        ("deal J deal Q Bet Bet Bet", "after the game is over"),
        ("deal J deal J", "unknown move of chance"),
        ("deal J deal Q bett", "unknown move of player 0"),
        ("deal J deal Q 2", "the choices are Bet, Pass"),
    ],
)
def test_states_that_nobody_can_be_in(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_state(load_game("kuhn_poker"), text)
    assert message in str(caught.value)


def test_one_decision() -> None:
    game = load_game("kuhn_poker")
    result = decide(game, "deal K deal J Bet", visits=50)
    assert result.actions.tolist() == [0, 1]
    assert result.visits.sum() == 50
    known = decide(game, "deal J deal K Bet", visits=50, policy=uniform_policy(game))
    assert known.move.tolist() == [1.0, 0.0] or known.q_hi[1] > known.q_hi[0]
    with pytest.raises(InputError, match="visits=0 is not possible"):
        decide(game, visits=0)

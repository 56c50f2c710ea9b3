"""OpenSpiel's bots at our table: what they are told, what they answer, and which are refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from qdts import Family, InputError, expected_values, load_game, register
from qdts.games import Game, registry
from qdts.kernels import Ints, Reals
from qdts.openspiel import BotSeat, from_openspiel
from qdts.play import match, openspiel_bots, openspiel_seats
from qdts.play.match import begin, play_match, rounds
from qdts.play.seats import PolicySeat, Random, Seat, read_seat
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree

pyspiel = pytest.importorskip("pyspiel")


class Witness(pyspiel.Bot):  # type: ignore[misc,name-defined]
    """A bot that writes down what it is told, and takes the last legal action."""

    def __init__(self, player: int) -> None:
        pyspiel.Bot.__init__(self)
        self.player = player
        self.restarts = 0
        self.told: list[tuple[int, int, list[int]]] = []
        self.asked: list[list[int]] = []

    def restart(self) -> None:
        self.restarts += 1

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        self.told.append((player_id, action, state.history()))

    def step(self, state: Any) -> int:
        assert state.current_player() == self.player
        self.asked.append(state.history())
        return int(state.legal_actions()[-1])


@pytest.mark.parametrize(
    "spec",
    [
        *("kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3)", "tic_tac_toe", "pig"),
        *("goofspiel(num_cards=4,imp_info=true)", "phantom_ttt", "openspiel:tiny_hanabi"),
    ],
)
def test_bots_follow_the_game(spec: str) -> None:
    """Each player of each game has a bot of their own, which is informed of the other players' actions, in order."""
    game = load_game(spec)
    made: list[Witness] = []

    def make(player: int, _seed: int) -> Witness:
        made.append(Witness(player))
        return made[-1]

    a, b = BotSeat(game, make), BotSeat(game, make)
    play = begin(game, 0, 0, 0)
    for _ in rounds(game, a, b, [play]):
        assert len(made) == len({bot.player for bot in made}) == len(play.bots)
    world, mover = game.initial(), []
    for action in play.moves:
        mover.append(game.mover(world))
        world = game.step(world, action)
    assert world.tolist() == play.world.tolist()
    for bot in made:
        assert bot.restarts == 1
        turns = [k for k, who in enumerate(mover) if who == bot.player]
        assert bot.asked == [play.moves[:k] for k in turns]
        others = [k for k in range(turns[-1]) if mover[k] not in (bot.player, -1)]
        assert bot.told == [(mover[k], play.moves[k], play.moves[:k]) for k in others]


def mixed(game: Game, policies: Sequence[Reals]) -> Reals:
    """The players' expected returns where each has a policy of their own."""
    tree = game_tree(game)
    owner = np.repeat(tree.infosets.owner, np.diff(tree.infosets.offset))
    return expected_values(game, policy_on(tree, np.select([owner == p for p in range(game.players)], policies)))


def test_the_average_policy_of_cfr() -> None:
    """It wins what the table of the same policy wins, and the seed tells all."""
    game = load_game("kuhn_poker")
    cfr = read_seat(game, "openspiel:cfr(iterations=10)")
    played = play_match(game, cfr, Random(game), 2000)
    solver = pyspiel.CFRSolver(pyspiel.load_game("kuhn_poker"))
    for _ in range(10):
        solver.evaluate_and_update_policy()
    table = from_openspiel(game, solver.average_policy())
    even = from_openspiel(game, pyspiel.UniformPolicy()).probability
    exact = [mixed(game, [table.probability, even])[0], mixed(game, [even, table.probability])[1]]
    assert played.ci95 is not None
    assert abs(played.mean - np.mean(exact)) < 2 * (played.ci95[1] - played.mean)
    np.testing.assert_array_equal(play_match(game, cfr, Random(game), 200).returns, played.returns[:100])


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("leduc_poker", "openspiel:uniform"),
        ("leduc_poker", "openspiel:uniform_random"),
        ("tic_tac_toe", "openspiel:mcts(simulations=5)"),
    ],
)
def test_games_do_not_depend_on_those_beside_them(spec: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSpiel's own IS-MCTS is not among them: its answers depend on the order of a hash table."""
    game = load_game(spec)
    seat = read_seat(game, text)
    together = play_match(game, seat, Random(game), 24, seed=5).returns
    monkeypatch.setattr(match, "SIDE_BY_SIDE", 1)
    np.testing.assert_array_equal(play_match(game, seat, Random(game), 24, seed=5).returns, together)
    assert (play_match(game, seat, Random(game), 24, seed=6).returns != together).any()


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("tic_tac_toe", "openspiel:mcts(simulations=200)"),
        ("pig(winscore=15)", "openspiel:mcts(simulations=50,solve=false)"),
        ("kuhn_poker(players=3)", "openspiel:ismcts(simulations=100,c=1.5,rollouts=2)"),
        ("leduc_poker", "openspiel:cfr+(iterations=30)"),
    ],
)
def test_bots_beat_random_play(spec: str, text: str) -> None:
    game = load_game(spec)
    played = play_match(game, read_seat(game, text), Random(game), 120)
    assert played.ci95 is not None
    assert played.ci95[0] > 0.0


class Watched:
    """A seat of ours that remembers what it was shown."""

    def __init__(self, seat: Seat) -> None:
        self.seat, self.game = seat, seat.game
        self.shown: list[tuple[Ints, int]] = []

    def decide(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Reals]:
        self.shown += zip(views, players, strict=True)
        return self.seat.decide(views, players, seeds)


def test_a_seat_of_ours_sees_its_view_alone() -> None:
    game = load_game("leduc_poker")
    watched = Watched(Random(game))
    play_match(game, watched, read_seat(game, "openspiel:uniform"), 20)
    assert len(watched.shown) > 20
    for view, player in watched.shown:
        assert game.hole(view) >= 0
        assert game.view(view, player).tolist() == view.tolist()


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        ("kuhn_poker", "openspiel:mtcs", "unknown bot of OpenSpiel 'mtcs': did you mean mcts"),
        ("kuhn_poker", "openspiel:", "unknown bot of OpenSpiel ''"),
        ("kuhn_poker", "openspiel:ismcts(simulations=10", "bot 'ismcts(simulations=10' has no closing bracket"),
        ("kuhn_poker", "openspiel:ismcts(10)", "'10' in bot 'ismcts(10)' is not a parameter, expected key=value"),
        ("kuhn_poker", "openspiel:ismcts(sims=10)", "unknown parameter of openspiel:ismcts 'sims': did you mean"),
        ("kuhn_poker", "openspiel:ismcts(simulations=0)", "simulations=0 is not possible for openspiel:ismcts"),
        ("kuhn_poker", "openspiel:ismcts(simulations=1.5)", "expected a whole number of at least 1"),
        ("kuhn_poker", "openspiel:ismcts(c=-1)", "c=-1 is not possible for openspiel:ismcts, expected a number"),
        ("kuhn_poker", "openspiel:ismcts(c=NaN)", "c=NaN is not possible"),
        ("tic_tac_toe", "openspiel:mcts(solve=1)", "expected true or false"),
        ("kuhn_poker", "openspiel:cfr(iterations=many)", "iterations=many is not possible for openspiel:cfr"),
        ("kuhn_poker", "openspiel:mcts", "games that hide nothing, and kuhn_poker hides something: use openspiel:ism"),
        ("pig", "openspiel:ismcts", "searches games that hide something, and pig hides nothing: use openspiel:mcts"),
        ("phantom_ttt", "openspiel:ismcts", "openspiel:ismcts can't play phantom_ttt: ResampleFromInfostate()"),
        ("hearts", "openspiel:ismcts", "openspiel:ismcts can't play hearts: OpenSpiel crashes (exit code"),
        ("liars_dice", "openspiel:fixed_action_preference", "can't play liars_dice: No legal actions in action list"),
        ("kuhn_poker", "openspiel:uniform_restricted_actions", "openspiel:uniform_restricted_actions can't play kuhn"),
        ("matrix_game", "openspiel:uniform", "unknown game of OpenSpiel 'matrix_game'"),
        ("liars_dice(split=true)", "openspiel:uniform", "OpenSpiel can't load liars_dice(split=true)"),
    ],
)
def test_bots_that_cannot_play(spec: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_seat(load_game(spec), text)
    assert message in str(caught.value)


def test_parameters_of_registered_bots() -> None:
    """They are passed on: this one always raises, folds or calls."""
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    for order in ("0:1", "1:0"):
        p = np.zeros(len(tree.infosets.action))
        p[tree.infosets.offset[:-1] + int(order[0])] = 1.0
        fixed = read_seat(game, f"openspiel:fixed_action_preference(actions={order})")
        same = PolicySeat(policy_on(tree, p))
        assert play_match(game, fixed, fixed, 40).returns.tolist() == play_match(game, same, same, 40).returns.tolist()


def test_a_game_too_large_for_cfr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel_seats, "LIMIT", 1000)
    with pytest.raises(InputError, match=r"openspiel:cfr\+ walks the whole game: liars_dice has more than 1,000 hist"):
        read_seat(load_game("liars_dice"), "openspiel:cfr+")


def test_a_bot_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel_bots, "TRIAL_SECONDS", 0.001)
    with pytest.raises(InputError, match=r"can't play kuhn_poker: it takes more than 0.001 s for 3 games"):
        read_seat(load_game("kuhn_poker"), "openspiel:ismcts")


def test_without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(InputError, match="OpenSpiel is not installed: pip install"):
        read_seat(load_game("kuhn_poker(players=4)"), "openspiel:uniform")


def test_another_game_of_the_same_name() -> None:
    """A game of one's own may have a name that OpenSpiel gives to something else."""

    def build(spec: str) -> Game:
        game = load_game("kuhn_poker")
        return type(game)(**{**{k: v for k, v in vars(game).items() if k != "action_numbers"}, **named(spec)})

    def named(spec: str) -> dict[str, Any]:
        return {"name": "matrix_mp", "spec": spec, "parameters": {}}

    register(Family("matrix_mp", "not what OpenSpiel calls so", (), build))
    try:
        with pytest.raises(InputError, match="is another game than matrix_mp: they differ after the moves"):
            read_seat(load_game("matrix_mp"), "openspiel:uniform")
    finally:
        del registry._registered["matrix_mp"]
        registry._load.cache_clear()


@pytest.mark.parametrize("faults", [0, 1], ids=["an illegal action", "an error"])
def test_a_bot_that_fails(faults: int) -> None:
    class Broken(pyspiel.Bot):  # type: ignore[misc,name-defined]
        def step(self, state: Any) -> int:
            return int(99 // (1 - faults)) + int(state.current_player())

    game = load_game("kuhn_poker")
    with pytest.raises(InputError, match="broken fails as player 0 after the moves"):
        play_match(game, BotSeat(game, lambda _player, _seed: Broken(), "broken"), Random(game), 2)

"""More of our games and OpenSpiel's, walked side by side: those that are too large, or whose texts say less."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from games.comparison import Comparison, after, choices, histories, load_theirs, playout, positions
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import NO_HOLE, TERMINAL, UNKNOWN
from qdts.games.registry import load_game
from qdts.games.rules.hearts.play import BY, HELD, ORDER, PLAYED, QUEEN_OF_SPADES
from qdts.kernels import Ints
from qdts.testing.completions import complete

pyspiel = pytest.importorskip("pyspiel")


class WithMoves(Comparison):
    """For a game whose text leaves out how many actions the players have made."""

    def _check_view(self, mover: int, view: bytes, state: Any) -> None:
        text = f"{state.observation_string(mover)} {moves(state)}"
        assert self.theirs.setdefault((mover, view), text) == text
        assert self.ours.setdefault((mover, text), view) == view


def moves(state: Any) -> int:
    return sum(step.player >= 0 for step in state.full_history())


def compared(spec: str) -> Comparison:
    game = load_game(spec)
    return WithMoves(game) if game.name == "pig" else Comparison(game)


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("connect_four(rows=3,columns=3,x_in_row=3)", 694),
        ("connect_four(rows=2,columns=5,x_in_row=3)", 4_101),
        ("connect_four(rows=5,columns=2,x_in_row=3)", 405),
        ("connect_four(rows=3,columns=3,x_in_row=2)", 80),
        ("connect_four(rows=1,columns=7,x_in_row=3)", 725),
        ("pig(horizon=10,winscore=5,diceoutcomes=3)", 1_171),
        ("pig(horizon=12,winscore=3,diceoutcomes=4,piglet=true)", 690),
        ("pig(players=3,horizon=9,winscore=4,diceoutcomes=3)", 1_433),
        ("pig(players=3,horizon=8,winscore=2,diceoutcomes=2,piglet=true)", 293),
    ],
)
def test_every_position_agrees(spec: str, count: int) -> None:
    comparison = compared(spec)
    for world, state in positions(comparison.game, load_theirs(spec).new_initial_state()):
        comparison.check(world, state)
    assert comparison.histories == count


@pytest.mark.parametrize(
    ("spec", "games"),
    [
        ("connect_four", 1_000),
        ("connect_four(rows=7,columns=8,x_in_row=5)", 100),
        ("connect_four(rows=31,columns=2,x_in_row=2)", 100),
        ("connect_four(rows=2,columns=26,x_in_row=4)", 100),
        ("connect_four(rows=4,columns=4,x_in_row=9)", 50),
        ("pig", 50),
        ("pig(players=10,winscore=30)", 10),
        ("goofspiel", 50),
        ("goofspiel(imp_info=true,returns_type=point_difference)", 50),
        ("goofspiel(players=3,imp_info=true,points_order=descending)", 50),
        ("goofspiel(players=10,num_cards=5,returns_type=point_difference)", 50),
        ("goofspiel(players=4,num_cards=9,num_turns=4,imp_info=true,returns_type=total_points)", 50),
    ],
)
def test_random_games_agree(spec: str, games: int) -> None:
    comparison = compared(spec)
    start = load_theirs(spec).new_initial_state()
    for seed in range(games):
        for world, state in playout(comparison.game, start, random.Random(seed)):
            comparison.check(world, state)


@pytest.mark.parametrize(
    ("spec", "games"),
    [
        ("pig", 500),
        ("pig(winscore=30)", 1_500),
        ("pig(piglet=true,winscore=10)", 1_000),
        ("pig(players=10,winscore=30)", 200),
        ("pig(horizon=50)", 1_000),
    ],
)
def test_thousands_of_games_of_pig_agree(spec: str, games: int) -> None:
    game, start, rng = load_game(spec), load_theirs(spec).new_initial_state(), random.Random(0)
    kernels, rules = game.kernels, game.rules.ctypes.data
    listed, chances = np.zeros(game.max_branching, np.int64), np.zeros(game.max_branching)
    at, numbers, probabilities = game.initial(), listed.ctypes.data, chances.ctypes.data
    world = at.ctypes.data
    for _ in range(games):
        state = start.clone()
        kernels.initial.call(rules, world)
        while not state.is_terminal():
            assert kernels.mover.call(rules, world) == state.current_player()
            if state.is_chance_node():
                count = kernels.chance.call(rules, world, numbers, probabilities)
                outcomes, expected = zip(*state.chance_outcomes(), strict=True)
                assert listed[:count].tolist() == [*outcomes]
                assert max(abs(p - q) for p, q in zip(chances[:count].tolist(), expected, strict=True)) < 1e-12
            else:
                count = kernels.legal.call(rules, world, numbers)
                assert listed[:count].tolist() == state.legal_actions()
            action = int(listed[rng.randrange(count)])
            kernels.step.call(rules, world, action)
            state.apply_action(action)
        assert kernels.mover.call(rules, world) == TERMINAL
        assert game.returns(at).tolist() == state.returns()


def test_a_board_must_fit() -> None:
    with pytest.raises(InputError, match="rows=9 and columns=7 make 63 cells, expected at most 62"):
        load_game("connect_four(rows=9)")


ORDERS, RETURNS = ("random", "ascending", "descending"), ("win_loss", "point_difference", "total_points")
GOOFSPIEL = [
    *(f"num_cards=3,points_order={o},returns_type={r}" for o, r in itertools.product(ORDERS, RETURNS)),
    *(f"num_cards=4,points_order={o},returns_type={r}" for o, r in zip(ORDERS, RETURNS, strict=True)),
    "num_cards=4,num_turns=2",
    "num_cards=1",
    "num_cards=2,egocentric=true",
    "players=3,num_cards=3",
    "players=3,num_cards=4,points_order=ascending,returns_type=point_difference",
    "players=4,num_cards=3,points_order=descending",
]


@pytest.mark.parametrize("imp_info", ["false", "true"])
@pytest.mark.parametrize("parameters", GOOFSPIEL)
def test_every_history_of_goofspiel_agrees(parameters: str, imp_info: str) -> None:
    spec = f"goofspiel(imp_info={imp_info},{parameters})"
    comparison = compared(spec)
    for world, state in histories(comparison.game, load_theirs(spec).new_initial_state()):
        comparison.check(world, state)
    assert comparison.deepest == comparison.game.max_depth


def test_turns_must_leave_a_choice() -> None:
    with pytest.raises(InputError, match="num_turns=3 is not possible with num_cards=4, expected -1, 4 or 1 to 2"):
        load_game("goofspiel(num_cards=4,num_turns=3)")
    with pytest.raises(InputError, match="with imp_info expected at most 15"):
        load_game("goofspiel(num_cards=16,imp_info=true)")


HEARTS = [
    "",
    "can_lead_any_club=true,jd_bonus=true",
    "no_pts_on_first_trick=false,avoid_all_tricks_bonus=true",
    "must_break_hearts=false,jd_bonus=true,avoid_all_tricks_bonus=true",
    "qs_breaks_hearts=false,can_lead_hearts_instead_of_qs=true",
    "can_lead_hearts_instead_of_qs=true,can_lead_any_club=true",
]


def dealt(game: Game, rng: random.Random) -> list[int]:
    """A direction and a deal; suits are dealt unevenly, so that voids are common."""
    spread, seats = rng.choice([1, 2, 4, 16]), rng.sample(range(4), 4)
    cards = sorted(range(52), key=lambda card: card % 4 + spread * rng.random())
    direction = rng.randrange(4 if game.parameters["pass_cards"] else 1)
    return [direction, *(cards[13 * seats[k % 4] + k // 4] for k in range(52))]


def deal_out(game: Game, state: Any, rng: random.Random) -> Iterator[tuple[Ints, Any]]:
    """A game of hearts, from where the first player chooses; in some all keep points back and lead hearts."""
    world, keep = game.initial(), rng.random() < 0.5
    for outcome in dealt(game, rng):
        world = after(game, world, outcome)
        state.apply_action(outcome)
    yield world, state
    while actions := choices(game, world):
        leads = world[PLAYED] % 4 == 0
        wanted = [a for a in actions if (a % 4 == 2) == leads and a != QUEEN_OF_SPADES] if keep else []
        action = rng.choice(wanted or actions)
        world = after(game, world, action)
        state.apply_action(action)
        yield world, state


def hearts(parameters: str, pass_cards: str) -> str:
    return f"hearts(pass_cards={pass_cards}{',' if parameters else ''}{parameters})"


@pytest.mark.parametrize("pass_cards", ["false", "true"])
@pytest.mark.parametrize("parameters", HEARTS)
def test_random_games_of_hearts_agree(parameters: str, pass_cards: str) -> None:
    spec = hearts(parameters, pass_cards)
    comparison = compared(spec)
    theirs = load_theirs(spec)
    for seed in range(200):
        for world, state in deal_out(comparison.game, theirs.new_initial_state(), random.Random(seed)):
            comparison.check(world, state)
    assert comparison.terminals == 200


def replayed(theirs: Any, actions: list[int]) -> Any:
    """OpenSpiel's state after some actions, or None if one of them is illegal."""
    state = theirs.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return None
        state.apply_action(action)
    return state


@pytest.mark.parametrize("pass_cards", ["false", "true"])
@pytest.mark.parametrize("parameters", HEARTS)
def test_completions_of_hearts_look_the_same_to_their_owner(parameters: str, pass_cards: str) -> None:
    spec = hearts(parameters, pass_cards)
    game, theirs = load_game(spec), load_theirs(spec)
    assert game.replay is not None
    for seed in range(10):
        rng = random.Random(seed)
        for world, state in deal_out(game, theirs.new_initial_state(), rng):
            mover = game.mover(world)
            if mover < 0 or rng.random() < 0.8:
                continue
            view = game.view(world, mover)
            while (hole := game.hole(view)) != NO_HOLE:
                view = game.fill(view, hole, rng.choice(game.values(view, hole))[0])
            other = replayed(theirs, game.replay(view))
            assert other.information_state_string(mover) == state.information_state_string(mover)
            assert other.legal_actions() == state.legal_actions()


@pytest.mark.parametrize("parameters", HEARTS)
def test_completions_of_hearts_are_all_that_play_allows(parameters: str) -> None:
    spec = hearts(parameters, "false")
    game, theirs = load_game(spec), load_theirs(spec)
    for seed in range(40):
        world, _ = next(itertools.islice(deal_out(game, theirs.new_initial_state(), random.Random(seed)), 44, None))
        view = game.view(world, game.mover(world))
        found = complete(game, view[None], 1_000)
        mine = {tuple(w) for w in found.worlds[:, HELD:BY].tolist()}
        assert mine == {held for held, actions in deals(view) if replayed(theirs, actions)}


def deals(view: Ints) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Every way to deal the unknown cards, and the actions that would then have led here."""
    played = [int(v) - 1 for v in view[ORDER : ORDER + view[PLAYED]]]
    unknown = [card for card in range(52) if view[HELD + card] == UNKNOWN]
    room = [p for p in range(1, 5) for _ in range(13 - np.count_nonzero(view[HELD:BY] == p))]
    for chosen in {*itertools.permutations(room)}:
        held = [int(v) for v in view[HELD:BY]]
        for card, player in zip(unknown, chosen, strict=True):
            held[card] = player
        hands = [[card for card in range(52) if held[card] == p] for p in range(1, 5)]
        yield tuple(held), [0, *(hands[k % 4][k // 4] for k in range(52)), *played]


@pytest.mark.parametrize("pass_cards", [False, True])
def test_the_direction_is_drawn(pass_cards: bool) -> None:
    game = load_game("hearts", pass_cards=pass_cards)
    state = load_theirs(hearts("", str(pass_cards).lower())).new_initial_state()
    assert [outcome for outcome, _ in game.chance(game.initial())] == state.legal_actions()

"""Phantom tic-tac-toe and dark hex: beside OpenSpiel's, and what a view may hide beside a plain search."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from games.comparison import Comparison, Pair, after, check_whole, choices, load_theirs, playout, spec_of
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import NO_HOLE, TERMINAL
from qdts.games.registry import load_game
from qdts.games.rules.hidden_moves import build_game
from qdts.kernels import Ints
from qdts.testing import ConformanceError, Law, check_game

WHOLE = [
    Pair("dark_hex(num_cols=2,num_rows=2)", 441, 216, 134),
    Pair("dark_hex(obstype=reveal-numturns,num_cols=2,num_rows=2)", 441, 216, 134),
    Pair("dark_hex(gameversion=adh,num_cols=2,num_rows=2)", 471, 234, 94),
    Pair("dark_hex(gameversion=adh,obstype=reveal-numturns,num_cols=2,num_rows=2)", 471, 234, 94),
    Pair("dark_hex(num_rows=2)", 104_229, 53_920, 7_246),
    Pair("dark_hex(obstype=reveal-numturns,num_rows=2)", 104_229, 53_920, 11_722),
    Pair("dark_hex(gameversion=adh,num_rows=2)", 149_953, 75_578, 6_758),
]
NINE_CELLS = [
    "phantom_ttt",
    "phantom_ttt(obstype=reveal-numturns)",
    "phantom_ttt(gameversion=abrupt)",
    "phantom_ttt(gameversion=abrupt,obstype=reveal-numturns)",
    "dark_hex",
    "dark_hex(obstype=reveal-numturns)",
    "dark_hex(gameversion=adh)",
    "dark_hex(gameversion=adh,obstype=reveal-numturns)",
]
LARGER = [
    "dark_hex(board_size=4)",
    "dark_hex(gameversion=adh,num_cols=4)",
    "dark_hex(obstype=reveal-numturns,num_rows=5)",
    "dark_hex(board_size=5,num_cols=12)",
]
MANY = 400
"""Views with more completions than this are not looked at one by one."""

MODES = {  # abrupt, counted, outcomes
    "silent": (False, False, False),
    "counted": (False, True, False),
    "timed": (False, True, True),
    "abrupt": (True, True, False),
}


@pytest.mark.parametrize("pair", WHOLE, ids=spec_of)
def test_every_history_agrees(pair: Pair) -> None:
    check_whole(pair)


@pytest.mark.parametrize(("spec", "games"), [*((s, 1_000) for s in NINE_CELLS), *((s, 100) for s in LARGER)])
def test_random_games_agree(spec: str, games: int) -> None:
    game, start = load_game(spec), load_theirs(spec).new_initial_state()
    comparison = Comparison(game)
    for seed in range(games):
        for world, state in playout(game, start, random.Random(seed)):
            comparison.check(world, state)
    assert comparison.terminals == games


def late(game: Game, state: Any, rng: random.Random) -> tuple[Ints, Any]:
    """The first position of a random game with at most two empty cells, or the last one."""
    stones = [i for i, name in enumerate(components(game)) if name.startswith("stones")]
    played = list(playout(game, state, rng))
    full = (p for p in played if sum(int(p[0][i]).bit_count() for i in stones) >= game.num_actions - 2)
    return next(full, played[-1])


def components(game: Game) -> list[str]:
    return [f.name for f in game.layout.fields for _ in range(f.length)]


@pytest.mark.parametrize("spec", NINE_CELLS)
def test_everything_below_late_positions_agrees(spec: str) -> None:
    game, start = load_game(spec), load_theirs(spec).new_initial_state()
    comparison = Comparison(game)
    for seed in range(40):
        ahead = [late(game, start, random.Random(seed))]
        while ahead:
            world, state = ahead.pop()
            comparison.check(world, state)
            ahead += [(after(game, world, a), state.child(a)) for a in choices(game, world)]
    assert comparison.histories > 1_000


def completions(game: Game, view: Ints) -> Iterator[Ints]:
    """Every world that filling the holes of a view leads to."""
    ahead = [view]
    while ahead:
        view = ahead.pop()
        hole = game.hole(view)
        if hole == NO_HOLE:
            yield view
        else:
            offered = game.values(view, hole)
            assert offered, "a dead end"
            ahead += [game.fill(view, hole, value) for value, _ in offered]


def reachable(game: Game, view: Ints, player: int) -> Iterator[Ints]:
    """Every world with a view, found by trying all that the other might have done while its owner did what they did."""
    names = np.array(components(game))
    stones, seen = np.flatnonzero((names == f"stones{player}") | (names == f"seen{player}"))
    own, others = names == f"tries{player}", names == f"tries{1 - player}"
    ahead = [game.initial()]
    while ahead:
        world = ahead.pop()
        if world[stones] != view[stones] & world[seen] or (world[others] != 0).sum() > (view[others] != 0).sum():
            continue
        if np.array_equal(game.view(world, player), view):
            yield world
        mover, made = game.mover(world), int((world[own] != 0).sum())
        if mover == player:
            ahead += [after(game, world, int(cell) - 1) for cell in view[own][made : made + 1] if cell != 0]
        elif mover != TERMINAL:
            ahead += [after(game, world, a) for a in game.legal(world)]


@pytest.mark.parametrize("spec", NINE_CELLS)
def test_completions_are_what_play_can_reach(spec: str) -> None:
    game, start = load_game(spec), load_theirs(spec).new_initial_state()
    looked_at = 0
    for seed in range(30):
        rng = random.Random(seed)
        world, _ = rng.choice(list(playout(game, start, rng)))
        for player in range(2):
            view = game.view(world, player)
            found = few(completions(game, view))
            looked_at += len(found)
            if found:
                filled, reached = ([w.tobytes() for w in worlds] for worlds in (found, reachable(game, view, player)))
                assert sorted(filled) == sorted(reached)
                assert world.tobytes() in filled
            if game.mover(view) == player:
                assert len({their_view(game, start, w, player) for w in found}) <= 1
    assert looked_at > 1_000


def few(worlds: Iterator[Ints]) -> list[Ints]:
    """All of the worlds, or none if there are many."""
    found = list(itertools.islice(worlds, MANY + 1))
    return found if len(found) <= MANY else []


def their_view(game: Game, start: Any, world: Ints, player: int) -> str:
    assert game.replay is not None
    state = start.clone()
    for action in game.replay(world):
        state.apply_action(action)
    assert state.current_player() == player
    return str(state.information_state_string(player))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_any_lines_keep_the_laws(seed: int, mode: str) -> None:
    rng = random.Random(seed)
    cells = rng.choice([4, 5])
    lines = [sum(1 << c for c in rng.sample(range(cells), rng.choice([2, 3]))) for _ in range(rng.choice([1, 2, 3]))]
    check_enumerated(mode, cells, lines=lines)


@pytest.mark.parametrize("mode", ["silent", "counted", "abrupt"])
def test_small_boards_keep_the_laws(mode: str) -> None:
    check_enumerated(mode, 6, paths=(3, 0b000111, 0b001001, 0b111000, 0b100100))


def check_enumerated(mode: str, cells: int, **goal: Any) -> None:
    abrupt, counted, outcomes = MODES[mode]
    game = build_game(
        "toy",
        "toy",
        {},
        names=[f"cell{i}" for i in range(cells)],
        abrupt=abrupt,
        counted=counted,
        outcomes=outcomes,
        memory="sufficient" if mode == "counted" else "perfect",
        **goal,
    )
    assert check_game(game).mode == "enumerated"


def test_a_total_alone_forgets() -> None:
    game = load_game("dark_hex(num_rows=2)")
    assert game.memory == "sufficient"
    with pytest.raises(ConformanceError) as caught:
        check_game(dataclasses.replace(game, memory="perfect"))
    assert caught.value.law == Law.MEMORY


@pytest.mark.parametrize("spec", NINE_CELLS + LARGER)
def test_declared_sizes_are_theirs(spec: str) -> None:
    game, other = load_game(spec), load_theirs(spec)
    assert game.num_actions == other.num_distinct_actions()
    assert game.max_depth == other.max_game_length()
    assert (game.min_return, game.max_return) == (other.min_utility(), other.max_utility())


@pytest.mark.parametrize("board", [{"num_rows": 1}, {"board_size": 8}, {"num_rows": 4, "num_cols": 16}])
def test_boards_that_are_not_possible(board: dict[str, int]) -> None:
    with pytest.raises(InputError, match="at least 2 of each and at most 60 cells"):
        load_game("dark_hex", **board)

"""Walking a game of ours and OpenSpiel's side by side, and what must agree at each step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.registry import load_game
from qdts.kernels import Ints

pyspiel = pytest.importorskip("pyspiel")


class Pair(NamedTuple):
    """A game of ours, how large it is, and what OpenSpiel calls it if not the same."""

    ours: str
    histories: int
    terminals: int
    infosets: int
    theirs: str = ""

    def start(self) -> Any:
        """OpenSpiel's initial state."""
        return load_theirs(self.theirs or self.ours).new_initial_state()


def load_theirs(spec: str) -> Any:
    game = pyspiel.load_game(spec)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


def choices(game: Game, world: Ints) -> list[int]:
    mover = game.mover(world)
    if mover == TERMINAL:
        return []
    return [o for o, _ in game.chance(world)] if mover == CHANCE else game.legal(world)


def after(game: Game, world: Ints, action: int) -> Ints:
    """The world after an action that is known to be legal."""
    world = world.copy()
    game.kernels.step.call(game.rules.ctypes.data, world.ctypes.data, action)
    return world


def histories(game: Game, state: Any) -> Iterator[tuple[Ints, Any]]:
    """Every history in both games at once, the same actions in each."""
    ahead = [(game.initial(), state)]
    while ahead:
        world, state = ahead.pop()
        yield world, state
        ahead += [(after(game, world, a), state.child(a)) for a in choices(game, world)]


def positions(game: Game, state: Any) -> Iterator[tuple[Ints, Any]]:
    """Every pair of a world and a state's text once, however it came about."""
    ahead, seen = [(game.initial(), state)], set()
    while ahead:
        world, state = ahead.pop()
        if (key := (world.tobytes(), str(state))) not in seen:
            seen.add(key)
            yield world, state
            ahead += [(after(game, world, a), state.child(a)) for a in choices(game, world)]


def playout(game: Game, state: Any, rng: random.Random) -> Iterator[tuple[Ints, Any]]:
    """One history from the start to the end, mostly by low actions so that it is long."""
    world = game.initial()
    yield world, state
    while options := choices(game, world):
        nearest = options if game.mover(world) == CHANCE or rng.random() < 0.3 else options[:3]
        action = rng.choice(nearest)
        world, state = game.step(world, action), state.child(action)
        yield world, state


@dataclass
class Comparison:
    """Checks that worlds and states agree, and that views and information states are one to one."""

    game: Game
    theirs: dict[tuple[int, bytes], str] = field(default_factory=dict)
    ours: dict[tuple[int, str], bytes] = field(default_factory=dict)
    histories: int = 0
    terminals: int = 0
    deepest: int = 0

    def check(self, world: Ints, state: Any) -> None:
        self.histories += 1
        self.deepest = max(self.deepest, state.move_number())
        mover = self.game.mover(world)
        if state.is_terminal():
            self.terminals += 1
            assert mover == TERMINAL
            assert self.game.returns(world).tolist() == pytest.approx(state.returns())
        elif state.is_chance_node():
            assert mover == CHANCE
            outcomes, expected = self.game.chance(world), state.chance_outcomes()
            assert [o for o, _ in outcomes] == [o for o, _ in expected]
            assert [p for _, p in outcomes] == pytest.approx([p for _, p in expected])
        else:
            assert mover == state.current_player()
            assert self.game.legal(world) == state.legal_actions()
            self._check_view(mover, self.game.view(world, mover).tobytes(), state)

    def _check_view(self, mover: int, view: bytes, state: Any) -> None:
        text = state.information_state_string(mover) if self.game.hidden else state.observation_string(mover)
        assert self.theirs.setdefault((mover, view), text) == text
        assert self.ours.setdefault((mover, text), view) == view


def spec_of(pair: Pair) -> str:
    return pair.ours


def check_whole(pair: Pair) -> None:
    game = load_game(pair.ours)
    comparison = Comparison(game)
    for world, state in histories(game, pair.start()):
        comparison.check(world, state)
    counts = comparison.histories, comparison.terminals, len(comparison.theirs)
    assert counts == (pair.histories, pair.terminals, pair.infosets)
    assert comparison.deepest == game.max_depth

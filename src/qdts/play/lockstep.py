"""Our games and OpenSpiel's side by side: the game of OpenSpiel that equals ours, and our view of one of its states."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import takewhile
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.openspiel import find_openspiel
from qdts.kernels import Ints

COMPARED = 5
"""Random games that are played in both before they count as the same game."""
TOLERANCE = 1e-9


@lru_cache(maxsize=8)
def twin(game: Game) -> Any:
    """OpenSpiel's game of the same name, with moves in turn; an InputError if there is none, or if its rules differ."""
    theirs = find_openspiel(game.spec)
    if theirs.num_players() != game.players:
        raise InputError(f"{theirs} has {theirs.num_players()} players in OpenSpiel, expected {game.players}")
    for seed in range(COMPARED):
        _compare(game, theirs, random.Random(seed))
    return theirs


def _compare(game: Game, theirs: Any, stream: random.Random) -> None:
    """Play a random game in both; an InputError if they differ."""
    world, state = game.initial(), theirs.new_initial_state()
    while _moves_agree(game, world, state) and game.mover(world) != TERMINAL:
        action = stream.choice(choices(game, world))
        world = game.step(world, action)
        state.apply_action(action)
    if not (state.is_terminal() and np.allclose(game.returns(world), state.returns(), rtol=0.0, atol=TOLERANCE)):
        raise InputError(
            f"OpenSpiel's {theirs} is another game than {game.spec}: they differ after the moves {state.history()}"
        )


def _moves_agree(game: Game, world: Ints, state: Any) -> bool:
    mover = game.mover(world)
    if mover == TERMINAL or state.is_terminal():
        return mover == TERMINAL and bool(state.is_terminal())
    theirs = CHANCE if state.is_chance_node() else state.current_player()
    return bool(mover == theirs and choices(game, world) == sorted(state.legal_actions()))


def choices(game: Game, world: Ints) -> list[int]:
    """The legal actions of the player to move, or the outcomes of chance."""
    return [o for o, _ in game.chance(world)] if game.mover(world) == CHANCE else game.legal(world)


class Follower:
    """Our view of OpenSpiel's states. The moves that a state shares with the one before are not replayed."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._moves: list[int] = []
        self._worlds = [game.initial()]

    def view(self, state: Any, player: int) -> Ints:
        """The view of a player at a state where they are to move.

        Where all move at once, the players before them have moved in our game, which their view does not show.
        """
        game, world = self.game, self._follow(state.history())
        if state.is_simultaneous_node():
            while 0 <= game.mover(world) < player:
                world = game.step(world, game.legal(world)[0])
        if game.mover(world) != player or game.legal(world) != state.legal_actions(player):
            raise InputError(
                f"it is not player {player}'s turn in {game.spec} after the moves {state.history()} of OpenSpiel's "
                "state, expected a state of the same game where that player is to move"
            )
        return game.view(world, player)

    def _follow(self, moves: list[int]) -> Ints:
        """The world after all moves since the start."""
        same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(self._moves, moves, strict=False)))
        del self._moves[same:], self._worlds[same + 1 :]
        for action in moves[same:]:
            self._worlds.append(self.game.step(self._worlds[-1], action))
            self._moves.append(action)
        return self._worlds[-1]

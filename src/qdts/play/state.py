"""A state as text: what a player sees, or the moves that lead to his turn."""

from __future__ import annotations

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.moves import read_moves
from qdts.kernels import Ints
from qdts.search.roots import verify_view


def read_state(game: Game, text: str | None = None) -> tuple[Ints, int]:
    """The view that a text stands for, and the player who has it, at whose turn it must be.

    A view is written as the layout writes it: `turn=2 bettor=0 cards=J? bets=---`. Moves are the names or numbers of
    actions and outcomes from the start, with commas or spaces between them. Without a text: the first decision,
    chance having done the first thing that it could each time.
    """
    if text is None:
        return _to_move(game, first_decision(game))
    if text.partition("=")[0].strip() in {field.name for field in game.layout.fields}:
        view = game.layout.read(text)
        player = turn(game, view)
        verify_view(game, view, player)
        return view, player
    return _to_move(game, _after(game, text))


def first_decision(game: Game) -> Ints:
    """The world at the first decision, chance having done the first thing that it could each time."""
    world = game.initial()
    while game.mover(world) == CHANCE:
        world = game.step(world, game.chance(world)[0][0])
    return world


def _to_move(game: Game, world: Ints) -> tuple[Ints, int]:
    """What the player who moves at a world sees."""
    mover = game.mover(world)
    if mover < 0:
        raise _nobodys_turn(game, world, mover)
    return game.view(world, mover), mover


def turn(game: Game, view: Ints) -> int:
    """The player whose turn a view shows; raises an InputError if it is nobody's."""
    mover = game.mover(view)
    if mover < 0:
        raise _nobodys_turn(game, view, mover)
    if mover >= game.players:
        raise InputError(f"{game.spec}: no play leads to {game.layout.write(view)}, expected a view of the game")
    return mover


def _nobodys_turn(game: Game, vector: Ints, mover: int) -> InputError:
    whose = {CHANCE: "chance moves", TERMINAL: "the game is over"}.get(mover, "somebody else moves")
    return InputError(f"{game.spec}: {whose} at {game.layout.write(vector)}, expected the turn of the player who looks")


def _after(game: Game, text: str) -> Ints:
    """The world after some moves."""
    world = game.initial()
    for move in read_moves(game, text):
        world = game.step(world, move)
    return world

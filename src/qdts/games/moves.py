"""Moves as text: the names or numbers of actions and chance outcomes, one after the other."""

from __future__ import annotations

import re

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.games.rule import CHANCE
from qdts.kernels import Ints

BETWEEN = ", \t\n"


def read_moves(game: Game, text: str, world: Ints | None = None) -> list[int]:
    """The moves that a text stands for, each legal after those before it.

    Args:
        game: The game.
        text: Names or numbers of actions and outcomes, with commas or spaces between them. Where one name begins
            another, the longest that fits is read; a name comes before a number.
        world: Where the moves begin; the start of the game if None.

    Returns:
        Their numbers, for `Game.step`.

    Raises:
        InputError: A move is illegal, or follows the end of the game; it names the choices.

    Examples:
        >>> from qdts import load_game
        >>> read_moves(load_game("kuhn_poker"), "deal K, deal J, bet, 0")
        [2, 0, 1, 0]
    """
    world = game.initial() if world is None else world
    rest, moves = text.strip(BETWEEN), []
    while rest:
        move, length = _first(game, world, rest)
        world = game.step(world, move)
        moves.append(move)
        rest = rest[length:].lstrip(BETWEEN)
    return moves


def _first(game: Game, world: Ints, text: str) -> tuple[int, int]:
    """The move that a text begins with, and how much of the text it takes."""
    choices = {choice.name: choice.number for choice in game.choices(world)}
    if not choices:
        raise InputError(f"{game.spec}: '{text}' after the game is over ({game.layout.write(world)})")
    for name in sorted(choices, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?=[,\s]|$)", text, re.IGNORECASE):
            return choices[name], len(name)
    word = re.split(r"[,\s]", text, maxsplit=1)[0]
    if word.isascii() and word.isdigit() and int(word) in choices.values():
        return int(word), len(word)
    mover = game.mover(world)
    who = "chance" if mover == CHANCE else f"player {mover}"
    raise unknown(f"move of {who} at {game.layout.write(world)} in {game.spec}", text.split(",")[0], choices)

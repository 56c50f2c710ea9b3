"""Moves as text: the names or numbers of actions and chance outcomes, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.games.rule import CHANCE
from qdts.kernels import Ints

BETWEEN = ", \t\n"
MOST_KNOWN = 100_000
"""Worlds whose choices a reader remembers, at most."""


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
    return MoveTexts(game).read(text, world)[0]


class _Choices(NamedTuple):
    """What may be read at a world."""

    pattern: re.Pattern[str]
    """Any of the names, longer ones first."""
    by_name: dict[str, int]
    """In lower case."""
    names: dict[int, str]
    after: dict[int, Ints]
    """The world after each number, as far as it was needed."""


class MoveTexts:
    """Reads and writes many texts of moves; it remembers what may happen at each world that it has met."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._known: dict[bytes, _Choices] = {}

    def read(self, text: str, world: Ints | None = None) -> tuple[list[int], Ints]:
        """The moves that a text stands for, and the world after them; see `read_moves`."""
        world = self.game.initial() if world is None else world
        rest, moves = text.strip(BETWEEN), []
        while rest:
            choices = self._choices(world)
            move, length = self._first(choices, world, rest)
            world = self._after(choices, world, move)
            moves.append(move)
            rest = rest[length:].lstrip(BETWEEN)
        return moves, world

    def write(self, moves: Sequence[int], world: Ints | None = None) -> tuple[str, Ints]:
        """Moves by name, with commas between them, which `read` reads, and the world after them."""
        world, names = self.game.initial() if world is None else world, []
        for move in moves:
            choices = self._choices(world)
            names.append(choices.names[move])
            world = self._after(choices, world, move)
        return ", ".join(names), world

    def _after(self, choices: _Choices, world: Ints, move: int) -> Ints:
        if move not in choices.after:
            choices.after[move] = self.game.step(world, move)
        return choices.after[move]

    def _choices(self, world: Ints) -> _Choices:
        key = world.tobytes()
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = {choice.name: choice.number for choice in self.game.choices(world)}
            names = sorted(found, key=len, reverse=True)
            pattern = re.compile(rf"(?:{'|'.join(map(re.escape, names))})(?=[,\s]|$)", re.IGNORECASE)
            by_name = {name.lower(): found[name] for name in reversed(names)}
            self._known[key] = _Choices(pattern, by_name, {number: name for name, number in found.items()}, {})
        return self._known[key]

    def _first(self, choices: _Choices, world: Ints, text: str) -> tuple[int, int]:
        """The move that a text begins with, and how much of the text it takes."""
        game = self.game
        if not choices.by_name:
            raise InputError(f"{game.spec}: '{text}' after the game is over ({game.layout.write(world)})")
        named = choices.pattern.match(text)
        if named is not None:
            return choices.by_name[named[0].lower()], len(named[0])
        word = re.split(r"[,\s]", text, maxsplit=1)[0]
        if word.isascii() and word.isdigit() and int(word) in choices.by_name.values():
            return int(word), len(word)
        mover = game.mover(world)
        who = "chance" if mover == CHANCE else f"player {mover}"
        at = f"move of {who} at {game.layout.write(world)} in {game.spec}"
        raise unknown(at, text.split(",")[0], choices.names.values())

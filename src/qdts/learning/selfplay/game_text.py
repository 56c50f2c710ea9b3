"""Games as text: one game a line, from the start to the end.

    # Kuhn poker; empty lines and those that begin with # are skipped
    deal K, deal J, Bet, Pass => 1 -1
    2 0 1 0

Moves are actions and chance outcomes, by name or number, with commas or spaces between them (`qdts.games.moves`; `qdts
walk` shows them). After `=>` there may be the return of each player, which must be those of the rules. `write_games`
puts the game's specification into the first line; where that names the same game with other parameters, the file is
refused, since moves may be legal in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.games.moves import MoveTexts
from qdts.games.registry import load_game
from qdts.learning.selfplay.given import GivenGames, games_of

RETURNS = "=>"
COMMENT = "#"
TOLERANCE = 1e-6
"""How far a given return may lie from that of the rules."""


def read_games(game: Game, path: Path) -> GivenGames:
    """The games of a text file.

    Raises:
        InputError: The file can't be read, holds no game, or a line is no game; it names the line and the choices.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"cannot read '{path}': {reason}") from error
    of = _game_of(lines[0].removeprefix(COMMENT).strip(), game) if lines and lines[0].startswith(COMMENT) else ""
    if of not in ("", game.spec):
        raise InputError(f"'{path}' holds games of {of}, expected games of {game.spec}")
    texts, moves = MoveTexts(game), []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith(COMMENT):
            try:
                moves.append(_read_game(texts, line))
            except InputError as error:
                raise InputError(f"'{path}', line {number}: {error}") from error
    if not moves:
        raise InputError(f"'{path}' holds no game, expected one in each line: moves with spaces between them")
    return games_of(game, moves)


def _game_of(header: str, game: Game) -> str:
    """The game that a header names, if it is one with the name of `game`; else nothing, and the line is a comment."""
    if header.partition("(")[0].strip() != game.name:
        return ""
    try:
        return load_game(header).spec
    except InputError:
        return ""


def _read_game(texts: MoveTexts, line: str) -> list[int]:
    """The moves of one game."""
    game = texts.game
    text, arrow, given = line.partition(RETURNS)
    moves, world = texts.read(text)
    if game.mover(world) != TERMINAL:
        names = ", ".join(choice.name for choice in game.choices(world))
        raise InputError(
            f"the game is not over after {len(moves)} moves ({game.layout.write(world)}), expected one of {names}"
        )
    returns = game.returns(world)
    if arrow and not _agree(given, returns):
        raise InputError(f"returns{given.rstrip()} are not those of the rules, expected {_words(returns)}")
    return moves


def _agree(text: str, returns: Iterable[float]) -> bool:
    """Whether a text has the returns of the rules."""
    wanted = [*returns]
    try:
        given = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        return False
    return len(given) == len(wanted) and bool(np.allclose(given, wanted, rtol=0.0, atol=TOLERANCE))


def _words(returns: Iterable[float]) -> str:
    return " ".join(f"{value:.10g}" for value in returns)


def write_games(game: Game, games: Iterable[Sequence[int]], path: Path) -> None:
    """Write games by their moves, whole or not at all: names of moves, and returns."""
    texts, lines = MoveTexts(game), [f"{COMMENT} {game.spec}"]
    for moves in games:
        text, world = texts.write(moves)
        lines.append(f"{text} {RETURNS} {_words(game.returns(world))}")
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))

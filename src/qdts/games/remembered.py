"""The file of a game of one's own as saved data remember it: its path, and the SHA-256 of its source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from qdts.errors import InputError
from qdts.games import game_file
from qdts.games.game import Game
from qdts.games.registry import load_game, parse_spec, source_file
from qdts.notes import note

SHOWN = 12
"""Digits of a digest that an error shows."""


def remember(game: Game, folder: Path) -> dict[str, str] | None:
    """What data in a folder remember of a game's file; None for a game that came from no file.

    Args:
        game: The game.
        folder: Where the data are. The path is relative to it, so that both can be moved together.
    """
    file = source_file(game.name)
    if file is None:
        return None
    try:
        path = os.path.relpath(file.path, folder.resolve())
    except ValueError:  # another drive of Windows
        path = str(file.path)
    return {"path": Path(path).as_posix(), "sha256": file.digest}


def recall(remembered: Mapping[str, str], folder: Path, spec: str) -> Game:
    """Load a game from the file that data in a folder remember, which runs that file; a note names it.

    A game of the same name and source that is loaded already is used as it is.

    Args:
        remembered: What `remember` gave.
        folder: Where the data are.
        spec: The game's specification in the data.

    Returns:
        The game.

    Raises:
        InputError: The file is gone, or has changed; nothing has been run then.
    """
    name, _ = parse_spec(spec)
    path, digest = (folder.resolve() / remembered["path"]).resolve(), remembered["sha256"]
    loaded = source_file(name)
    if loaded is not None and loaded.digest == digest:
        return load_game(spec)
    whose, parameters = f"'{folder}' is of {spec}", spec.strip().removeprefix(name)
    if not path.is_file():
        given = f"'FILE{parameters}'" if parameters else "FILE"
        raise InputError(f"{whose}, whose file '{path}' is gone: --game {given} (in Python game=...) names it")
    found = game_file.digest(game_file.read(path))
    if found != digest:
        raise InputError(
            f"{whose}, whose file '{path}' has changed since: its SHA-256 is {found[:SHOWN]}…, expected "
            f"{digest[:SHOWN]}…; --game '{path}{parameters}' (in Python game=...) takes it as it is now"
        )
    note(f"'{folder}' is of a game from a file, which is run: {path}")
    return load_game(f"{path}{parameters}")


def compare(remembered: Mapping[str, str], folder: Path, game: Game) -> None:
    """Note it if a game that is given for data in a folder has another source than they remember."""
    file = source_file(game.name)
    if file is not None and file.digest != remembered["sha256"]:
        note(
            f"'{folder}' began with another version of the file of {game.name}; it is used with '{file.path}' as it is"
        )

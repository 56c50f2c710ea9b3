"""Which of the named searches can search which game."""

from __future__ import annotations

from typing import Any

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.search.options import Options, named

OPEN_ONLY = {"puct": "a-ismcts", "uct": "ismcts"}
"""Searches for games that hide nothing, each with its counterpart for those that do."""


def options_for(game: Game, name: str, **changes: Any) -> Options:
    """The options of a named search, some of them changed, if it can search this game."""
    options = named(name, **changes)
    if game.hidden and name in OPEN_ONLY:
        raise InputError(
            f"{name} searches games that hide nothing, and {game.spec} hides something: use {OPEN_ONLY[name]}"
        )
    return options

"""A search as text: its name, and in brackets the options that are changed, `qdts[c=0.2,eps_sample=0.05]`."""

from __future__ import annotations

import re
from typing import Any

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.search.options.compatibility import options_for
from qdts.search.options.options import DESCRIPTIONS, Options, current_names


def read_search(game: Game, text: str) -> Options:
    """The options of a search that is given as text.

    Args:
        game: The game to search.
        text: A named search, with changed options in brackets if need be: `qdts`, `qdts[c=0.2,eps_sample=0.05]`.

    Returns:
        The options, which `run_searches` and `searched_policy` take.

    Raises:
        InputError: If the text can't be read, names an unknown search or option or a value that is not possible, or
            if the search can't search this game.

    Examples:
        >>> import qdts
        >>> options = qdts.read_search(qdts.load_game("kuhn_poker"), "qdts[c=0.2,estimate=mirror]")
        >>> options.c, options.estimate, options.eps_sample
        (0.2, 'mirror', 0.1)
    """
    name, changes = search_parts(text)
    return options_for(game, name, **changes)


def search_parts(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a search that is given as text, and the options in its brackets."""
    parts = re.fullmatch(r"([^\[\]]*)(?:\[(.*)\])?", text.strip())
    if parts is None:
        raise InputError(f"search '{text}' makes no sense, expected a name or name[option=value,...]")
    return parts[1].strip(), _changes(parts[2] or "")


def _changes(text: str) -> dict[str, Any]:
    """The options in the brackets, each value read as the kind of its option."""
    texts: dict[str, str] = {}
    for part in (p.strip() for p in text.split(",")):
        name, equals, value = (s.strip() for s in part.partition("="))
        if not part:
            continue
        if not equals or not name or not value:
            raise InputError(f"'{part}' is not an option of a search, expected option=value")
        if name in texts:
            raise InputError(f"option {name} of a search is given twice")
        texts[name] = value
    found: dict[str, Any] = {}
    for name, value in current_names(texts).items():
        if name not in DESCRIPTIONS:
            raise unknown("option of a search", name, DESCRIPTIONS)
        found[name] = DESCRIPTIONS[name].parse(name, value)
    return found

"""A search as text: its name, and in brackets what is changed, `qdts[c=0.2,eps_sample=0.05]`."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.search.options.compatibility import options_for
from qdts.search.options.options import Options


def read_search(game: Game, text: str) -> Options:
    """The options of a search for a game; raises an InputError that names the choices."""
    parts = re.fullmatch(r"([^\[\]]*)(?:\[(.*)\])?", text.strip())
    if parts is None:
        raise InputError(f"search '{text}' makes no sense, expected a name or name[option=value,...]")
    name, changes = parts[1].strip(), _changes(parts[2] or "")
    return options_for(game, name, **changes)


def _changes(text: str) -> dict[str, Any]:
    """What stands in the brackets, each value read as the kind of its option."""
    kinds = {f.name: type(f.default) for f in fields(Options)}
    found: dict[str, Any] = {}
    for part in (p.strip() for p in text.split(",")):
        name, equals, value = (s.strip() for s in part.partition("="))
        if not part:
            continue
        if not equals or not name or not value:
            raise InputError(f"'{part}' is not an option of a search, expected option=value")
        if name not in kinds:
            raise unknown("option of a search", name, kinds)
        if name in found:
            raise InputError(f"option {name} of a search is given twice")
        found[name] = _read(name, value, kinds[name])
    return found


def _read(name: str, text: str, kind: type) -> Any:
    if kind is str:
        return text
    expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
    try:
        return {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise InputError(f"{name}={text} is not possible for a search, expected {expected}") from None

"""The games that can be loaded by name."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping

from qdts.errors import InputError, unknown
from qdts.games.family import Family
from qdts.games.game import Game

NATIVE = (
    "connect_four",
    "dark_hex",
    "goofspiel",
    "hearts",
    "kuhn_poker",
    "leduc_poker",
    "liars_dice",
    "matrix_game",
    "phantom_ttt",
    "pig",
    "tic_tac_toe",
    "tree_game",
)
"""Games of this package: each is a module of its name that holds a `FAMILY`."""

IMPORTED = "openspiel:"
"""A name that begins so is a game of OpenSpiel, to be imported."""

_registered: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make one's own game loadable by name."""
    if family.name in NATIVE:
        raise InputError(f"a game named '{family.name}' comes with qdts; choose another name")
    _registered[family.name] = family
    _load.cache_clear()


def family_names() -> list[str]:
    """The names of all games that can be loaded."""
    return sorted({*NATIVE, *_registered})


def find_family(name: str) -> Family:
    """The family with a name; its kernels are not compiled yet."""
    if name in _registered:
        return _registered[name]
    if name not in NATIVE:
        raise unknown("game", name, family_names())
    family = importlib.import_module(f"qdts.games.{name}").FAMILY
    assert isinstance(family, Family)
    return family


def load_game(spec: str, **parameters: object) -> Game:
    """The game with a name and parameters: `load_game("liars_dice(numdice=2,dice_sides=3)")`.

    Parameters may also be given by keyword. `openspiel:NAME(...)` imports a game of OpenSpiel. The game's kernels
    are compiled, or taken from the cache.
    """
    if spec.strip().startswith(IMPORTED):
        return _import(spec.strip(), parameters)
    name, given = parse_spec(spec)
    for key in parameters:
        if key in given:
            raise InputError(f"parameter {key} of {name} is given twice, in the name and by keyword")
    family = find_family(name)
    if parameters:
        return family.load({**given, **parameters})
    return _load(family, tuple(given.items()))


def _import(spec: str, parameters: Mapping[str, object]) -> Game:
    if parameters:
        raise InputError(f"parameters of {spec} are given in its name, {IMPORTED}NAME(key=value,...)")
    return _imported(spec)


@functools.lru_cache(maxsize=8)
def _imported(spec: str) -> Game:
    from qdts.games.openspiel import import_game

    return import_game(spec)


@functools.lru_cache(maxsize=64)
def _load(family: Family, given: tuple[tuple[str, str], ...]) -> Game:
    return family.load(dict(given))


def parse_spec(spec: str) -> tuple[str, Mapping[str, str]]:
    """Split `name(key=value,...)`; a comma inside brackets belongs to its value."""
    name, bracket, rest = spec.strip().partition("(")
    if bracket and not rest.endswith(")"):
        raise InputError(f"game '{spec}' has no closing bracket, expected name(key=value,...)")
    given: dict[str, str] = {}
    for part in _split(rest[:-1]):
        key, equals, value = (s.strip() for s in part.partition("="))
        if not equals or not key or not value:
            raise InputError(f"'{part}' in game '{spec}' is not a parameter, expected key=value")
        if key in given:
            raise InputError(f"parameter {key} stands twice in game '{spec}'")
        given[key] = value
    return name.strip(), given


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside of square brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in [*parts, text[start:]] if p.strip()]

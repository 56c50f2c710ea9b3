"""The games that can be loaded by name."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from qdts.errors import InputError, unknown
from qdts.games import game_file
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
"""Games of this package: each is a module of `qdts.games.rules` that holds a `FAMILY`."""

IMPORTED = "openspiel:"
"""Prefix of the names of games to be imported from OpenSpiel."""

_registered: dict[str, Family] = {}
_files: dict[Path, tuple[bytes, Family]] = {}
"""Games from files: by full path, the source that was run, and its family."""


def register(family: Family) -> None:
    """Make a game loadable by name, for families that are not in a file of their own.

    Args:
        family: The family; one of the same name that was registered before is replaced.

    Raises:
        InputError: A game of this name comes with the package.

    Examples:
        >>> from dataclasses import replace
        >>> from qdts.games.rules import kuhn_poker
        >>> def build(spec, players):
        ...     return replace(kuhn_poker.build(spec, players), name="my_kuhn")
        >>> register(Family("my_kuhn", "a copy", kuhn_poker.FAMILY.parameters, build))
        >>> load_game("my_kuhn(players=3)").players
        3
    """
    if family.name in NATIVE:
        raise InputError(f"a game named '{family.name}' comes with qdts; choose another name")
    _registered[family.name] = family
    _load.cache_clear()


def family_names() -> list[str]:
    """The names of all games that can be loaded."""
    return sorted({*NATIVE, *_registered})


def find_family(name: str) -> Family:
    """The family with a name, or in the file with a path; its kernels are not compiled yet.

    Raises:
        InputError: There is no such game or file; it names the nearest ones.
    """
    if game_file.is_path(name):
        return _from_file(Path(name).expanduser().resolve())
    if name in _registered:
        return _registered[name]
    if name not in NATIVE:
        own = f"a game of your own is given by its file, ./{name}.py (with a run or a policy file: --game ./{name}.py)"
        raise InputError(f"{unknown('game', name, family_names())}; {own}")
    family = importlib.import_module(f"qdts.games.rules.{name}").FAMILY
    assert isinstance(family, Family)
    return family


def load_game(spec: str, **parameters: object) -> Game:
    """The game with a name and parameters. Its kernels are compiled, or taken from the cache.

    Args:
        spec: A name with parameters in brackets, `liars_dice(numdice=2,dice_sides=3)`; or the path of a Python file
            that holds a `FAMILY` (it ends in .py or has a slash), which is run; or `openspiel:NAME(...)`, which imports
            a game from OpenSpiel.
        parameters: More parameters, by keyword.

    Returns:
        The game. Without keywords the same specification gives the same object.

    Raises:
        InputError: The name or a parameter is unknown or does not fit, or the file can't be loaded.

    Examples:
        >>> load_game("liars_dice(dice_sides=3)", numdice=2).spec
        'liars_dice(numdice=2,dice_sides=3)'
        >>> load_game("kuhn_pocker")
        Traceback (most recent call last):
        qdts.errors.InputError: unknown game 'kuhn_pocker': did you mean kuhn_poker or leduc_poker? the choices are ...
    """
    if spec.strip().startswith(IMPORTED):
        return _import(spec.strip(), parameters)
    name, given = parse_spec(spec)
    for key in parameters:
        if key in given:
            raise InputError(f"parameter {key} of {name} is given twice, in the name and by keyword")
    family = find_family(name)
    try:
        return family.load({**given, **parameters}) if parameters else _load(family, tuple(given.items()))
    except Exception as error:
        path = next((path for path, (_, loaded) in _files.items() if loaded is family), None)
        if path is None or isinstance(error, InputError):
            raise
        raise InputError(f"{family.name} can't be built: {game_file.explain(error, path)}") from error


def load_known_game(spec: str) -> Game:
    """As `load_game`, for names in data files: a path is refused, so that reading data never runs code."""
    if not spec.strip().startswith(IMPORTED) and game_file.is_path(parse_spec(spec)[0]):
        raise InputError(f"'{spec}' is the path of a file, expected the name of a game")
    return load_game(spec)


def matching_game(where: object, what: str, spec: str, version: int, game: Game | None = None) -> Game:
    """The game that saved data belong to: the one given, else the one of their name.

    Args:
        where: Where the data are, `leduc.npz`, for the error.
        what: What they are, `a policy for`, for the error.
        spec: The game's specification in the data.
        version: The game's version in the data.
        game: The game that they should belong to, if it is known.

    Raises:
        InputError: They belong to another game or to another version of it.
    """
    if game is not None and spec != game.spec:
        raise InputError(f"'{where}' is {what} {spec}, expected {game.spec}")
    game = game or load_known_game(spec)
    if version != game.version:
        raise InputError(f"'{where}' is for version {version} of {game.spec}, expected version {game.version}")
    return game


def path_spec(game: Game) -> str:
    """A specification that loads a game in any process: with the path of its file, if it came from one."""
    file = source_file(game.name)
    return f"{game.name if file is None else file.path}{game.spec.removeprefix(game.name)}"


class SourceFile(NamedTuple):
    """The file that a game was loaded from."""

    path: Path
    """In full."""
    digest: str
    """The SHA-256 of the source that was run."""


def source_file(name: str) -> SourceFile | None:
    """The file that the game of a name was loaded from; None if there is none."""
    return next(
        (
            SourceFile(path, game_file.digest(source))
            for path, (source, family) in _files.items()
            if family is _registered.get(name)
        ),
        None,
    )


def fault_in_file(error: BaseException) -> str | None:
    """The file, the line and the message of an error that passed through a game's file, else None."""
    return next((game_file.explain(error, path) for path in _files if game_file.touches(error, path)), None)


def _from_file(path: Path) -> Family:
    """The family in a file; the file is run again only if it has changed."""
    source = game_file.read(path)
    if path in _files and _files[path][0] == source:
        return _files[path][1]
    family = game_file.run(path, source)
    for other, (_, loaded) in _files.items():
        if other != path and loaded.name == family.name:
            raise InputError(f"'{path}' names its game '{family.name}', as '{other}' does, which is loaded already")
    try:
        register(family)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    _files[path] = source, family
    return family


def _import(spec: str, parameters: Mapping[str, object]) -> Game:
    if parameters:
        raise InputError(f"parameters of {spec} are given in its name, {IMPORTED}NAME(key=value,...)")
    return load_imported(spec)


def load_imported(spec: str, report: Callable[[int], None] | None = None) -> Game:
    """The game of `openspiel:NAME(...)`, reporting the number of histories as it goes; the last few stay in memory."""
    kept = _imported(spec)
    if not kept:
        from qdts.games.openspiel import import_game

        kept.append(import_game(spec, report=report))
    return kept[0]


@functools.lru_cache(maxsize=8)
def _imported(spec: str) -> list[Game]:
    """A list for an imported game, empty until it is imported."""
    return []


@functools.lru_cache(maxsize=64)
def _load(family: Family, given: tuple[tuple[str, str], ...]) -> Game:
    return family.load(dict(given))


def parse_spec(spec: str, kind: str = "game") -> tuple[str, Mapping[str, str]]:
    """Split `name(key=value,...)`; a comma inside brackets belongs to its value."""
    path, after = game_file.split_path(spec.strip())
    name, bracket, rest = after.partition("(")
    if bracket and not rest.endswith(")"):
        raise InputError(f"{kind} '{spec}' has no closing bracket, expected name(key=value,...)")
    given: dict[str, str] = {}
    for part in _split(rest[:-1]):
        key, equals, value = (s.strip() for s in part.partition("="))
        if not equals or not key or not value:
            raise InputError(f"'{part}' in {kind} '{spec}' is not a parameter, expected key=value")
        if key in given:
            raise InputError(f"parameter {key} stands twice in {kind} '{spec}'")
        given[key] = value
    return path or name.strip(), given


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside of square brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in [*parts, text[start:]] if p.strip()]

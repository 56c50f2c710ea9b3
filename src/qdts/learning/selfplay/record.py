"""The record of a generation's self-play: worlds, actions and the results of searches. Targets are computed from it.

A record is one safetensors file: named columns, and metadata in the header under the key `qdts`,
JSON: {"format": "qdts-record", "format_version": 2, "game": the game's name with parameters, "game_version": int,
"generation": int, "sha256": the digest of all else}. The digest is the SHA-256 of this text in UTF-8, with "" in place
of the digest, followed by the bytes of each column, in the order below. A record is only read if its games follow the
rules, and reading it never runs code. Format version 2; version 1 had no `luck`:

    axis  counts
    G     games
    T     steps of all games: moves of players and of chance, those of one game in a row
    S     searches; games that reach the same view at the same step share one
    A     actions at the roots of all searches, those of one search in a row
    P     players                W     components of a world

    column      type            holds
    first       int64[G + 1]    the steps of game g are first[g] to first[g + 1]
    explorer    int8[G]         the player who explores, or -1
    returns     float64[G, P]   the return of each player
    world       intN[T, W]      the world before a step, in the smallest of 8, 16, 32, 64 bits that holds it
    mover       int8[T]         who moves: a player, or -1 for chance
    action      int32[T]        their action, or the outcome
    explored    uint8[T]        1 where the action was sampled uniformly, to explore
    search      int32[T]        the search that decided the move, or -1
    offset      int64[S + 1]    the actions of search s are offset[s] to offset[s + 1]
    visits      int32[A]        N
    q_lo, q_hi  float32[A]      the interval of Q
    prior       float32[A]      P
    move        float64[A]      the distribution that the move was sampled from
    target      float32[A]      the policy target
    luck        float64[T, P]   how lucky the outcome of chance was for each player, by V_c of the networks that played,
                                0 where a player moved; or no rows, where targets do not correct for luck
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals

FORMAT, FORMAT_VERSION = "qdts-record", 2
COLUMNS: dict[str, tuple[Any, int]] = {
    "first": (np.int64, 1),
    "explorer": (np.int8, 1),
    "returns": (np.float64, 2),
    "world": (None, 2),
    "mover": (np.int8, 1),
    "action": (np.int32, 1),
    "explored": (np.uint8, 1),
    "search": (np.int32, 1),
    "offset": (np.int64, 1),
    "visits": (np.int32, 1),
    "q_lo": (np.float32, 1),
    "q_hi": (np.float32, 1),
    "prior": (np.float32, 1),
    "move": (np.float64, 1),
    "target": (np.float32, 1),
    "luck": (np.float64, 2),
}
"""The type of each column, None for the one that depends on the game, and its number of axes."""
SINCE = {"luck": 2}
"""The format version that a column came with, where that is not the first."""
WORLD_TYPES = (np.int8, np.int16, np.int32, np.int64)
NOBODY = -1
"""`explorer` of a game in which nobody explores."""
NO_SEARCH = -1
"""`search` of a step of chance."""


@dataclass(frozen=True, eq=False)
class Record:
    """The games of one generation."""

    game: Game
    generation: int
    first: Ints
    explorer: NDArray[np.int8]
    returns: Reals
    world: NDArray[Any]
    mover: NDArray[np.int8]
    action: NDArray[np.int32]
    explored: NDArray[np.uint8]
    search: NDArray[np.int32]
    offset: Ints
    visits: NDArray[np.int32]
    q_lo: NDArray[np.float32]
    q_hi: NDArray[np.float32]
    prior: NDArray[np.float32]
    move: Reals
    target: NDArray[np.float32]
    luck: Reals

    def __len__(self) -> int:
        return len(self.explorer)

    @property
    def worlds(self) -> Ints:
        """The worlds as kernels read them."""
        return np.ascontiguousarray(self.world, np.int64)


def world_type(game: Game) -> Any:
    """The smallest type that holds a world of the game."""
    most = int(game.layout.bounds.max(initial=1))
    return next(t for t in WORLD_TYPES if most - 1 <= np.iinfo(t).max)


def save_record(record: Record, path: Path) -> None:
    """Write a record, whole or not at all."""
    from safetensors.numpy import save

    meta = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": record.game.spec,
        "game_version": record.game.version,
        "generation": record.generation,
        "sha256": "",
    }
    columns = {name: np.ascontiguousarray(getattr(record, name)) for name in COLUMNS}
    text = json.dumps(meta | {"sha256": _digest(json.dumps(meta), columns)})
    data = save(columns, {"qdts": text})
    write_whole(path, lambda file: file.write(data))


def _digest(text: str, columns: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in COLUMNS:
        if name in columns:
            digest.update(columns[name].tobytes())
    return digest.hexdigest()


def load_record(path: Path, game: Game) -> Record:
    """Read a record of a game; an InputError if the file is missing, damaged, or no record of this game."""
    from safetensors import safe_open

    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {})["qdts"]
            meta = dict(json.loads(text))
            columns = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(f"there is no file '{path}', expected a record of self-play") from None
    except Exception as error:  # a damaged header raises many kinds of error
        raise InputError(f"'{path}' is not a record of self-play made by qdts ({error})") from error
    found = tuple(meta.get(key) for key in ("format", "game", "game_version"))
    version: Any = meta.get("format_version")
    if found != (FORMAT, game.spec, game.version) or version not in range(1, FORMAT_VERSION + 1):
        raise InputError(
            f"'{path}' holds {found[0]} {version} of {found[1]} version {found[2]}, "
            f"expected {FORMAT} 1 to {FORMAT_VERSION} of {game.spec} version {game.version}"
        )
    generation, digest = meta.get("generation"), meta.get("sha256")
    if type(generation) is not int or type(digest) is not str:
        raise InputError(f"the meta data of record '{path}' are malformed: {text}")
    later = {name for name, since in SINCE.items() if since > version}
    columns = {name: column for name, column in columns.items() if name not in later}
    nothing = {name: np.zeros((0, game.players), COLUMNS[name][0]) for name in later}
    record = Record(game, generation, **_verified(columns | nothing, game, path))
    if digest != _digest(text.replace(digest, ""), columns):
        raise InputError(f"record '{path}' is damaged: its contents do not match their SHA-256")
    if not _replays(record):
        raise InputError(f"the games of record '{path}' were not played by the rules of {game.spec}")
    return record


def _replays(record: Record) -> bool:
    """Whether every game follows the rules from beginning to end."""
    game, length = record.game, np.diff(record.first)
    worlds = np.repeat(game.initial()[None], len(record), 0)
    for step in range(int(length.max(initial=0))):
        going = np.flatnonzero(length > step)
        t = record.first[going] + step
        mover, action = batch.movers(game, worlds[going]), record.action[t].astype(np.int64)
        if (mover != record.mover[t]).any() or (record.world[t] != worlds[going]).any():
            return False
        possible = batch.choices(game, worlds[going], mover)
        made = np.bincount(possible.source[possible.number == action[possible.source]], minlength=len(going))
        decided, search = mover >= 0, record.search[t]
        if (made != 1).any() or ((search != NO_SEARCH) != decided).any():
            return False
        if (np.diff(record.offset)[search[decided]] != possible.counts[decided]).any():
            return False
        worlds[going] = batch.stepped(game, worlds[going], action)
    over = batch.movers(game, worlds) == TERMINAL
    return bool(over.all() and np.array_equal(batch.returns(game, worlds), record.returns))


def _verified(columns: dict[str, Any], game: Game, path: Path) -> dict[str, Any]:
    """The columns, if they have the types and lengths of a record."""
    for name, (kind, axes) in COLUMNS.items():
        wanted = np.dtype(kind or world_type(game))
        column = columns.get(name)
        if column is None or column.dtype != wanted or column.ndim != axes:
            has = "is missing" if column is None else f"is {column.dtype} with {column.ndim} axes"
            raise InputError(f"column '{name}' of '{path}' {has}, expected {wanted} with {axes}")
    games, steps, searches = len(columns["explorer"]), len(columns["action"]), len(columns["offset"]) - 1
    actions = len(columns["move"])
    first, offset, search = columns["first"], columns["offset"], columns["search"]
    lengths = (
        len(first) == games + 1
        and columns["returns"].shape == (games, game.players)
        and columns["world"].shape == (steps, game.world_size)
        and all(len(columns[n]) == steps for n in ("mover", "explored", "search"))
        and all(len(columns[n]) == actions for n in ("visits", "q_lo", "q_hi", "prior", "target"))
        and columns["luck"].shape in ((0, game.players), (steps, game.players))
        and searches >= 0
    )
    fits = lengths and (
        first[0] == offset[0] == 0
        and first[-1] == steps
        and offset[-1] == actions
        and (np.diff(first) >= 0).all()
        and (np.diff(offset) > 0).all()
        and (search >= NO_SEARCH).all()
        and (search < searches).all()
        and game.layout.holds(columns["world"].astype(np.int64))
        and np.isfinite(columns["luck"]).all()
    )
    if not fits:
        raise InputError(f"the columns of '{path}' do not fit together or not {game.spec}")
    return {name: columns[name] for name in COLUMNS}

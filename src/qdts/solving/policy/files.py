"""Policy files: one zip of numpy arrays without pickled objects. Format version 1:

entry           type         holds
meta            uint8[any]   JSON: {"format": "qdts-policy", "format_version": 1, "game": the game's name with
                             parameters, "game_version": int, "info": anything about how it was made}
views           int64[I, W]  the views, each at its owner's turn
offset          int32[I + 1] the actions of view i are entries offset[i] to offset[i + 1]
action          int32[A]     legal actions, ascending
probability     float64[A]   non-negative, summing to one over each view
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.registry import matching_game
from qdts.solving.policy.table import SUM_TOLERANCE, Policy

FORMAT, FORMAT_VERSION = "qdts-policy", 1
ARRAYS = {"views": (np.int64, 2), "offset": (np.int32, 1), "action": (np.int32, 1), "probability": (np.float64, 1)}


def save_policy(policy: Policy, path: str | Path) -> None:
    """Write a policy file, whole or not at all.

    Args:
        policy: The policy.
        path: The file, by custom with the ending `.npz`; one that is there is replaced.

    Examples:
        >>> import tempfile
        >>> from qdts import load_game, load_policy, uniform_policy
        >>> policy = uniform_policy(load_game("kuhn_poker"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_policy(policy, f"{folder}/uniform.npz")
        ...     again = load_policy(f"{folder}/uniform.npz")
        >>> (again.probability == policy.probability).all()
        np.True_
    """
    meta = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": policy.game.spec,
        "game_version": policy.game.version,
        "info": dict(policy.info),
    }
    arrays = {name: np.asarray(getattr(policy, name), kind) for name, (kind, _) in ARRAYS.items()}
    encoded = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    write_whole(Path(path), lambda file: np.savez_compressed(file, meta=encoded, **arrays))  # type: ignore[arg-type]


def load_policy(path: str | Path, game: Game | None = None) -> Policy:
    """Read a policy file; loading never runs code.

    Args:
        path: A file written by `save_policy` or `qdts solve --out`.
        game: The game it must be for. A game defined in a file of its own has to be given:
            `load_policy("my.npz", load_game("./my_game.py"))`.

    Returns:
        The policy, for the game given or the one that the file names.

    Raises:
        InputError: There is no such file, it is malformed, or it is for another game or another version of the game.

    Examples:
        >>> load_policy("missing.npz")
        Traceback (most recent call last):
        qdts.errors.InputError: there is no file 'missing.npz', expected a policy file made by qdts
    """
    meta, arrays = _read(Path(path))
    game = matching_game(path, "a policy for", meta["game"], meta["game_version"], game)
    policy = Policy(game, info=meta["info"], **arrays)
    _verify(policy, Path(path))
    return policy


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InputError(f"'{path}' is a single array, expected a policy file made by qdts")
            entries = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise InputError(f"there is no file '{path}', expected a policy file made by qdts") from None
    except InputError:
        raise
    except Exception as error:  # a damaged zip fails in ways that neither zipfile nor zlib nor numpy list
        raise InputError(f"'{path}' is not a policy file made by qdts ({error})") from error
    missing = [name for name in ("meta", *ARRAYS) if name not in entries]
    if missing:
        raise InputError(f"policy file '{path}' lacks {', '.join(missing)}")
    try:
        meta = json.loads(entries.pop("meta").tobytes())
        wrong = (meta["format"], meta["format_version"]) != (FORMAT, FORMAT_VERSION)
        if wrong or not isinstance(meta["game"], str) or not isinstance(meta["game_version"], int):
            raise InputError(
                f"'{path}' has format {meta['format']} {meta['format_version']}, expected {FORMAT} {FORMAT_VERSION}"
            )
        meta["info"] = dict(meta.get("info") or {})
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the meta data of policy file '{path}' are malformed ({error!r})") from error
    for name, (kind, axes) in ARRAYS.items():
        if entries[name].dtype != kind or entries[name].ndim != axes:
            raise InputError(
                f"'{name}' in policy file '{path}' is {entries[name].dtype} with {entries[name].ndim} axes, "
                f"expected {np.dtype(kind)} with {axes}"
            )
    return meta, {name: np.ascontiguousarray(entries[name]) for name in ARRAYS}


def _verify(policy: Policy, path: Path) -> None:
    """Raise an InputError unless the arrays are a policy."""
    size, count = policy.game.world_size, len(policy.views)
    offset, p = policy.offset, policy.probability
    shapes_fit = (
        policy.views.shape[1] == size
        and len(offset) == count + 1
        and offset[0] == 0
        and (np.diff(offset) > 0).all()
        and offset[-1] == len(policy.action) == len(p)
    )
    if not shapes_fit:
        raise InputError(f"the arrays of policy file '{path}' do not fit together or not {policy.game.spec}")
    if not policy.game.layout.holds(policy.views):
        raise InputError(f"policy file '{path}' holds a view with a component that {policy.game.spec} can't have")
    if not np.isfinite(p).all() or (p < 0).any():
        raise InputError(f"policy file '{path}' holds a probability that is negative or not a number")
    sums = np.add.reduceat(p, offset[:-1]) if count else np.ones(0)
    worst = int(np.argmax(np.abs(sums - 1))) if count else 0
    if count and abs(sums[worst] - 1) > SUM_TOLERANCE:
        raise InputError(
            f"policy file '{path}': the probabilities at {policy.game.layout.write(policy.views[worst])} "
            f"sum to {sums[worst]:.9g}, expected 1"
        )

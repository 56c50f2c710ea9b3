"""A tabular policy: for every view at which a player moves, the probability of each legal action.

It is kept in one file, a zip of numpy arrays without pickled objects. Format version 1:

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
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.registry import matching_game
from qdts.kernels import Ints, Reals
from qdts.solving.tree import NONE, GameTree, Report, TooLargeError, enumerate_game, find_views

FORMAT, FORMAT_VERSION = "qdts-policy", 1
ARRAYS = {"views": (np.int64, 2), "offset": (np.int32, 1), "action": (np.int32, 1), "probability": (np.float64, 1)}
SUM_TOLERANCE = 1e-6
FEW = 2_000_000
"""Histories that are listed without being asked to: above, one sweep is faster than listing them."""


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities of actions by view."""

    game: Game
    views: Ints
    """int64[I, W]"""
    offset: NDArray[np.int32]
    """int32[I + 1]"""
    action: NDArray[np.int32]
    """int32[A]"""
    probability: Reals
    """float64[A]"""
    info: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: algorithm, iterations, NashConv, …"""

    def __len__(self) -> int:
        return len(self.views)

    def __call__(self, view: Ints) -> dict[int, float]:
        """The probability of each legal action at a view."""
        i = self._index.get(self.game.verify_vector(view).tobytes())
        if i is None:
            raise InputError(f"the policy for {self.game.spec} has no view {self.game.layout.write(view)}")
        of = slice(self.offset[i], self.offset[i + 1])
        return dict(zip(self.action[of].tolist(), self.probability[of].tolist(), strict=True))

    @cached_property
    def _index(self) -> dict[bytes, int]:
        return {v.tobytes(): i for i, v in enumerate(np.ascontiguousarray(self.views))}


def game_tree(game: Game, report: Report | None = None) -> GameTree:
    """The enumerated game; the last few stay in memory."""
    kept = _kept(game)
    if kept.tree is None:
        kept.tree = enumerate_game(game, report=report)
    return kept.tree


def handy_tree(game: Game) -> GameTree | None:
    """The enumerated game if it is in memory, has few histories, or can't be swept; None where a sweep is better."""
    if not is_sweepable(game):
        return game_tree(game)
    kept = _kept(game)
    if kept.tree is None and not kept.large:
        try:
            kept.tree = enumerate_game(game, limit=FEW)
        except TooLargeError:
            kept.large = True
    return kept.tree


def is_sweepable(game: Game) -> bool:
    """Whether a player's views form a tree: they tell all that he knew and did before, and are no mere positions."""
    return game.hidden and game.memory == "perfect"


@dataclass
class _Kept:
    """The place of a game's tree."""

    tree: GameTree | None = None
    large: bool = False
    """It is known to have more than FEW histories."""


@lru_cache(maxsize=4)
def _kept(game: Game) -> _Kept:
    return _Kept()


def policy_on(tree: GameTree, probability: Reals, **info: Any) -> Policy:
    """A policy from probabilities in the order of a tree's information sets."""
    sets = tree.infosets
    return Policy(tree.game, sets.views, sets.offset, sets.action, probability, info)


def uniform_policy(game: Game) -> Policy:
    """Every legal action equally likely."""
    tree = handy_tree(game)
    if tree is not None:
        return policy_on(tree, uniform(tree))
    from qdts.solving.view_sweep import tabulate

    return tabulate(game)


def uniform(tree: GameTree) -> Reals:
    """float64[A]: one over the number of legal actions."""
    counts = np.diff(tree.infosets.offset)
    return np.repeat(1.0 / counts, counts)


def verify_game(policy: Policy, game: Game) -> None:
    """Raise an InputError unless a policy is for this game."""
    if policy.game is not game and (policy.game.spec, policy.game.version) != (game.spec, game.version):
        raise InputError(
            f"the policy is for {policy.game.spec} version {policy.game.version}, "
            f"expected {game.spec} version {game.version}"
        )


def aligned(tree: GameTree, policy: Policy) -> Reals:
    """A policy's probabilities in the order of a tree's information sets."""
    verify_game(policy, tree.game)
    sets = tree.infosets
    if policy.views is sets.views:
        return policy.probability
    found = find_views(policy.views, sets.views)
    if (found == NONE).any():
        missing = sets.views[int(np.argmax(found == NONE))]
        raise InputError(f"the policy for {tree.game.spec} lacks the view {tree.game.layout.write(missing)}")
    counts = np.diff(sets.offset)
    take = np.repeat(policy.offset[found] - sets.offset[:-1], counts) + np.arange(len(sets.action))
    if (np.diff(policy.offset)[found] != counts).any() or (policy.action[take] != sets.action).any():
        raise InputError(f"the policy for {tree.game.spec} has other legal actions than the game")
    return policy.probability[take]


def save_policy(policy: Policy, path: str | Path) -> None:
    """Write a policy file, whole or not at all."""
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
    """Read a policy file; nothing in it is ever run. With a game given, it must be for that game.

    A policy for a game of one's own needs the game: `load_policy("my.npz", load_game("./my_game.py"))`.
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
        raise InputError(f"policy file '{path}' holds a view with a slot that {policy.game.spec} can't have")
    if not np.isfinite(p).all() or (p < 0).any():
        raise InputError(f"policy file '{path}' holds a probability that is negative or not a number")
    sums = np.add.reduceat(p, offset[:-1]) if count else np.ones(0)
    worst = int(np.argmax(np.abs(sums - 1))) if count else 0
    if count and abs(sums[worst] - 1) > SUM_TOLERANCE:
        raise InputError(
            f"policy file '{path}': the probabilities at {policy.game.layout.write(policy.views[worst])} "
            f"sum to {sums[worst]:.9g}, expected 1"
        )

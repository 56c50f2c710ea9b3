"""A policy as a function of views, for games too large to list their histories.

What a sweep needs of a policy is a row of probabilities for each view that it meets. Three kinds give it:

    a `Policy`       a table by view, looked up by the kernels; a view that it lacks is an error
    a `Rows`         any Python callable, such as a network: views that are met are collected, each once, asked in
                     one batch, and kept in a table of bounded size that is emptied when it is full
    `uniform_rows`   such a callable too, which kernels know by an empty table and never ask
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.solving.lending import inlined
from qdts.solving.policy import SUM_TOLERANCE, Policy, verify_game
from qdts.solving.tree import NONE, probe_view, table_size, view_table

Rows = Callable[[Ints, Ints], Reals]
"""From n views [n, W], each at its owner's turn, and how many legal actions each has [n], to probabilities
[n, at least the largest number]: row i begins with those of view i's actions, ascending, and the rest is not read."""

USED, KNOWN, SLOTS = range(3)
"""Registers of a table: how many views are in it, how many of them have their probabilities, how many slots."""

UNIFORM = 0
"""The size of `place` that stands for the uniform policy."""

MOST_SLOTS = np.iinfo(np.int32).max
"""Slots are numbered by 32 bits."""

FOUND, PENDING, NO_ROOM, OTHER_ACTIONS = range(4)
"""What `look_up` says: the row is written; it must be asked first; there is no room to note the view; the table's
actions at this view are not those of the game."""


class Table(NamedTuple):
    """Rows by view. I views at most, A slots at most."""

    views: Ints  # [I, W]
    place: NDArray[np.int32]  # [power of two] hash table of views, or nothing for the uniform policy
    offset: NDArray[np.int32]  # [I + 1] the slots of view i are offset[i] to offset[i + 1]
    action: NDArray[np.int32]  # [A] legal actions
    probability: Reals  # [A]
    used: Ints  # [3] registers


TableType = types.NamedTuple(
    [int64[:, ::1], types.int32[::1], types.int32[::1], types.int32[::1], float64[::1], int64[::1]], Table
)


def uniform_rows(views: Ints, counts: Ints) -> Reals:
    """Every legal action equally likely."""
    width = np.arange(counts.max(initial=0))
    return np.where(width < counts[:, None], 1.0 / counts[:, None], 0.0)


class Source:
    """What a sweep asks: a table, and how it is filled."""

    def __init__(self, game: Game, table: Table) -> None:
        self.game, self.table = game, table

    def answer(self) -> None:
        """Give every view of the table its probabilities."""

    def make_room(self, wanted: Ints) -> None:
        """Called for a view that is not in the table and does not fit in."""
        raise InputError(f"the policy for {self.game.spec} lacks the view {self.game.layout.write(wanted)}")


class Asked(Source):
    """A callable behind a table of bounded size."""

    def __init__(self, game: Game, rows: Rows, memory: int) -> None:
        slots = game.num_actions
        size = min(max(64, memory // (8 * game.world_size + 20 + 12 * slots)), MOST_SLOTS // slots)
        table = Table(
            np.empty((size, game.world_size), np.int64),
            np.full(table_size(size), NONE, np.int32),
            np.zeros(size + 1, np.int32),
            np.empty(size * slots, np.int32),
            np.empty(size * slots),
            np.zeros(3, np.int64),
        )
        super().__init__(game, table)
        self.rows = rows

    def answer(self) -> None:
        """Ask for what is pending, in one batch."""
        table = self.table
        known, used = int(table.used[KNOWN]), int(table.used[USED])
        if known == used:
            return
        offset = table.offset[known : used + 1]
        table.probability[offset[0] : offset[-1]] = ask(self.game, self.rows, table.views[known:used], np.diff(offset))
        table.used[KNOWN] = used

    def make_room(self, wanted: Ints) -> None:  # noqa: ARG002
        """Forget everything."""
        self.table.used[:] = 0
        self.table.place[:] = NONE


def source(game: Game, policy: Policy | Rows, memory: int) -> Source:
    """What a sweep asks for a policy of any kind, with so many bytes for answers to be kept."""
    if isinstance(policy, Policy):
        verify_game(policy, game)
        kinds = {"views": np.int64, "offset": np.int32, "action": np.int32, "probability": np.float64}
        arrays: dict[str, Any] = {n: np.require(getattr(policy, n), kind, ["C", "W"]) for n, kind in kinds.items()}
        used = np.array([len(policy), len(policy), 0], np.int64)
        return Source(game, Table(place=view_table(arrays["views"]), used=used, **arrays))
    if policy is uniform_rows:
        none = np.zeros(0, np.int32)
        return Source(
            game, Table(np.zeros((0, game.world_size), np.int64), none, none, none, np.zeros(0), np.zeros(3, np.int64))
        )
    return Asked(game, policy, memory)


def ask(game: Game, rows: Rows, views: Ints, counts: NDArray[np.int32]) -> Reals:
    """The probabilities of a batch of views, one after the other; an InputError unless they are distributions."""
    width = np.arange(counts.max())
    given = np.asarray(rows(views.copy(), counts.astype(np.int64)), np.float64)
    if given.ndim != 2 or len(given) != len(views) or given.shape[1] < len(width):
        raise InputError(
            f"a policy for {game.spec} answered {len(views)} views with an array of shape {given.shape}, "
            f"expected ({len(views)}, at least {len(width)})"
        )
    legal = width < counts[:, None]
    given = np.where(legal, given[:, : len(width)], 0.0)
    wrong = ~np.isfinite(given).all(1) | (given < 0).any(1) | ~(np.abs(given.sum(1) - 1) <= SUM_TOLERANCE)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(
            f"a policy for {game.spec} answered {given[i, : counts[i]].tolist()} "
            f"at {game.layout.write(views[i])}, expected probabilities that sum to 1"
        )
    return given[legal]


@inlined
def _note(table: Table, place: int, view: Ints, actions: Ints, n: int) -> int:
    i, first = table.used[USED], table.used[SLOTS]
    if i == len(table.views):
        return NO_ROOM
    table.place[place] = i
    table.views[i] = view
    for k in range(n):
        table.action[first + k] = actions[k]
    table.offset[i] = first
    table.offset[i + 1] = first + n
    table.used[USED] = i + 1
    table.used[SLOTS] = first + n
    return PENDING


@inlined
def look_up(table: Table, view: Ints, actions: Ints, n: int, out: Reals) -> int:
    """Write the probabilities of the n legal actions at a view; if they are not known, note the view."""
    if len(table.place) == UNIFORM:
        for k in range(n):
            out[k] = 1.0 / n
        return FOUND
    place = probe_view(table.views, table.place, view)
    i = table.place[place]
    if i == NONE:
        return _note(table, place, view, actions, n)
    if i >= table.used[KNOWN]:
        return PENDING
    first = table.offset[i]
    same = table.offset[i + 1] - first == n
    if same:
        for k in range(n):
            same &= table.action[first + k] == actions[k]
            out[k] = table.probability[first + k]
    return FOUND if same else OTHER_ACTIONS

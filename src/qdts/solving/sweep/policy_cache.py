"""Where a sweep looks up a policy: a table by view that kernels read, and what fills it.

A sweep needs the probabilities at each view that it meets. Three kinds of policy give them:

    `Policy`                  a table by view, which kernels look up; a missing view is an error
    `PolicyFunction`          any Python callable, such as a network: the views met are collected, each once, evaluated
                              in one batch, and cached in a table of bounded size that is cleared when it is full
    `uniform_probabilities`   also a callable; kernels know it by an empty hash table and never call it
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.hashing import FREE, index_rows, probe_rows, table_size
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.policy.function import PolicyFunction, evaluate_function, uniform_probabilities
from qdts.solving.policy.table import Policy, verify_game

VIEWS, EVALUATED, ENTRIES = range(3)
"""Counters of a table: its views, those of them that have their probabilities, its entries."""

UNIFORM = 0
"""The length of the hash table that stands for the uniform policy."""

MOST_ENTRIES = np.iinfo(np.int32).max
"""Entries are numbered by 32 bits."""

KNOWN, PENDING, NO_SPACE, OTHER_ACTIONS = range(4)
"""What `look_up` returns: the probabilities are written; the view waits to be evaluated; there is no space for the
view; the table's actions at this view are not those of the game."""


class Table(NamedTuple):
    """Probabilities by view, for at most I views and A entries."""

    views: Ints  # [I, W]
    buckets: NDArray[np.int32]  # [power of two] hash table of views, or empty for the uniform policy
    offset: NDArray[np.int32]  # [I + 1] the entries of view i are offset[i] to offset[i + 1]
    action: NDArray[np.int32]  # [A] legal actions
    probability: Reals  # [A]
    counters: Ints  # [3]


TableType = types.NamedTuple(
    [int64[:, ::1], types.int32[::1], types.int32[::1], types.int32[::1], float64[::1], int64[::1]], Table
)


class PolicySource:
    """A policy whose table is complete."""

    def __init__(self, game: Game, table: Table) -> None:
        self.game, self.table = game, table

    def evaluate_pending(self) -> None:
        """Give every view of the table its probabilities."""

    def clear(self, missing: Ints) -> None:
        """Make space for a view that is not in the table."""
        raise InputError(f"the policy for {self.game.spec} lacks the view {self.game.layout.write(missing)}")


class CachedFunction(PolicySource):
    """A policy function behind a table of bounded size."""

    def __init__(self, game: Game, function: PolicyFunction, memory: int) -> None:
        actions = game.num_actions
        size = min(max(64, memory // (8 * game.world_size + 20 + 12 * actions)), MOST_ENTRIES // actions)
        table = Table(
            np.empty((size, game.world_size), np.int64),
            np.full(table_size(size), FREE, np.int32),
            np.zeros(size + 1, np.int32),
            np.empty(size * actions, np.int32),
            np.empty(size * actions),
            np.zeros(3, np.int64),
        )
        super().__init__(game, table)
        self.function = function

    def evaluate_pending(self) -> None:
        """Evaluate the views that wait for it, in one batch."""
        table = self.table
        done, views = int(table.counters[EVALUATED]), int(table.counters[VIEWS])
        if done == views:
            return
        offset = table.offset[done : views + 1]
        given = evaluate_function(self.game, self.function, table.views[done:views], np.diff(offset))
        table.probability[offset[0] : offset[-1]] = given
        table.counters[EVALUATED] = views

    def clear(self, missing: Ints) -> None:  # noqa: ARG002
        """Remove every view."""
        self.table.counters[:] = 0
        self.table.buckets[:] = FREE


def policy_source(game: Game, policy: Policy | PolicyFunction, memory: int) -> PolicySource:
    """The table of a policy of any kind; `memory` bounds the bytes of a function's cache."""
    if isinstance(policy, Policy):
        verify_game(policy, game)
        kinds = {"views": np.int64, "offset": np.int32, "action": np.int32, "probability": np.float64}
        arrays: dict[str, Any] = {n: np.require(getattr(policy, n), kind, ["C", "W"]) for n, kind in kinds.items()}
        counters = np.array([len(policy), len(policy), 0], np.int64)
        return PolicySource(game, Table(buckets=index_rows(arrays["views"]), counters=counters, **arrays))
    if policy is uniform_probabilities:
        none = np.zeros(0, np.int32)
        return PolicySource(
            game, Table(np.zeros((0, game.world_size), np.int64), none, none, none, np.zeros(0), np.zeros(3, np.int64))
        )
    return CachedFunction(game, policy, memory)


@kernel(inline=True)
def _insert(table: Table, place: int, view: Ints, actions: Ints, n: int) -> int:
    """Add a view that waits to be evaluated, at a free entry of the hash table."""
    i, first = table.counters[VIEWS], table.counters[ENTRIES]
    if i == len(table.views):
        return NO_SPACE
    table.buckets[place] = i
    table.views[i] = view
    for k in range(n):
        table.action[first + k] = actions[k]
    table.offset[i] = first
    table.offset[i + 1] = first + n
    table.counters[VIEWS] = i + 1
    table.counters[ENTRIES] = first + n
    return PENDING


@kernel(inline=True)
def look_up(table: Table, view: Ints, actions: Ints, n: int, out: Reals) -> int:
    """Write the probabilities of the n legal actions at a view; a view without probabilities is inserted."""
    if len(table.buckets) == UNIFORM:
        for k in range(n):
            out[k] = 1.0 / n
        return KNOWN
    place = probe_rows(table.views, table.buckets, view)
    i = table.buckets[place]
    if i == FREE:
        return _insert(table, place, view, actions, n)
    if i >= table.counters[EVALUATED]:
        return PENDING
    first = table.offset[i]
    same = table.offset[i + 1] - first == n
    if same:
        for k in range(n):
            same &= table.action[first + k] == actions[k]
            out[k] = table.probability[first + k]
    return KNOWN if same else OTHER_ACTIONS

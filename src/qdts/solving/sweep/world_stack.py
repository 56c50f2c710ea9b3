"""The worlds that a sweep over one player's views holds at a time, as a stack in one block of memory.

The player p whose best response is sought is at a view, with all worlds that have this view and their weights r₋ₚ. Such
a *group* has one *branch* for each of p's actions. Expanding a branch lets p act in every world of the group and plays
each world on through chance and the others until the game ends (its weighted return is added to the branch) or p moves
again (it is added to the group of p's new view). Folding a group adds the values of its branches to the branch that
led to it.

    axis  counts
    N     worlds that fit into memory
    G     groups that do
    K     branches that do
    W     components of a world's vector
    D     the game's greatest depth plus two
    B     its widest branching
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.hashing import table_size
from qdts.kernels import Ints, Reals
from qdts.solving.tree.arrays import NONE

WORLDS, GROUPS, BRANCHES = range(3)
"""Counters of the stack: how much of each axis is in use."""

GROUP, BRANCH, PENDING_VIEWS, HISTORIES, DEPTH = range(5)
"""Counters of the walk: the branch to expand next and its group, the views that must be evaluated before the run is
valid, the histories met, and the depth of the path at which a fault was met."""

MOST_WORLDS = np.iinfo(np.int32).max // 2
"""Worlds, groups and branches are numbered by 32 bits."""

VACANT = 0
"""A bucket without a group; group g is stored as g + 1, so that untouched memory is vacant."""


class Stack(NamedTuple):
    """Worlds in groups, and the values of the player's actions. What a run adds lies on top."""

    worlds: Ints  # [N, W]
    weight: Reals  # [N] the probability that chance and the others play to it
    group: NDArray[np.int32]  # [N]
    order: NDArray[np.int32]  # [N] worlds by group
    start: Ints  # [G] its worlds are order[start] to order[start + size]; during a run, its first world
    size: NDArray[np.int32]  # [G]
    branch: Ints  # [G] its first branch
    actions: NDArray[np.int32]  # [G] the number of its branches
    parent: Ints  # [G] the branch that led to it
    hash: Ints  # [G] of the view
    action: NDArray[np.int32]  # [K] the player's action, or NONE for the branch before their first turn
    best: Reals  # [K] its value if the player then plays a best response, times r₋ₚ
    mean: Reals  # [K] its value if the player then follows the policy, times r₋ₚ
    buckets: NDArray[np.int32]  # [power of two] hash table of the groups of a run, otherwise VACANT
    top: Ints  # [3] counters


class Walk(NamedTuple):
    """Scratch of the walk between two turns of the player."""

    worlds: Ints  # [D, W] the path
    weight: Reals  # [D]
    cursor: Ints  # [D] the next child, NONE before the node is entered
    width: Ints  # [D] the number of children
    choices: Ints  # [D, B]
    chances: Reals  # [D, B]
    redacted: Ints  # [W] a view
    other_redacted: Ints  # [W] another
    utility: Reals  # [P]
    total: Reals  # [1] weighted returns of the current branch
    counters: Ints  # [5]


class Task(NamedTuple):
    """The branches that a run expands, and how much it may add to the stack."""

    player: int
    groups: int  # the end of the groups whose branches are expanded
    enough: int  # worlds on the stack after which no further branch is begun
    most_worlds: int  # that the stack may hold
    most_groups: int
    most_branches: int
    mask: int  # the size of the hash table to use, less one
    part: int  # only views whose hash leaves this remainder
    parts: int  # when divided by this


_ints, _small, _reals = int64[::1], types.int32[::1], float64[::1]
StackType = types.NamedTuple(
    [
        *(int64[:, ::1], _reals, _small, _small),
        *(_ints, _small, _ints, _small, _ints, _ints),
        *(_small, _reals, _reals, _small, _ints),
    ],
    Stack,
)
WalkType = types.NamedTuple(
    [
        *(int64[:, ::1], _reals, _ints, _ints, int64[:, ::1], float64[:, ::1]),
        *(_ints, _ints, _reals, _reals, _ints),
    ],
    Walk,
)
TaskType = types.NamedUniTuple(int64, 9, Task)


def bytes_per_world(game: Game) -> int:
    """The memory of one more world, with its share of groups, branches and the hash table."""
    return 8 * game.world_size + 16 + 20 + 20 + 4


def make_stack(game: Game, memory: int) -> Stack:
    """An empty stack of at most so many bytes; the system provides them only as they are used."""
    n = min(max(1, memory // bytes_per_world(game)), MOST_WORLDS)
    groups, branches = n // 2 + 1, n + game.max_branching
    try:
        worlds = np.empty((n, game.world_size), np.int64)
    except MemoryError:
        raise InputError(f"this machine does not give {memory:,} bytes of memory for a sweep; ask for less") from None
    return Stack(
        worlds,
        np.empty(n),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(groups, np.int64),
        np.empty(groups, np.int32),
        np.empty(groups, np.int64),
        np.empty(groups, np.int32),
        np.empty(groups, np.int64),
        np.empty(groups, np.int64),
        np.empty(branches, np.int32),
        np.empty(branches),
        np.empty(branches),
        np.zeros(table_size(groups // 2), np.int32),
        np.zeros(3, np.int64),
    )


def make_walk(game: Game) -> Walk:
    """Scratch for a game."""
    depth, branching = game.max_depth + 2, game.max_branching
    return Walk(
        np.zeros((depth, game.world_size), np.int64),
        np.zeros(depth),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros((depth, branching), np.int64),
        np.zeros((depth, branching)),
        np.zeros(game.world_size, np.int64),
        np.zeros(game.world_size, np.int64),
        np.zeros(game.players),
        np.zeros(1),
        np.zeros(5, np.int64),
    )


def begin(game: Game, stack: Stack) -> None:
    """Put the start of the game on the empty stack: a group of one world, whose only branch has no action."""
    stack.worlds[0] = game.initial()
    stack.weight[0] = 1.0
    stack.order[0] = stack.start[0] = stack.branch[0] = 0
    stack.size[0] = stack.actions[0] = 1
    stack.action[0] = NONE
    stack.best[0] = stack.mean[0] = 0.0
    stack.top[:] = 1

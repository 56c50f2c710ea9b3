"""The tree of one player's views in a game of hidden stones: from each view, by each cell and outcome, to their next.

    axis  counts
    V     views of the player, at their turn, each before those that follow it
    E     entries: pairs of a view and a cell that may be tried there, in the order of views, cells ascending
    W     components of a view
    D     depths: the number of cells plus one

The walk that lists the views is a resumable kernel: it fills a batch of views, which a policy evaluates, and continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.games.interface import KernelsType, RulesType
from qdts.games.rules.hidden_moves import (
    ABRUPT,
    CELLS,
    FAILED,
    SEEN,
    STATUS,
    STONES,
    TRIES,
    board,
    has_won,
    possible,
    seat,
)
from qdts.games.sets import size
from qdts.kernels import Ints, declare, kernel
from qdts.pointers import borrowed

I = TypeVar("I", np.int8, np.int32)  # noqa: E741

STONE, FAILURE = range(2)
"""The outcomes of a try."""
OVER, WON, IMPOSSIBLE = -1, -2, -3
"""In place of a next view: the player has no further turn; the try reaches their goal; the try can't end like this."""

VIEWS, ENTRIES, DEPTH = range(3)
"""Counters of a walk: views and entries so far, and the depth of the path."""
BATCH = 1 << 14
"""Views that are listed, and evaluated by a policy, at once."""


class Tree(NamedTuple):
    """All views of a player, by number."""

    first: NDArray[np.int32]  # [V + 1] the entries of view v are first[v] to first[v + 1]
    cell: NDArray[np.int8]  # [E]
    after: NDArray[np.int32]  # [E, 2] the next view by the outcome, or one of the numbers above


class Walk(NamedTuple):
    """The path at hand, depth by depth, and how far the walk is."""

    worlds: Ints  # [D, W] worlds in which the other's tries are not filled in
    cursor: Ints  # [D] 2 · entry + outcome that is next, counted from the first entry of the view
    number: Ints  # [D] that of the view
    counters: Ints  # [3]


TreeType = types.NamedTuple([types.int32[::1], types.int8[::1], types.int32[:, ::1]], Tree)
WalkType = types.NamedTuple([int64[:, ::1], int64[::1], int64[::1], int64[::1]], Walk)
declare(Tree, TreeType)
declare(Walk, WalkType)


class ViewTree:
    """A tree of views that grows while its views are listed."""

    def __init__(self, game: Game, player: int) -> None:
        self.game, self.player = game, player
        cells = game.num_actions
        entries = BATCH * cells
        self.tree = Tree(np.zeros(BATCH + 1, np.int32), np.empty(entries, np.int8), np.empty((entries, 2), np.int32))
        self.walk = Walk(
            np.zeros((cells + 1, game.world_size), np.int64),
            np.zeros(cells + 1, np.int64),
            np.zeros(cells + 1, np.int64),
            np.zeros(3, np.int64),
        )

    def batches(self) -> Iterator[tuple[Ints, NDArray[np.int32]]]:
        """List all views: some of them [n, W], and the number of cells that may be tried at each [n]."""
        views, walk = np.empty((BATCH, self.game.world_size), np.int64), self.walk
        begin_walk(self.game.kernels, self.game.rules, walk, self.player)
        while walk.counters[DEPTH] >= 0:
            done = int(walk.counters[VIEWS])
            self._grow()
            count = list_views(self.game.kernels, self.game.rules, self.tree, walk, self.player, views)
            yield views[:count], np.diff(self.tree.first[done : done + count + 1])
        number, entries = int(walk.counters[VIEWS]), int(walk.counters[ENTRIES])
        self.tree = Tree(self.tree.first[: number + 1], self.tree.cell[:entries], self.tree.after[:entries])

    def _grow(self) -> None:
        """Make room for one more batch; what is too small doubles."""
        old, (views, entries, _) = self.tree, self.walk.counters
        if views + BATCH >= len(old.first):
            self.tree = self.tree._replace(first=_doubled(old.first))
        if entries + BATCH * self.game.num_actions > len(old.cell):
            self.tree = self.tree._replace(cell=_doubled(old.cell), after=_doubled(old.after))


def _doubled(array: NDArray[I]) -> NDArray[I]:
    """A copy of an array with as much room again behind it."""
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel(inline=True)
def _before(rules: Ints, player: int, world: Ints) -> int:
    """How many tries of the other come before the player's turn, in an abrupt game."""
    return size(world[seat(rules, player) + SEEN]) + player


@kernel(inline=True)
def _write_view(game: Any, rules: Ints, world: Ints, player: int, view: Ints) -> None:
    """What the player sees; where the other's tries are counted, any will do, since they are hidden."""
    for i in range(world.shape[0]):
        view[i] = world[i]
    for k in range(min(_before(rules, player, world), rules[CELLS])):
        view[seat(rules, 1 - player) + TRIES + k] = 1
    game.redact(rules.ctypes, view.ctypes, player)


@kernel(inline=True)
def _is_possible(rules: Ints, world: Ints, player: int, status: int) -> bool:
    """Whether the other can have played so that the player has tried what they have, and `status` moves."""
    world[STATUS] = status
    is_possible = possible(rules, world, 1 - player, 0, 0, 0)
    world[STATUS] = player
    return is_possible


@kernel(inline=True)
def _try_cell(rules: Ints, walk: Walk, depth: int, player: int, cell: int, outcome: int) -> int:
    """Write the world after a try as the next of the path, and return what follows: OVER for the player's next view."""
    world, below = walk.worlds[depth], walk.worlds[depth + 1]
    for i in range(world.shape[0]):
        below[i] = world[i]
    own = seat(rules, player)
    k = size(world[own + SEEN])
    below[own + SEEN] |= 1 << cell
    below[own + TRIES + k] = cell + 1
    if outcome == STONE:
        below[own + STONES] |= 1 << cell
        return WON if has_won(rules, player, below[own + STONES]) else OVER
    below[own + FAILED] |= 1 << k
    mover = 1 - player if rules[ABRUPT] else player
    return OVER if _is_possible(rules, below, player, mover) else IMPOSSIBLE


@kernel(inline=True)
def _add_view(rules: Ints, tree: Tree, walk: Walk, depth: int, player: int) -> None:
    """Give the last view of the path its number and its entries."""
    view, entry = walk.counters[VIEWS], walk.counters[ENTRIES]
    untried = board(rules) & ~walk.worlds[depth, seat(rules, player) + SEEN]
    for cell in range(rules[CELLS]):
        if untried >> cell & 1:
            tree.cell[entry] = cell
            entry += 1
    tree.first[view + 1] = entry
    walk.number[depth], walk.cursor[depth] = view, 0
    walk.counters[VIEWS], walk.counters[ENTRIES], walk.counters[DEPTH] = view + 1, entry, depth


@kernel(types.void(KernelsType, RulesType, WalkType, int64))
def begin_walk(game: Any, rules: Ints, walk: Walk, player: int) -> None:
    """Put the player's first turn on the path; its number and entries follow when views are listed."""
    game.initial(rules.ctypes, walk.worlds[0].ctypes)
    walk.worlds[0, STATUS] = player
    walk.counters[:] = 0


@kernel(int64(KernelsType, RulesType, TreeType, WalkType, int64, int64[:, ::1]))
def list_views(game: Any, rules: Ints, tree: Tree, walk: Walk, player: int, views: Ints) -> int:
    """Continue the walk until the batch of views is full or the walk is over (depth -1); return how many there are."""
    tree, walk = borrowed(tree), borrowed(walk)
    count = 0
    if walk.counters[VIEWS] == 0:
        _write_view(game, rules, walk.worlds[0], player, views[0])
        _add_view(rules, tree, walk, 0, player)
        count = 1
    depth = walk.counters[DEPTH]
    while depth >= 0 and count < views.shape[0]:
        view, k = walk.number[depth], walk.cursor[depth]
        entry, outcome = tree.first[view] + k // 2, k % 2
        if entry == tree.first[view + 1]:
            depth -= 1
            continue
        walk.cursor[depth] += 1
        follows = _try_cell(rules, walk, depth, player, tree.cell[entry], outcome)
        if follows == OVER and _is_possible(rules, walk.worlds[depth + 1], player, player):
            follows = walk.counters[VIEWS]
        tree.after[entry, outcome] = follows
        if follows >= 0:
            depth += 1
            _write_view(game, rules, walk.worlds[depth], player, views[count])
            _add_view(rules, tree, walk, depth, player)
            count += 1
    walk.counters[DEPTH] = depth
    return count

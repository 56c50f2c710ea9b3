"""Enumerating a game: a depth-first walk over its rules that fills the arrays of `arrays`.

The walk is one kernel for all games, and it can be resumed: it runs until its arrays are full and returns; Python
enlarges them, reports progress, and calls it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.hashing import FREE, index_rows, probe_rows, table_size
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import borrowed
from qdts.solving.tree.arrays import NONE, GameTree, Histories, HistoriesType, InfoSets, InfoSetsType
from qdts.solving.tree.faults import broken_rules, sums_to_one, too_deep
from qdts.solving.tree.size import surely_exceeds

DONE, ENTERED, FULL, BAD_CHANCE, NO_ACTIONS, TOO_DEEP, ACTIONS_DIFFER, STOPPED = range(8)
"""Status of the walk: finished; a node's children are to be visited; arrays full; chance does not sum to one; a
mover without actions; a history longer than the game's `max_depth`; legal actions that are not those of another
history with the same view; the stop flag is set. A fault leaves the walk where it is."""

DEPTH, HISTORIES, INFOSETS, ENTRIES = range(4)
"""Counters of the walk: depth of the current node (-1: not begun), and how much of each axis is in use."""

DEFAULT_LIMIT = 20_000_000
"""Above so many histories enumerating is refused, unless the caller sets another limit."""

SMALL = 100_000
"""So many histories are enumerated before the size of the game is estimated."""
SMALLER = "give smaller parameters"

MOST_VIEW_BYTES = 2 << 30
"""Enumerating is also refused when the views of information sets take more memory than this."""


class TooLargeError(InputError):
    """A game has more histories than may be enumerated."""


class Walk(NamedTuple):
    """The state of `_walk` between calls; D is the game's greatest depth plus one, B its widest branching."""

    worlds: Ints  # [D, W] the worlds on the path
    number: Ints  # [D] their histories
    cursor: Ints  # [D] the next child to visit, NONE before the node is entered
    choices: Ints  # [B] scratch
    chances: Reals  # [B] scratch
    redacted: Ints  # [W] scratch: a view
    table: NDArray[np.int32]  # [power of two] hash table of information sets
    counters: Ints  # [4]


@dataclass(frozen=True)
class Progress:
    """How far an enumeration is."""

    histories: int
    infosets: int


Report = Callable[[Progress], None]

_WalkType = types.NamedTuple(
    [int64[:, ::1], int64[::1], int64[::1], int64[::1], types.float64[::1], int64[::1], types.int32[::1], int64[::1]],
    Walk,
)


def enumerate_game(
    game: Game, *, limit: int = DEFAULT_LIMIT, max_depth: int | None = None, report: Report | None = None
) -> GameTree:
    """Enumerate a game.

    Args:
        game: The game.
        limit: The most histories that are enumerated.
        max_depth: Histories of this length get no children; None goes to the end of the game.
        report: Called now and then with the progress so far.

    Returns:
        Every history and every information set.

    Raises:
        TooLargeError: There are more than `limit` histories, which is noticed early where there are many times as
            many, or their views take too much memory.
        InputError: The rules are broken.
    """
    histories, infosets, walk = _allocate(game)
    depth = game.max_depth if max_depth is None else max_depth
    sized = max_depth is not None
    while True:
        status = _walk(game.kernels, game.rules, histories, infosets, walk, depth, stop_flag())
        verify_not_stopped()
        used = walk.counters
        if report is not None:
            report(Progress(int(used[HISTORIES]), int(used[INFOSETS])))
        if status == DONE:
            break
        if status != FULL:
            raise _fault(game, walk, status)
        if not sized and used[HISTORIES] > SMALL:
            sized = True
            if surely_exceeds(game, limit):
                raise TooLargeError(
                    f"{game.spec} has far more than {limit:,} histories: too large to enumerate; {SMALLER}"
                )
        too_long, too_wide = used[HISTORIES] > limit, infosets.views[: used[INFOSETS]].nbytes > MOST_VIEW_BYTES
        if too_long or too_wide:
            most = f"{limit:,} histories" if too_long else f"{MOST_VIEW_BYTES >> 20:,} MiB of views"
            raise TooLargeError(
                f"{game.spec} has more than {most} "
                f"({used[HISTORIES]:,} histories and {used[INFOSETS]:,} information sets so far): "
                f"too large to enumerate; {SMALLER}"
            )
        histories, infosets, walk = _grow(game, histories, infosets, walk, limit + game.max_branching)
    n, i, a = (int(used[k]) for k in (HISTORIES, INFOSETS, ENTRIES))
    return GameTree(
        game,
        Histories(*(_trimmed(x, n) for x in histories)),
        InfoSets(
            _trimmed(infosets.views, i),
            _trimmed(infosets.owner, i),
            _trimmed(infosets.offset, i + 1),
            _trimmed(infosets.action, a),
        ),
    )


def _allocate(game: Game, histories: int = 1 << 14, infosets: int = 1 << 10) -> tuple[Histories, InfoSets, Walk]:
    branching, depth, size = game.max_branching, game.max_depth + 1, game.world_size
    histories, infosets = histories + branching, infosets + 1
    entries = 4 * infosets + branching
    return (
        Histories(
            np.full(histories, NONE, np.int32),
            np.full(histories, NONE, np.int32),
            np.zeros(histories, np.int8),
            np.full(histories, NONE, np.int32),
            np.full(histories, NONE, np.int32),
            np.zeros(histories, np.int32),
            np.full(histories, NONE, np.int32),
            np.ones(histories),
            np.zeros((histories, game.players)),
        ),
        InfoSets(
            np.zeros((infosets, size), np.int64),
            np.zeros(infosets, np.int8),
            np.zeros(infosets + 1, np.int32),
            np.zeros(entries, np.int32),
        ),
        Walk(
            np.zeros((depth, size), np.int64),
            np.zeros(depth, np.int64),
            np.zeros(depth, np.int64),
            np.zeros(branching, np.int64),
            np.zeros(branching),
            np.zeros(size, np.int64),
            np.full(table_size(infosets), FREE, np.int32),
            np.array([-1, 0, 0, 0], np.int64),
        ),
    )


def _grow(
    game: Game, histories: Histories, infosets: InfoSets, walk: Walk, most: int
) -> tuple[Histories, InfoSets, Walk]:
    """Copies with every axis doubled that is more than half full; there is space for at most `most` histories."""
    used = walk.counters

    def larger(old: NDArray[Any], fill: int, full: bool, most: float = np.inf) -> NDArray[Any]:
        if not full:
            return old
        new = np.full((int(min(2 * len(old), max(most, len(old)))), *old.shape[1:]), fill, old.dtype)
        new[: len(old)] = old
        return new

    more_h = 2 * used[HISTORIES] > len(histories.parent)
    more_i = 2 * used[INFOSETS] > len(infosets.owner)
    more_a = 2 * used[ENTRIES] > len(infosets.action)
    fills = (NONE, NONE, 0, NONE, NONE, 0, NONE, 1, 0)
    arrays: tuple[NDArray[Any], ...] = tuple(histories)
    histories = Histories(*(larger(x, f, more_h, most) for x, f in zip(arrays, fills, strict=True)))
    infosets = InfoSets(
        larger(infosets.views, 0, more_i),
        larger(infosets.owner, 0, more_i),
        larger(infosets.offset, 0, more_i),
        larger(infosets.action, 0, more_a),
    )
    if more_i:
        walk = walk._replace(table=index_rows(infosets.views[: used[INFOSETS]], len(infosets.owner)))
    return histories, infosets, walk


def _trimmed(array: NDArray[Any], n: int) -> NDArray[Any]:
    return array[:n] if len(array) < 2 * n else array[:n].copy()


def _fault(game: Game, walk: Walk, status: int) -> InputError:
    world = walk.worlds[int(walk.counters[DEPTH])]
    if status in (BAD_CHANCE, NO_ACTIONS):
        return broken_rules(game, world, status == BAD_CHANCE)
    if status == ACTIONS_DIFFER:
        where = game.layout.write(world)
        return InputError(
            f"{game.spec}: the legal actions at {where} differ from those of another world with the same view"
        )
    return too_deep(game, world)


@kernel(inline=True)
def _has_room(histories: Histories, infosets: InfoSets, walk: Walk) -> bool:
    """Whether a node with the most children that a node can have still fits."""
    r = walk.counters
    branching = walk.choices.shape[0]
    return bool(
        r[HISTORIES] + branching <= histories.parent.shape[0]
        and r[INFOSETS] + 1 <= infosets.owner.shape[0]
        and r[ENTRIES] + branching <= infosets.action.shape[0]
    )


@kernel(inline=True)
def _same_actions(infosets: InfoSets, i: int, choices: Ints, n: int) -> bool:
    """Whether an information set has exactly these actions."""
    offset = infosets.offset[i]
    same = infosets.offset[i + 1] - offset == n
    if same:
        for k in range(n):
            same &= infosets.action[offset + k] == choices[k]
    return bool(same)


@kernel(inline=True)
def _enter_infoset(infosets: InfoSets, walk: Walk, mover: int, n: int) -> int:
    """The number of the information set of the current view with its n actions; a new one is added.

    A negated status if it is known with other actions.
    """
    r = walk.counters
    place = probe_rows(infosets.views, walk.table, walk.redacted)
    i = walk.table[place]
    if i != FREE:
        return i if _same_actions(infosets, i, walk.choices, n) else -ACTIONS_DIFFER
    i = r[INFOSETS]
    walk.table[place] = i
    for k in range(walk.redacted.shape[0]):  # assigning the row at once takes seconds to compile
        infosets.views[i, k] = walk.redacted[k]
    infosets.owner[i] = mover
    for k in range(n):
        infosets.action[r[ENTRIES] + k] = walk.choices[k]
    r[ENTRIES] += n
    infosets.offset[i + 1] = r[ENTRIES]
    r[INFOSETS] += 1
    return i


@kernel(inline=True)
def _choices(game: Any, rules: Ints, walk: Walk, world: Ints, mover: int) -> int:
    """Write the mover's choices into the scratch arrays; return their number, or a negated status."""
    if mover != CHANCE:
        n = game.legal(rules.ctypes, world.ctypes, walk.choices.ctypes)
        return n if n > 0 else -NO_ACTIONS
    n = game.chance(rules.ctypes, world.ctypes, walk.choices.ctypes, walk.chances.ctypes)
    return n if sums_to_one(walk.chances, n) else -BAD_CHANCE


@kernel(inline=True)
def _enter(game: Any, rules: Ints, histories: Histories, infosets: InfoSets, walk: Walk, max_depth: int) -> int:
    """Write the current node and number its children. DONE: there are none to visit. FULL: call again."""
    r = walk.counters
    depth = r[DEPTH]
    h = walk.number[depth]
    world = walk.worlds[depth]
    mover = game.mover(rules.ctypes, world.ctypes)
    histories.mover[h] = mover
    if mover == TERMINAL:
        game.returns(rules.ctypes, world.ctypes, histories.utility[h].ctypes)
        return DONE
    if not _has_room(histories, infosets, walk):
        return FULL
    n = _choices(game, rules, walk, world, mover)
    if n < 0:
        return -n
    if mover != CHANCE:
        for i in range(world.shape[0]):
            walk.redacted[i] = world[i]
        game.redact(rules.ctypes, walk.redacted.ctypes, mover)
        infoset = _enter_infoset(infosets, walk, mover, n)
        if infoset < 0:
            return -infoset
        histories.infoset[h] = infoset
    if depth >= walk.worlds.shape[0] - 1:
        return TOO_DEEP
    if depth >= max_depth:
        return DONE
    histories.first[h] = r[HISTORIES]
    histories.children[h] = n
    for k in range(n):
        child = r[HISTORIES] + k
        histories.parent[child] = h
        histories.action[child] = walk.choices[k]
        if mover == CHANCE:
            histories.probability[child] = walk.chances[k]
        else:
            histories.entry[child] = infosets.offset[histories.infoset[h]] + k
    r[HISTORIES] += n
    walk.cursor[depth] = 0
    return ENTERED


@kernel(int64(KernelsType, RulesType, HistoriesType, InfoSetsType, _WalkType, int64, FlagType))
def _walk(
    game: Any, rules: Ints, histories: Histories, infosets: InfoSets, walk: Walk, max_depth: int, stop: Ints
) -> int:
    """Depth first over the rules until the arrays are full or every history is in them.

    begin → enter → (next child → enter …)* → no child left → up → … → DONE
    """
    histories, infosets, walk = borrowed(histories), borrowed(infosets), borrowed(walk)
    r = walk.counters
    if r[DEPTH] < 0:
        r[DEPTH] = 0
        r[HISTORIES] = 1
        walk.number[0] = 0
        walk.cursor[0] = NONE
        game.initial(rules.ctypes, walk.worlds[0].ctypes)
    while r[DEPTH] >= 0:
        if stop[0]:
            return STOPPED
        depth = r[DEPTH]
        if walk.cursor[depth] == NONE:
            status = _enter(game, rules, histories, infosets, walk, max_depth)
            if status == DONE:
                r[DEPTH] -= 1
                continue
            if status != ENTERED:
                return status
        h, k = walk.number[depth], walk.cursor[depth]
        if k == histories.children[h]:
            r[DEPTH] -= 1
            continue
        walk.cursor[depth] += 1
        child = histories.first[h] + k
        world, below = walk.worlds[depth], walk.worlds[depth + 1]
        for i in range(world.shape[0]):
            below[i] = world[i]
        game.step(rules.ctypes, below.ctypes, histories.action[child])
        walk.number[depth + 1] = child
        walk.cursor[depth + 1] = NONE
        r[DEPTH] += 1
    return DONE

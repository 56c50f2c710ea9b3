"""A whole game as flat arrays: every history, and every information set with its legal actions.

The walk over the rules is one kernel for all games. It is a resumable machine: it runs until its arrays are
full and returns; Python makes them larger, shows progress, and calls it again.

    axis  counts
    H     histories; a parent's number is below its children's, and siblings are neighbours
    I     information sets of all players, numbered in the order of discovery (so parents come first)
    A     pairs of information set and legal action, those of one information set being neighbours
    P     players
    W     slots of a world

A policy is a float64[A]: the probability of each action at each information set.
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
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.lending import inlined, lent

NONE = -1
"""No parent, no information set, no children."""

DONE, ENTERED, FULL, BAD_CHANCE, NO_ACTIONS, TOO_DEEP, TOLD_APART, STOPPED = range(8)
"""What the walk says: finished; a node's children are to be visited; arrays full; chance does not sum to one; a
mover with nothing to do; a history longer than the game's `max_depth`; legal actions that are not those of another
history with the same view; the stop flag is set. A fault leaves the machine where it is."""

DEPTH, HISTORIES, INFOSETS, SLOTS = range(4)
"""Registers of the machine: depth of the node at hand (-1: not begun), and how much of each axis is in use."""

DEFAULT_LIMIT = 20_000_000
"""Histories above which enumerating is refused unless a caller asks for more."""

MOST_VIEW_BYTES = 2 << 30
"""Enumerating is refused, too, when the views of information sets take more memory than this."""


class TooLargeError(InputError):
    """A game has more histories than are to be listed."""


class Histories(NamedTuple):
    """Every history of a game."""

    parent: NDArray[np.int32]  # [H] the history before, NONE at the start
    action: NDArray[np.int32]  # [H] the action or outcome that led here
    mover: NDArray[np.int8]  # [H] a player, CHANCE or TERMINAL
    infoset: NDArray[np.int32]  # [H] where a player moves, his information set, else NONE
    first: NDArray[np.int32]  # [H] the first child, NONE where there is none
    children: NDArray[np.int32]  # [H] how many there are
    slot: NDArray[np.int32]  # [H] the pair in A that led here if a player moved, else NONE
    probability: Reals  # [H] of the edge that led here if chance moved, else 1
    utility: Reals  # [H, P] returns of finished games, else 0


class InfoSets(NamedTuple):
    """Every information set of a game."""

    views: Ints  # [I, W] what its owner knows
    owner: NDArray[np.int8]  # [I] the player who moves
    offset: NDArray[np.int32]  # [I + 1] its actions are A[offset[i] : offset[i + 1]]
    action: NDArray[np.int32]  # [A] the legal actions


class Machine(NamedTuple):
    """What `_walk` keeps between calls; D is the game's greatest depth plus one, B its widest branching."""

    worlds: Ints  # [D, W] the worlds on the path
    number: Ints  # [D] their histories
    cursor: Ints  # [D] the next child to visit
    choices: Ints  # [B] scratch
    chances: Reals  # [B] scratch
    seen: Ints  # [W] scratch: a view
    table: NDArray[np.int32]  # [power of two] hash table of information sets
    registers: Ints  # [4]


@dataclass(frozen=True, eq=False)
class GameTree:
    """A game and its arrays."""

    game: Game
    histories: Histories
    infosets: InfoSets

    @property
    def num_histories(self) -> int:
        """H."""
        return len(self.histories.parent)

    @property
    def num_infosets(self) -> int:
        """I."""
        return len(self.infosets.owner)

    @property
    def num_terminals(self) -> int:
        """Finished histories."""
        return int(np.count_nonzero(self.histories.mover == TERMINAL))

    def path(self, history: int) -> list[int]:
        """The actions and outcomes from the start to a history."""
        actions = []
        while self.histories.parent[history] != NONE:
            actions.append(int(self.histories.action[history]))
            history = int(self.histories.parent[history])
        return actions[::-1]


@dataclass(frozen=True)
class Progress:
    """How far an enumeration is."""

    histories: int
    infosets: int


Report = Callable[[Progress], None]

HistoriesType = types.NamedTuple(
    [types.int32[::1]] * 2 + [types.int8[::1]] + [types.int32[::1]] * 4 + [types.float64[::1], types.float64[:, ::1]],
    Histories,
)
InfoSetsType = types.NamedTuple([int64[:, ::1], types.int8[::1], types.int32[::1], types.int32[::1]], InfoSets)
_machine_type = types.NamedTuple(
    [int64[:, ::1], int64[::1], int64[::1], int64[::1], types.float64[::1], int64[::1], types.int32[::1], int64[::1]],
    Machine,
)


def enumerate_game(
    game: Game, *, limit: int = DEFAULT_LIMIT, max_depth: int | None = None, report: Report | None = None
) -> GameTree:
    """Every history of a game, or those up to a depth (deeper nodes then stay without children).

    Raises a TooLargeError with the size so far if there are more than `limit`, an InputError if the rules are broken.
    """
    histories, infosets, machine = _allocate(game)
    depth = game.max_depth if max_depth is None else max_depth
    while True:
        status = _walk(game.kernels, game.rules, histories, infosets, machine, depth, stop_flag())
        verify_not_stopped()
        used = machine.registers
        if report is not None:
            report(Progress(int(used[HISTORIES]), int(used[INFOSETS])))
        if status == DONE:
            break
        if status != FULL:
            raise _fault(game, machine, status)
        too_long, too_wide = used[HISTORIES] > limit, infosets.views[: used[INFOSETS]].nbytes > MOST_VIEW_BYTES
        if too_long or too_wide:
            most = f"{limit:,} histories" if too_long else f"{MOST_VIEW_BYTES >> 20:,} MiB of views"
            raise TooLargeError(
                f"{game.spec} has more than {most} "
                f"({used[HISTORIES]:,} histories and {used[INFOSETS]:,} information sets so far): "
                "too large to enumerate; give smaller parameters"
            )
        histories, infosets, machine = _grow(game, histories, infosets, machine, limit + game.max_branching)
    n, i, a = (int(used[k]) for k in (HISTORIES, INFOSETS, SLOTS))
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


def find_views(known: Ints, wanted: Ints) -> NDArray[np.int32]:
    """Where each of the wanted views stands among the known ones, both int64[any, W]; NONE where it does not."""
    table = np.full(table_size(len(known)), NONE, np.int32)
    return _find(np.ascontiguousarray(known), table, np.ascontiguousarray(wanted))


def view_table(views: Ints) -> NDArray[np.int32]:
    """The hash table of some views, for `probe_view`."""
    table = np.full(table_size(len(views)), NONE, np.int32)
    _find(views, table, views[:0])
    return table


def _allocate(game: Game, histories: int = 1 << 14, infosets: int = 1 << 10) -> tuple[Histories, InfoSets, Machine]:
    branching, depth, size = game.max_branching, game.max_depth + 1, game.world_size
    histories, infosets = histories + branching, infosets + 1
    slots = 4 * infosets + branching
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
            np.zeros(slots, np.int32),
        ),
        Machine(
            np.zeros((depth, size), np.int64),
            np.zeros(depth, np.int64),
            np.zeros(depth, np.int64),
            np.zeros(branching, np.int64),
            np.zeros(branching),
            np.zeros(size, np.int64),
            np.full(table_size(infosets), NONE, np.int32),
            np.array([-1, 0, 0, 0], np.int64),
        ),
    )


def _grow(
    game: Game, histories: Histories, infosets: InfoSets, machine: Machine, most: int
) -> tuple[Histories, InfoSets, Machine]:
    """Copies with twice the room in every axis that is more than half full, but for at most so many histories."""
    used = machine.registers

    def larger(old: NDArray[Any], fill: int, full: bool, most: float = np.inf) -> NDArray[Any]:
        if not full:
            return old
        new = np.full((int(min(2 * len(old), max(most, len(old)))), *old.shape[1:]), fill, old.dtype)
        new[: len(old)] = old
        return new

    more_h = 2 * used[HISTORIES] > len(histories.parent)
    more_i = 2 * used[INFOSETS] > len(infosets.owner)
    more_a = 2 * used[SLOTS] > len(infosets.action)
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
        table = np.full(table_size(len(infosets.owner)), NONE, np.int32)
        _find(infosets.views[: used[INFOSETS]], table, infosets.views[:0])
        machine = machine._replace(table=table)
    return histories, infosets, machine


def table_size(entries: int) -> int:
    """A power of two, at least twice the number of entries."""
    return 1 << max(4, (2 * entries - 1).bit_length())


def _trimmed(array: NDArray[Any], n: int) -> NDArray[Any]:
    return array[:n] if len(array) < 2 * n else array[:n].copy()


def broken_rules(game: Game, world: Ints, chance: bool) -> InputError:
    """The error for a world at which chance does not sum to one, or a mover has nothing to do."""
    where = game.layout.write(world)
    if chance:
        total = sum(p for _, p in game.chance(world))
        return InputError(f"{game.spec}: the chance distribution at {where} sums to {total!r}, expected 1")
    return InputError(f"{game.spec}: whoever moves at {where} has nothing to choose from, expected an action")


def _fault(game: Game, machine: Machine, status: int) -> InputError:
    world = machine.worlds[int(machine.registers[DEPTH])]
    where = game.layout.write(world)
    if status in (BAD_CHANCE, NO_ACTIONS):
        return broken_rules(game, world, status == BAD_CHANCE)
    if status == TOLD_APART:
        return InputError(
            f"{game.spec}: the legal actions at {where} differ from those of another world with the same view"
        )
    return InputError(f"{game.spec}: a history is longer than max_depth={game.max_depth} at {where}")


@kernel()
def hash_slots(view: Ints, size: int, seed: int) -> int:
    """A hash of 63 bits of the first slots; seeds give independent ones."""
    h = np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    for i in range(size):
        h = (h ^ np.uint64(view[i])) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return int(h >> np.uint64(1))


@kernel(int64(int64[::1], int64))
def hash_view(view: Ints, seed: int) -> int:
    """A hash of 63 bits; seeds give independent ones."""
    return hash_slots(view, view.shape[0], seed)


@kernel(int64(int64[:, ::1], types.int32[::1], int64[::1]))
def probe_view(views: Ints, table: NDArray[np.int32], view: Ints) -> int:
    """The place of a view in the table: where it stands, or the free place where it belongs."""
    mask = table.shape[0] - 1
    place = hash_view(view, 0) & mask
    while table[place] != NONE:
        known = views[table[place]]
        same = True
        for i in range(view.shape[0]):
            if known[i] != view[i]:
                same = False
                break
        if same:
            break
        place = (place + 1) & mask
    return place


@kernel(types.int32[::1](int64[:, ::1], types.int32[::1], int64[:, ::1]))
def _find(views: Ints, table: NDArray[np.int32], wanted: Ints) -> NDArray[np.int32]:
    """Fill an empty table with the views, then look up the wanted ones."""
    for i in range(views.shape[0]):
        table[probe_view(views, table, views[i])] = i
    found = np.empty(wanted.shape[0], np.int32)
    for i in range(wanted.shape[0]):
        found[i] = table[probe_view(views, table, wanted[i])]
    return found


@inlined
def _has_room(histories: Histories, infosets: InfoSets, machine: Machine) -> bool:
    """Whether one more node with as many children as there can be fits."""
    r = machine.registers
    branching = machine.choices.shape[0]
    return bool(
        r[HISTORIES] + branching <= histories.parent.shape[0]
        and r[INFOSETS] + 1 <= infosets.owner.shape[0]
        and r[SLOTS] + branching <= infosets.action.shape[0]
    )


@inlined
def _same_actions(infosets: InfoSets, i: int, choices: Ints, n: int) -> bool:
    """Whether an information set has just these actions."""
    offset = infosets.offset[i]
    same = infosets.offset[i + 1] - offset == n
    if same:
        for k in range(n):
            same &= infosets.action[offset + k] == choices[k]
    return bool(same)


@inlined
def _enter_infoset(infosets: InfoSets, machine: Machine, mover: int, n: int) -> int:
    """The number of the information set whose view and n actions are at hand; it is added if it is new.

    A negated fault if it is known with other actions.
    """
    r = machine.registers
    place = probe_view(infosets.views, machine.table, machine.seen)
    found = machine.table[place]
    if found != NONE:
        return found if _same_actions(infosets, found, machine.choices, n) else -TOLD_APART
    i = r[INFOSETS]
    machine.table[place] = i
    for k in range(machine.seen.shape[0]):  # assigning the row at once takes seconds to compile
        infosets.views[i, k] = machine.seen[k]
    infosets.owner[i] = mover
    for k in range(n):
        infosets.action[r[SLOTS] + k] = machine.choices[k]
    r[SLOTS] += n
    infosets.offset[i + 1] = r[SLOTS]
    r[INFOSETS] += 1
    return i


@kernel()
def sums_to_one(probabilities: Reals, count: int) -> bool:
    """Whether the first entries are a distribution."""
    total = 0.0
    for k in range(count):
        total += probabilities[k]
    return bool(abs(total - 1.0) < 1e-9)


@inlined
def _choices(game: Any, rules: Ints, machine: Machine, world: Ints, mover: int) -> int:
    """Write what the mover may do into the machine's scratch; return how many, or a negated fault."""
    if mover != CHANCE:
        n = game.legal(rules.ctypes, world.ctypes, machine.choices.ctypes)
        return n if n > 0 else -NO_ACTIONS
    n = game.chance(rules.ctypes, world.ctypes, machine.choices.ctypes, machine.chances.ctypes)
    return n if sums_to_one(machine.chances, n) else -BAD_CHANCE


@inlined
def _enter(game: Any, rules: Ints, histories: Histories, infosets: InfoSets, machine: Machine, max_depth: int) -> int:
    """Write the node at hand and number its children. DONE: it has none to visit. FULL: come again."""
    r = machine.registers
    depth = r[DEPTH]
    h = machine.number[depth]
    world = machine.worlds[depth]
    mover = game.mover(rules.ctypes, world.ctypes)
    histories.mover[h] = mover
    if mover == TERMINAL:
        game.returns(rules.ctypes, world.ctypes, histories.utility[h].ctypes)
        return DONE
    if not _has_room(histories, infosets, machine):
        return FULL
    n = _choices(game, rules, machine, world, mover)
    if n < 0:
        return -n
    if mover != CHANCE:
        for i in range(world.shape[0]):
            machine.seen[i] = world[i]
        game.redact(rules.ctypes, machine.seen.ctypes, mover)
        infoset = _enter_infoset(infosets, machine, mover, n)
        if infoset < 0:
            return -infoset
        histories.infoset[h] = infoset
    if depth >= machine.worlds.shape[0] - 1:
        return TOO_DEEP
    if depth >= max_depth:
        return DONE
    histories.first[h] = r[HISTORIES]
    histories.children[h] = n
    for k in range(n):
        child = r[HISTORIES] + k
        histories.parent[child] = h
        histories.action[child] = machine.choices[k]
        if mover == CHANCE:
            histories.probability[child] = machine.chances[k]
        else:
            histories.slot[child] = infosets.offset[histories.infoset[h]] + k
    r[HISTORIES] += n
    machine.cursor[depth] = 0
    return ENTERED


@kernel(int64(KernelsType, RulesType, HistoriesType, InfoSetsType, _machine_type, int64, FlagType))
def _walk(
    game: Any, rules: Ints, histories: Histories, infosets: InfoSets, machine: Machine, max_depth: int, stop: Ints
) -> int:
    """Depth first over the rules until the arrays are full or every history is in them.

    begin → enter → (next child → enter …)* → no child left → up → … → DONE
    """
    histories, infosets, machine = lent(histories), lent(infosets), lent(machine)
    r = machine.registers
    if r[DEPTH] < 0:
        r[DEPTH] = 0
        r[HISTORIES] = 1
        machine.number[0] = 0
        machine.cursor[0] = NONE
        game.initial(rules.ctypes, machine.worlds[0].ctypes)
    while r[DEPTH] >= 0:
        if stop[0]:
            return STOPPED
        depth = r[DEPTH]
        if machine.cursor[depth] == NONE:
            status = _enter(game, rules, histories, infosets, machine, max_depth)
            if status == DONE:
                r[DEPTH] -= 1
                continue
            if status != ENTERED:
                return status
        h, k = machine.number[depth], machine.cursor[depth]
        if k == histories.children[h]:
            r[DEPTH] -= 1
            continue
        machine.cursor[depth] += 1
        child = histories.first[h] + k
        world, below = machine.worlds[depth], machine.worlds[depth + 1]
        for i in range(world.shape[0]):
            below[i] = world[i]
        game.step(rules.ctypes, below.ctypes, histories.action[child])
        machine.number[depth + 1] = child
        machine.cursor[depth + 1] = NONE
        r[DEPTH] += 1
    return DONE

"""The worlds that a sweep over one player's views holds at a time, as a stack in one block of memory.

The player p whose best response is sought stands at a view, with all worlds that fit it and their weights r₋ₚ. Such a
*group* has one *unit* for each of his actions. Expanding a unit lets him act in every world of the group and pushes
each world on through chance and the others until the game ends (its weighted return goes to the unit) or p moves
again (it arrives in the group of his new view). Folding a group adds what its units are worth to the unit it came from.

    axis  counts
    N     worlds that fit into memory
    G     groups that do
    U     units that do
    W     slots of a world
    D     the game's greatest depth plus one
    B     its widest branching
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.lending import inlined, lent
from qdts.solving.rows import FOUND, NO_ROOM, PENDING, Table, TableType, look_up
from qdts.solving.tree import NONE, hash_view, sums_to_one, table_size

DONE, CUT, FULL, TABLE_FULL, ACTIONS_DIFFER, FORGOTTEN, BAD_CHANCE, NO_ACTIONS, TOO_DEEP = range(9)
"""What `expand` says: all units are expanded; enough worlds for now; no room for all worlds of a unit; no room to
note a view; the policy has other actions than the game; two units led to one view, so that p does not recall what he
did; chance does not sum to one; a mover with nothing to do; a history longer than the game's `max_depth`. The unit at
which it stopped is undone."""

WORLDS, GROUPS, UNITS = range(3)
"""Registers of the stack: how much of each axis is in use."""

GROUP, UNIT, PENDING_ROWS, HISTORIES, DEPTH = range(5)
"""Registers of the machine: where to go on, how many rows have to be asked before the run counts, histories met, and
the depth of the path at which a fault was met."""

MOST_WORLDS = np.iinfo(np.int32).max // 2
"""Worlds, groups and units are numbered by 32 bits."""

FREE = 0
"""No group at this place of the hash table; a group g is noted as g + 1, so that untouched memory is free."""


class Stack(NamedTuple):
    """Worlds in groups, and what each of the owner's actions is worth. What a run adds lies on top."""

    worlds: Ints  # [N, W]
    weight: Reals  # [N] chance's and the others' probability of getting there
    group: NDArray[np.int32]  # [N]
    order: NDArray[np.int32]  # [N] worlds by group
    start: Ints  # [G] its worlds are order[start] to order[start + size]; while a run is on, its first world
    size: NDArray[np.int32]  # [G]
    unit: Ints  # [G] its first unit
    actions: NDArray[np.int32]  # [G] how many it has
    parent: Ints  # [G] the unit that led to it
    hash: Ints  # [G] of the view
    action: NDArray[np.int32]  # [U] the owner's action, or NONE for the unit before his first
    best: Reals  # [U] what it is worth if he then plays a best response, times r₋ₚ
    mean: Reals  # [U] what it is worth if he then plays his policy
    place: NDArray[np.int32]  # [power of two] hash table of the groups of a run, otherwise all FREE
    top: Ints  # [3] registers


class Machine(NamedTuple):
    """Scratch of the walk between two turns of the owner."""

    worlds: Ints  # [D, W] the path
    weight: Reals  # [D]
    cursor: Ints  # [D] the next child, NONE before the node is entered
    width: Ints  # [D] how many there are
    choices: Ints  # [D, B]
    chances: Reals  # [D, B]
    seen: Ints  # [W] a view
    other: Ints  # [W] another
    utility: Reals  # [P]
    total: Reals  # [1] returns of the unit at hand
    registers: Ints  # [5]


class Task(NamedTuple):
    """What a run is to do: which units, and how much it may add to the stack."""

    player: int
    groups: int  # the end of the groups whose units are expanded
    enough: int  # worlds on the stack after which no further unit is begun
    most_worlds: int  # that the stack may hold
    most_groups: int
    most_units: int
    mask: int  # the size of the hash table to use, less one
    part: int  # only views whose hash leaves this remainder
    parts: int  # when divided by this


_ints, _small, _reals = int64[::1], types.int32[::1], float64[::1]
_stack_type = types.NamedTuple(
    [
        *(int64[:, ::1], _reals, _small, _small),
        *(_ints, _small, _ints, _small, _ints, _ints),
        *(_small, _reals, _reals, _small, _ints),
    ],
    Stack,
)
_machine_type = types.NamedTuple(
    [
        *(int64[:, ::1], _reals, _ints, _ints, int64[:, ::1], float64[:, ::1]),
        *(_ints, _ints, _reals, _reals, _ints),
    ],
    Machine,
)
_task_type = types.NamedUniTuple(int64, 9, Task)


def bytes_per_world(game: Game) -> int:
    """What one more world costs, with its share of groups, units and the hash table."""
    return 8 * game.world_size + 16 + 20 + 20 + 4


def make_stack(game: Game, memory: int) -> Stack:
    """An empty stack that takes no more than so many bytes; what is not used costs nothing."""
    n = min(max(1, memory // bytes_per_world(game)), MOST_WORLDS)
    groups, units = n // 2 + 1, n + game.max_branching
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
        np.empty(units, np.int32),
        np.empty(units),
        np.empty(units),
        np.zeros(table_size(groups // 2), np.int32),
        np.zeros(3, np.int64),
    )


def make_machine(game: Game) -> Machine:
    """Scratch for a game."""
    depth, branching = game.max_depth + 2, game.max_branching
    return Machine(
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
    """Put the start of the game on the empty stack: a group of one world, whose only unit is to do nothing."""
    stack.worlds[0] = game.initial()
    stack.weight[0] = 1.0
    stack.order[0] = stack.start[0] = stack.unit[0] = 0
    stack.size[0] = stack.actions[0] = 1
    stack.action[0] = NONE
    stack.best[0] = stack.mean[0] = 0.0
    stack.top[:] = 1


@inlined
def _see(game: Any, rules: Ints, world: Ints, player: int, view: Ints) -> None:
    for i in range(world.shape[0]):
        view[i] = world[i]
    game.redact(rules.ctypes, view.ctypes, player)


@inlined
def _same(a: Ints, b: Ints) -> bool:
    same = True
    for i in range(a.shape[0]):
        same &= a[i] == b[i]
    return same


@inlined
def _refusal(found: int) -> int:
    """What it means that a row can't be had."""
    return TABLE_FULL if found == NO_ROOM else ACTIONS_DIFFER


@inlined
def _look_up(
    game: Any, rules: Ints, table: Table, machine: Machine, world: Ints, player: int, actions: Ints, n: int, out: Reals
) -> int:
    """The row of the player who moves in a world."""
    if len(table.place) > 0:  # else the policy is uniform and nobody looks
        _see(game, rules, world, player, machine.seen)
    return look_up(table, machine.seen, actions, n, out)


@inlined
def _new_group(
    game: Any, rules: Ints, stack: Stack, machine: Machine, task: Task, world: Ints, h: int, unit: int
) -> int:
    """Begin a group with its units; the world that comes next is its first."""
    top = stack.top
    g, u = top[GROUPS], top[UNITS]
    if g == task.most_groups or u + machine.choices.shape[1] > task.most_units:
        return FULL
    n = game.legal(rules.ctypes, world.ctypes, machine.choices[-1].ctypes)
    if n <= 0:
        return NO_ACTIONS
    stack.start[g] = top[WORLDS]
    stack.size[g] = 0
    stack.unit[g] = u
    stack.actions[g] = n
    stack.parent[g] = unit
    stack.hash[g] = h
    for k in range(n):
        stack.action[u + k] = machine.choices[-1, k]
    top[GROUPS] += 1
    top[UNITS] += n
    return DONE


@inlined
def _arrive(
    game: Any, rules: Ints, stack: Stack, machine: Machine, task: Task, world: Ints, weight: float, unit: int
) -> int:
    """Put a world at which the owner moves on the stack, into the group of his view."""
    top = stack.top
    _see(game, rules, world, task.player, machine.seen)
    h = hash_view(machine.seen, 0)
    if task.parts > 1 and (h >> 32) % task.parts != task.part:
        return DONE
    if top[WORLDS] == task.most_worlds:
        return FULL
    place = h & task.mask
    while stack.place[place] != FREE:
        g = stack.place[place] - 1
        if stack.hash[g] == h:
            _see(game, rules, stack.worlds[stack.start[g]], task.player, machine.other)
            if _same(machine.seen, machine.other):
                if stack.parent[g] != unit:
                    return FORGOTTEN
                break
        place = (place + 1) & task.mask
    if stack.place[place] == FREE:
        status = _new_group(game, rules, stack, machine, task, world, h, unit)
        if status != DONE:
            return status
        stack.place[place] = top[GROUPS]
    g = stack.place[place] - 1
    w = top[WORLDS]
    for i in range(world.shape[0]):
        stack.worlds[w, i] = world[i]
    stack.weight[w] = weight
    stack.group[w] = g
    stack.size[g] += 1
    top[WORLDS] += 1
    return DONE


@inlined
def _enter(
    game: Any, rules: Ints, stack: Stack, table: Table, machine: Machine, task: Task, depth: int, unit: int
) -> int:
    """Say what may happen at the node at hand: nothing if the game is over, or if the owner moves."""
    world = machine.worlds[depth]
    machine.registers[HISTORIES] += 1
    machine.width[depth] = 0
    mover = game.mover(rules.ctypes, world.ctypes)
    if mover == TERMINAL:
        game.returns(rules.ctypes, world.ctypes, machine.utility.ctypes)
        machine.total[0] += machine.weight[depth] * machine.utility[task.player]
        return DONE
    if mover == task.player:
        return _arrive(game, rules, stack, machine, task, world, machine.weight[depth], unit)
    choices, chances = machine.choices[depth], machine.chances[depth]
    if mover == CHANCE:
        machine.width[depth] = game.chance(rules.ctypes, world.ctypes, choices.ctypes, chances.ctypes)
        return DONE if sums_to_one(chances, machine.width[depth]) else BAD_CHANCE
    n = game.legal(rules.ctypes, world.ctypes, choices.ctypes)
    if n <= 0:
        return NO_ACTIONS
    found = _look_up(game, rules, table, machine, world, mover, choices, n, chances)
    if found == FOUND:
        machine.width[depth] = n
    elif found == PENDING:
        machine.registers[PENDING_ROWS] += 1
    else:
        return _refusal(found)
    return DONE


@inlined
def _push(game: Any, rules: Ints, stack: Stack, table: Table, machine: Machine, task: Task, unit: int) -> int:
    """Depth first from the world at hand through what chance and the others may do."""
    depth = 0
    machine.cursor[0] = NONE
    while depth >= 0:
        if machine.cursor[depth] == NONE:
            machine.cursor[depth] = 0
            status = _enter(game, rules, stack, table, machine, task, depth, unit)
            if status != DONE:
                machine.registers[DEPTH] = depth
                return status
        k = machine.cursor[depth]
        if k == machine.width[depth]:
            depth -= 1
            continue
        machine.cursor[depth] += 1
        p = machine.chances[depth, k]
        if p > 0:
            if depth + 2 == len(machine.worlds):
                machine.registers[DEPTH] = depth
                return TOO_DEEP
            world, below = machine.worlds[depth], machine.worlds[depth + 1]
            for i in range(world.shape[0]):
                below[i] = world[i]
            game.step(rules.ctypes, below.ctypes, machine.choices[depth, k])
            machine.weight[depth + 1] = machine.weight[depth] * p
            machine.cursor[depth + 1] = NONE
            depth += 1
    return DONE


@inlined
def _find_group(stack: Stack, task: Task, group: int) -> int:
    """The place of a group of this run in the hash table."""
    place = stack.hash[group] & task.mask
    while stack.place[place] != group + 1:
        place = (place + 1) & task.mask
    return place


@inlined
def _expand_unit(
    game: Any, rules: Ints, stack: Stack, table: Table, machine: Machine, task: Task, group: int, unit: int
) -> int:
    """Let the owner act in every world of a group, and push each on. If it fails, the stack is as it was."""
    top = stack.top
    worlds, groups, units, histories = top[WORLDS], top[GROUPS], top[UNITS], machine.registers[HISTORIES]
    machine.total[0] = 0.0
    for i in range(stack.start[group], stack.start[group] + stack.size[group]):
        world = stack.order[i]
        machine.worlds[0] = stack.worlds[world]
        machine.weight[0] = stack.weight[world]
        if stack.action[unit] != NONE:
            game.step(rules.ctypes, machine.worlds[0].ctypes, stack.action[unit])
        status = _push(game, rules, stack, table, machine, task, unit)
        if status != DONE:
            for g in range(top[GROUPS] - 1, groups - 1, -1):
                stack.place[_find_group(stack, task, g)] = FREE
            top[WORLDS], top[GROUPS], top[UNITS] = worlds, groups, units
            machine.registers[HISTORIES] = histories
            return status
    if task.part == 0:
        stack.best[unit] = stack.mean[unit] = machine.total[0]
    else:
        machine.registers[HISTORIES] = histories
    return DONE


@inlined
def _sort(stack: Stack, worlds: int, groups: int) -> None:
    """Order what a run has added, from these worlds and groups on, by group."""
    start = worlds
    for g in range(groups, stack.top[GROUPS]):
        stack.start[g] = start
        start += stack.size[g]
        stack.size[g] = 0
    for w in range(worlds, stack.top[WORLDS]):
        g = stack.group[w]
        stack.order[stack.start[g] + stack.size[g]] = w
        stack.size[g] += 1


@kernel(int64(KernelsType, RulesType, _stack_type, TableType, _machine_type, _task_type))
def expand(game: Any, rules: Ints, stack: Stack, table: Table, machine: Machine, task: Task) -> int:
    """Expand unit after unit; what arrives is on the stack, in groups, and finished games are in `best` and `mean`."""
    stack, machine, table = lent(stack), lent(machine), lent(table)
    r, top = machine.registers, stack.top
    worlds, groups = top[WORLDS], top[GROUPS]
    status = DONE
    r[PENDING_ROWS] = 0
    while r[GROUP] < task.groups and status == DONE:
        status = _expand_unit(game, rules, stack, table, machine, task, r[GROUP], r[UNIT])
        if status == DONE:
            r[UNIT] += 1
            if r[UNIT] == stack.unit[r[GROUP]] + stack.actions[r[GROUP]]:
                r[GROUP] += 1
                r[UNIT] = stack.unit[r[GROUP]] if r[GROUP] < task.groups else 0
            if top[WORLDS] >= task.enough and r[GROUP] < task.groups:
                status = CUT
    for g in range(groups, top[GROUPS]):
        stack.place[_find_group(stack, task, g)] = FREE
    _sort(stack, worlds, groups)
    return status


@kernel(int64(KernelsType, RulesType, _stack_type, TableType, _machine_type, int64, int64, int64))
def fold(
    game: Any, rules: Ints, stack: Stack, table: Table, machine: Machine, player: int, begin: int, end: int
) -> int:
    """Add what groups are worth to the units that led to them, up to the first whose row has to be asked.

    best(unit) += max over actions of best;   mean(unit) += Σ over actions of the policy's probability · mean

    The register GROUP says how far it came. Rows of later groups are looked up too, so that all can be asked at once.
    """
    stack, machine, table = lent(stack), lent(machine), lent(table)
    r, choices, chances = machine.registers, machine.choices[-1], machine.chances[-1]
    r[PENDING_ROWS], r[GROUP] = 0, begin
    for g in range(begin, end):
        u, n = stack.unit[g], stack.actions[g]
        for k in range(n):
            choices[k] = stack.action[u + k]
        world = stack.worlds[stack.order[stack.start[g]]]
        found = _look_up(game, rules, table, machine, world, player, choices, n, chances)
        if found == PENDING:
            r[PENDING_ROWS] += 1
        elif found != FOUND:
            return _refusal(found)
        if r[PENDING_ROWS] == 0:
            best, mean = stack.best[u], 0.0
            for k in range(n):
                best = max(best, stack.best[u + k])
                mean += chances[k] * stack.mean[u + k]
            stack.best[stack.parent[g]] += best
            stack.mean[stack.parent[g]] += mean
            r[GROUP] = g + 1
    return DONE


@kernel(int64[:, ::1](KernelsType, RulesType, _stack_type, int64, int64, int64))
def group_views(game: Any, rules: Ints, stack: Stack, player: int, begin: int, end: int) -> Ints:
    """The owner's view of each group."""
    views = np.empty((end - begin, stack.worlds.shape[1]), np.int64)
    for g in range(begin, end):
        _see(game, rules, stack.worlds[stack.order[stack.start[g]]], player, views[g - begin])
    return views

"""The kernels of a sweep: expanding branches of a `world_stack`, and folding its groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.hashing import hash_vector
from qdts.kernels import Ints, kernel
from qdts.pointers import borrowed
from qdts.solving.sweep.policy_cache import KNOWN, NO_SPACE, PENDING, Table, TableType, look_up
from qdts.solving.sweep.world_stack import (
    BRANCH,
    BRANCHES,
    DEPTH,
    GROUP,
    GROUPS,
    HISTORIES,
    PENDING_VIEWS,
    VACANT,
    WORLDS,
    Stack,
    StackType,
    Task,
    TaskType,
    Walk,
    WalkType,
)
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.faults import sums_to_one

DONE, ENOUGH, FULL, TABLE_FULL, ACTIONS_DIFFER, NO_RECALL, BAD_CHANCE, NO_ACTIONS, TOO_DEEP = range(9)
"""Status of `expand`: all branches are expanded; enough worlds for now; no space for all worlds of a branch; no space
for a view in the policy's table; the policy has other actions than the game; two branches led to one view, so that the
player does not recall what they did; chance does not sum to one; a mover without actions; a history longer than the
game's `max_depth`. The branch at which it stopped is undone."""


@kernel(inline=True)
def _write_view(game: Any, rules: Ints, world: Ints, player: int, view: Ints) -> None:
    for i in range(world.shape[0]):
        view[i] = world[i]
    game.redact(rules.ctypes, view.ctypes, player)


@kernel(inline=True)
def _same(a: Ints, b: Ints) -> bool:
    same = True
    for i in range(a.shape[0]):
        same &= a[i] == b[i]
    return same


@kernel(inline=True)
def _refusal(status: int) -> int:
    """The status of a run in which `look_up` has failed."""
    return TABLE_FULL if status == NO_SPACE else ACTIONS_DIFFER


@kernel(inline=True)
def _look_up(game: Any, rules: Ints, table: Table, walk: Walk, world: Ints, player: int, row: int, n: int) -> int:
    """Write the probabilities of the n actions in a row of `choices` into the same row of `chances`."""
    if len(table.buckets) > 0:  # else the policy is uniform and needs no view
        _write_view(game, rules, world, player, walk.redacted)
    return look_up(table, walk.redacted, walk.choices[row], n, walk.chances[row])


@kernel(inline=True)
def _new_group(game: Any, rules: Ints, stack: Stack, walk: Walk, task: Task, world: Ints, h: int, branch: int) -> int:
    """Begin a group with its branches; the world that is added next is its first."""
    top = stack.top
    g, b = top[GROUPS], top[BRANCHES]
    if g == task.most_groups or b + walk.choices.shape[1] > task.most_branches:
        return FULL
    n = game.legal(rules.ctypes, world.ctypes, walk.choices[-1].ctypes)
    if n <= 0:
        return NO_ACTIONS
    stack.start[g] = top[WORLDS]
    stack.size[g] = 0
    stack.branch[g] = b
    stack.actions[g] = n
    stack.parent[g] = branch
    stack.hash[g] = h
    for k in range(n):
        stack.action[b + k] = walk.choices[-1, k]
    top[GROUPS] += 1
    top[BRANCHES] += n
    return DONE


@kernel(inline=True)
def _add_world(
    game: Any, rules: Ints, stack: Stack, walk: Walk, task: Task, world: Ints, weight: float, branch: int
) -> int:
    """Put a world at which the player moves on the stack, into the group of the player's view."""
    top = stack.top
    _write_view(game, rules, world, task.player, walk.redacted)
    h = hash_vector(walk.redacted, walk.redacted.shape[0], 0)
    if task.parts > 1 and (h >> 32) % task.parts != task.part:
        return DONE
    if top[WORLDS] == task.most_worlds:
        return FULL
    place = h & task.mask
    while stack.buckets[place] != VACANT:
        g = stack.buckets[place] - 1
        if stack.hash[g] == h:
            _write_view(game, rules, stack.worlds[stack.start[g]], task.player, walk.other_redacted)
            if _same(walk.redacted, walk.other_redacted):
                if stack.parent[g] != branch:
                    return NO_RECALL
                break
        place = (place + 1) & task.mask
    if stack.buckets[place] == VACANT:
        status = _new_group(game, rules, stack, walk, task, world, h, branch)
        if status != DONE:
            return status
        stack.buckets[place] = top[GROUPS]
    g = stack.buckets[place] - 1
    w = top[WORLDS]
    for i in range(world.shape[0]):
        stack.worlds[w, i] = world[i]
    stack.weight[w] = weight
    stack.group[w] = g
    stack.size[g] += 1
    top[WORLDS] += 1
    return DONE


@kernel(inline=True)
def _enter(game: Any, rules: Ints, stack: Stack, table: Table, walk: Walk, task: Task, depth: int, branch: int) -> int:
    """Write the choices at the current node: none if the game is over, or if the player moves."""
    world = walk.worlds[depth]
    walk.counters[HISTORIES] += 1
    walk.width[depth] = 0
    mover = game.mover(rules.ctypes, world.ctypes)
    if mover == TERMINAL:
        game.returns(rules.ctypes, world.ctypes, walk.utility.ctypes)
        walk.total[0] += walk.weight[depth] * walk.utility[task.player]
        return DONE
    if mover == task.player:
        return _add_world(game, rules, stack, walk, task, world, walk.weight[depth], branch)
    choices, chances = walk.choices[depth], walk.chances[depth]
    if mover == CHANCE:
        walk.width[depth] = game.chance(rules.ctypes, world.ctypes, choices.ctypes, chances.ctypes)
        return DONE if sums_to_one(chances, walk.width[depth]) else BAD_CHANCE
    n = game.legal(rules.ctypes, world.ctypes, choices.ctypes)
    if n <= 0:
        return NO_ACTIONS
    status = _look_up(game, rules, table, walk, world, mover, depth, n)
    if status == KNOWN:
        walk.width[depth] = n
    elif status == PENDING:
        walk.counters[PENDING_VIEWS] += 1
    else:
        return _refusal(status)
    return DONE


@kernel(inline=True)
def _play_on(game: Any, rules: Ints, stack: Stack, table: Table, walk: Walk, task: Task, branch: int) -> int:
    """Depth first from the first world of the path through all that chance and the others may do."""
    depth = 0
    walk.cursor[0] = NONE
    while depth >= 0:
        if walk.cursor[depth] == NONE:
            walk.cursor[depth] = 0
            status = _enter(game, rules, stack, table, walk, task, depth, branch)
            if status != DONE:
                walk.counters[DEPTH] = depth
                return status
        k = walk.cursor[depth]
        if k == walk.width[depth]:
            depth -= 1
            continue
        walk.cursor[depth] += 1
        p = walk.chances[depth, k]
        if p > 0:
            if depth + 2 == len(walk.worlds):
                walk.counters[DEPTH] = depth
                return TOO_DEEP
            world, below = walk.worlds[depth], walk.worlds[depth + 1]
            for i in range(world.shape[0]):
                below[i] = world[i]
            game.step(rules.ctypes, below.ctypes, walk.choices[depth, k])
            walk.weight[depth + 1] = walk.weight[depth] * p
            walk.cursor[depth + 1] = NONE
            depth += 1
    return DONE


@kernel(inline=True)
def _find_group(stack: Stack, task: Task, group: int) -> int:
    """The entry of a group of this run in the hash table."""
    place = stack.hash[group] & task.mask
    while stack.buckets[place] != group + 1:
        place = (place + 1) & task.mask
    return place


@kernel(inline=True)
def _expand_branch(
    game: Any, rules: Ints, stack: Stack, table: Table, walk: Walk, task: Task, group: int, branch: int
) -> int:
    """Let the player act in every world of a group, and play each on. If it fails, the stack is unchanged."""
    top = stack.top
    worlds, groups, branches, histories = top[WORLDS], top[GROUPS], top[BRANCHES], walk.counters[HISTORIES]
    walk.total[0] = 0.0
    for i in range(stack.start[group], stack.start[group] + stack.size[group]):
        world = stack.order[i]
        walk.worlds[0] = stack.worlds[world]
        walk.weight[0] = stack.weight[world]
        if stack.action[branch] != NONE:
            game.step(rules.ctypes, walk.worlds[0].ctypes, stack.action[branch])
        status = _play_on(game, rules, stack, table, walk, task, branch)
        if status != DONE:
            for g in range(top[GROUPS] - 1, groups - 1, -1):
                stack.buckets[_find_group(stack, task, g)] = VACANT
            top[WORLDS], top[GROUPS], top[BRANCHES] = worlds, groups, branches
            walk.counters[HISTORIES] = histories
            return status
    if task.part == 0:
        stack.best[branch] = stack.mean[branch] = walk.total[0]
    else:
        walk.counters[HISTORIES] = histories
    return DONE


@kernel(inline=True)
def _sort(stack: Stack, worlds: int, groups: int) -> None:
    """Order by group what a run has added, from these worlds and groups on."""
    start = worlds
    for g in range(groups, stack.top[GROUPS]):
        stack.start[g] = start
        start += stack.size[g]
        stack.size[g] = 0
    for w in range(worlds, stack.top[WORLDS]):
        g = stack.group[w]
        stack.order[stack.start[g] + stack.size[g]] = w
        stack.size[g] += 1


@kernel(int64(KernelsType, RulesType, StackType, TableType, WalkType, TaskType))
def expand(game: Any, rules: Ints, stack: Stack, table: Table, walk: Walk, task: Task) -> int:
    """Expand one branch after another: new worlds go on the stack, in groups, returns into `best` and `mean`."""
    stack, walk, table = borrowed(stack), borrowed(walk), borrowed(table)
    r, top = walk.counters, stack.top
    worlds, groups = top[WORLDS], top[GROUPS]
    status = DONE
    r[PENDING_VIEWS] = 0
    while r[GROUP] < task.groups and status == DONE:
        status = _expand_branch(game, rules, stack, table, walk, task, r[GROUP], r[BRANCH])
        if status == DONE:
            r[BRANCH] += 1
            if r[BRANCH] == stack.branch[r[GROUP]] + stack.actions[r[GROUP]]:
                r[GROUP] += 1
                r[BRANCH] = stack.branch[r[GROUP]] if r[GROUP] < task.groups else 0
            if top[WORLDS] >= task.enough and r[GROUP] < task.groups:
                status = ENOUGH
    for g in range(groups, top[GROUPS]):
        stack.buckets[_find_group(stack, task, g)] = VACANT
    _sort(stack, worlds, groups)
    return status


@kernel(int64(KernelsType, RulesType, StackType, TableType, WalkType, int64, int64, int64))
def fold(game: Any, rules: Ints, stack: Stack, table: Table, walk: Walk, player: int, begin: int, end: int) -> int:
    """Add the values of groups to the branches that led to them, up to the first whose view must be evaluated.

    best(branch) += max over actions of best;   mean(branch) += Σ over actions of the policy's probability · mean

    The counter GROUP says how far it came. Later groups are looked up too, so that all views are evaluated at once.
    """
    stack, walk, table = borrowed(stack), borrowed(walk), borrowed(table)
    last = len(walk.choices) - 1
    r, choices, chances = walk.counters, walk.choices[last], walk.chances[last]
    r[PENDING_VIEWS], r[GROUP] = 0, begin
    for g in range(begin, end):
        b, n = stack.branch[g], stack.actions[g]
        for k in range(n):
            choices[k] = stack.action[b + k]
        world = stack.worlds[stack.order[stack.start[g]]]
        status = _look_up(game, rules, table, walk, world, player, last, n)
        if status == PENDING:
            r[PENDING_VIEWS] += 1
        elif status != KNOWN:
            return _refusal(status)
        if r[PENDING_VIEWS] == 0:
            best, mean = stack.best[b], 0.0
            for k in range(n):
                best = max(best, stack.best[b + k])
                mean += chances[k] * stack.mean[b + k]
            stack.best[stack.parent[g]] += best
            stack.mean[stack.parent[g]] += mean
            r[GROUP] = g + 1
    return DONE


@kernel(int64[:, ::1](KernelsType, RulesType, StackType, int64, int64, int64))
def group_views(game: Any, rules: Ints, stack: Stack, player: int, begin: int, end: int) -> Ints:
    """The player's view of each group."""
    views = np.empty((end - begin, stack.worlds.shape[1]), np.int64)
    for g in range(begin, end):
        _write_view(game, rules, stack.worlds[stack.order[stack.start[g]]], player, views[g - begin])
    return views

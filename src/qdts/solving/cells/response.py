"""A best response to a plan: a walk over the responder's views with the patterns of the other that agree so far.

At each depth of the path there is a *table*, the patterns of the other that agree with what the responder has tried,
with their weights; the tables lie on one stack. `docs/solving.md` has the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.hashing import FREE, table_size
from qdts.kernels import Ints, Reals, declare, kernel
from qdts.pointers import borrowed
from qdts.solving.cells.patterns import (
    DROPPED,
    after_turn,
    has_failures,
    is_goal,
    length,
    place,
    without_cell,
)
from qdts.solving.cells.plan import Plan, PlanType
from qdts.solving.cells.view_tree import IMPOSSIBLE, STONE, WON, Tree, TreeType

MOST_MERGED = 1 << 22
"""Tables of more patterns are not merged: what their hash table takes in time is more than it saves."""
ROOM = 1.25
"""Patterns that a stack has room for at first, as a multiple of the plan's; tables shrink fast, so this is enough."""
DONE, FULL = range(2)
"""Status of `respond`: FULL if the stack was too small, so that the entry has to be tried again with a larger one."""
BEST, MEAN = range(2)
"""The values of a best response and of the player's own policy."""
READ, VISITED, MOST = range(3)
"""Counters: the patterns that were read, the views that were visited, and the most patterns on the stack."""


class Stack(NamedTuple):
    """The tables of a path, with D depths, and the values that are summed up at each."""

    pattern: Ints  # [any] tables one after the other
    weight: Reals  # [any]
    end: Ints  # [D + 1] where the table of a depth ends, and the next begins
    number: Ints  # [D] that of the view
    turn: Ints  # [D] the other's turns before it
    cursor: Ints  # [D] 2 · entry + outcome that is next, counted from the view's first entry
    stop: Ints  # [D] where the cursor ends
    sums: Reals  # [D, 2] BEST and MEAN of the entry at hand
    value: Reals  # [D, 2] those of the view, by the entries so far
    buckets: NDArray[np.int32]  # [power of two] a hash table of patterns
    counters: Ints  # [3]
    flag: Ints  # [1] not 0 once the walk is to stop


StackType = types.NamedTuple(
    [
        *(int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]),
        *(float64[:, ::1], float64[:, ::1], types.int32[::1], int64[::1], int64[::1]),
    ],
    Stack,
)
declare(Stack, StackType)


def make_stack(plan: Plan, cells: int) -> Stack:
    """An empty stack for responses to a plan."""
    room, depths = int(ROOM * len(plan.pattern)) + 1, cells + 2
    end, number, turn, cursor, stop = np.zeros((5, depths), np.int64)
    return Stack(
        pattern=np.empty(room, np.int64),
        weight=np.empty(room),
        end=end,
        number=number,
        turn=turn,
        cursor=cursor,
        stop=stop,
        sums=np.zeros((depths, 2)),
        value=np.zeros((depths, 2)),
        buckets=np.full(table_size(min(MOST_MERGED, len(plan.pattern))), FREE, np.int32),
        counters=np.zeros(3, np.int64),
        flag=np.zeros(1, np.int64),
    )


def enlarge(stack: Stack) -> Stack:
    """A stack with twice the room, and the same counters and flag."""
    room = 2 * len(stack.pattern)
    return stack._replace(pattern=np.empty(room, np.int64), weight=np.empty(room))


@kernel(inline=True)
def _add(stack: Stack, first: int, end: int, mask: int, pattern: int, weight: float) -> int:
    """Add a pattern to the table that begins at `first`, or its weight to that of an equal one; return the new end."""
    if mask >= 0:
        at = place(pattern, mask)
        while stack.buckets[at] != FREE:
            known = first + stack.buckets[at]
            if stack.pattern[known] == pattern:
                stack.weight[known] += weight
                return end
            at = (at + 1) & mask
        stack.buckets[at] = end - first
    stack.pattern[end], stack.weight[end] = pattern, weight
    return end + 1


@kernel(inline=True)
def _start_table(stack: Stack, patterns: int) -> int:
    """Clear as much of the hash table as so many patterns need, and return its mask; -1 if they are too many for it."""
    if 2 * patterns > len(stack.buckets):
        return -1
    need = 16
    while need < 2 * patterns:
        need *= 2
    for i in range(need):
        stack.buckets[i] = FREE
    return need - 1


@kernel(inline=True)
def _try_cell(
    stack: Stack, table: Plan, begin: int, end: int, depth: int, cell: int, outcome: int, passes: int
) -> float:
    """Put the patterns that agree with a try on the stack, as the table of a depth.

    If the responder's turn `passes`, so does the other's next. Returns the weight of those that reach their goal in it.
    """
    first, turn = stack.end[depth - 1], stack.turn[depth - 1] + 1
    top, lost = first, 0.0
    mask = _start_table(stack, end - begin)
    for i in range(begin, end):
        pattern = without_cell(table.pattern[i], cell, outcome)
        if pattern != DROPPED and passes:
            if is_goal(pattern) and length(pattern) == turn:
                lost += 0.0 if has_failures(pattern) else table.weight[i]
                continue
            pattern = after_turn(pattern, turn) if length(pattern) >= turn else DROPPED
        if pattern != DROPPED:
            top = _add(stack, first, top, mask, pattern, table.weight[i])
    stack.end[depth] = top
    stack.counters[READ] += end - begin
    return lost


@kernel(inline=True)
def _won(stack: Stack, table: Plan, begin: int, end: int, turn: int, cell: int) -> float:
    """The weight of the patterns that agree with the responder's goal, by a stone after so many turns of the other.

    All that is in them has passed, so none has a failure left.
    """
    weight = 0.0
    for i in range(begin, end):
        if length(table.pattern[i]) == turn and not is_goal(table.pattern[i]):
            agrees = without_cell(table.pattern[i], cell, STONE) != DROPPED
            weight += table.weight[i] if agrees else 0.0
    stack.counters[READ] += end - begin
    return weight


@kernel(inline=True)
def _fold_entry(stack: Stack, depth: int, probability: float, is_first: bool) -> None:
    """Add the entry at hand to the values of its view."""
    sums, value = stack.sums[depth], stack.value[depth]
    value[BEST] = sums[BEST] if is_first else max(value[BEST], sums[BEST])
    value[MEAN] += probability * sums[MEAN]
    sums[BEST] = sums[MEAN] = 0.0


@kernel(float64(PlanType, int64))
def pass_turn(plan: Plan, turn: int) -> float:
    """Let a turn of the other pass before the responder's first, in place; return the weight of goals in it.

    Patterns that are dropped get a number of turns that nothing agrees with: none.
    """
    lost = 0.0
    for i in range(len(plan.pattern)):
        pattern = plan.pattern[i]
        if is_goal(pattern) and length(pattern) == turn:
            lost += plan.weight[i]
            pattern = DROPPED
        else:
            pattern = after_turn(pattern, turn) if length(pattern) >= turn else DROPPED
        plan.pattern[i] = 0 if pattern == DROPPED else pattern
        plan.weight[i] = 0.0 if pattern == DROPPED else plan.weight[i]
    return lost


@kernel(int64(TreeType, float64[::1], PlanType, StackType, int64, int64, int64, float64[::1]))
def respond(
    tree: Tree, probability: Reals, plan: Plan, stack: Stack, entry: int, turn: int, abrupt: int, out: Reals
) -> int:
    """Write BEST and MEAN of one entry of the responder's first view, before which the other has had `turn` turns."""
    tree, plan, stack = borrowed(tree), borrowed(plan), borrowed(stack)
    own = Plan(stack.pattern, stack.weight)
    depth = 0
    stack.end[0], stack.number[0], stack.turn[0] = 0, 0, turn
    stack.cursor[0], stack.stop[0] = 2 * entry, 2 * entry + 2
    stack.sums[0] = 0.0
    while stack.flag[0] == 0:
        view = stack.number[depth]
        k = stack.cursor[depth]
        e, outcome = tree.first[view] + k // 2, k % 2
        if outcome == 0 and k > 0 and depth > 0:
            _fold_entry(stack, depth, probability[e - 1], k == 2)
        if k == stack.stop[depth]:
            if depth == 0:
                break
            depth -= 1
            stack.sums[depth, BEST] += stack.value[depth + 1, BEST]
            stack.sums[depth, MEAN] += stack.value[depth + 1, MEAN]
            continue
        stack.cursor[depth] = k + 1
        follows, cell = tree.after[e, outcome], int(tree.cell[e])
        if follows == IMPOSSIBLE:
            continue
        table = plan if depth == 0 else own
        begin = 0 if depth == 0 else stack.end[depth - 1]
        end = len(plan.pattern) if depth == 0 else stack.end[depth]
        if follows == WON:
            gain = _won(stack, table, begin, end, stack.turn[depth], cell)
            stack.sums[depth, BEST] += gain
            stack.sums[depth, MEAN] += gain
            continue
        if stack.end[depth] + end - begin > len(stack.pattern):
            return FULL
        passes = 1 if outcome == STONE else abrupt
        lost = _try_cell(stack, table, begin, end, depth + 1, cell, outcome, passes)
        stack.sums[depth, BEST] -= lost
        stack.sums[depth, MEAN] -= lost
        if follows >= 0 and stack.end[depth + 1] > stack.end[depth]:
            depth += 1
            stack.number[depth], stack.turn[depth] = follows, stack.turn[depth - 1] + passes
            stack.cursor[depth] = 0
            stack.stop[depth] = 2 * (tree.first[follows + 1] - tree.first[follows])
            stack.sums[depth] = 0.0
            stack.value[depth] = 0.0
            stack.counters[VISITED] += 1
            stack.counters[MOST] = max(stack.counters[MOST], stack.end[depth])
    out[BEST], out[MEAN] = stack.sums[0, BEST], stack.sums[0, MEAN]
    return DONE

"""The values of a policy and of best responses to it, cell by cell: views, plans and responses put together.

Each thread takes one try of the responder's first turn at a time; the main thread reports and listens to Ctrl-C.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.rules.hidden_moves import ABRUPT
from qdts.hashing import index_rows
from qdts.kernels import Reals
from qdts.solving.cells.plan import Plan, make_plan
from qdts.solving.cells.response import (
    BEST,
    FULL,
    MEAN,
    MOST,
    READ,
    VISITED,
    Stack,
    enlarge,
    make_stack,
    pass_turn,
    respond,
)
from qdts.solving.cells.view_tree import Tree, ViewTree
from qdts.solving.policy.function import PolicyFunction, evaluate_function, uniform_probabilities
from qdts.solving.policy.table import Policy, probabilities_at
from qdts.solving.sweep.progress import SweepProgress, SweepReport

LISTEN = 0.1
"""Seconds between two reports."""


class CellResponse(NamedTuple):
    """What a player gets."""

    best: float
    """The value of a best response."""
    value: float
    """The value of the player's own policy."""
    views: int
    """How many views the player has at their turns."""
    read: int
    """How many patterns of the other were read."""
    bytes: int
    """The most memory that was held, but for what a policy holds."""


class _Side(NamedTuple):
    """A player's views, and their policy there."""

    tree: Tree
    probability: Reals  # [E]

    @property
    def bytes(self) -> int:
        return sum(part.nbytes for part in (*self.tree, self.probability))


def measure_by_cells(
    game: Game,
    policy: Policy | PolicyFunction,
    *,
    threads: int | None = None,
    report: SweepReport | None = None,
) -> list[CellResponse]:
    """Each player's best response to a policy, and the value of the policy itself.

    Args:
        game: A game of hidden stones: `measure.is_measurable_by_cells`.
        policy: A table, or a function of views, which is evaluated once at each view, in batches.
        threads: How many to use; by default one for each core that the process may use.
        report: Called several times a second.

    Raises:
        InputError: The policy lacks a view.
    """
    sides = [_side(game, policy, player, report) for player in range(2)]
    return [_response(game, sides, player, threads or _cores(), report) for player in range(2)]


def _side(game: Game, policy: Policy | PolicyFunction, player: int, report: SweepReport | None) -> _Side:
    """List a player's views, and evaluate the policy at them."""
    views, found, done = ViewTree(game, player), [], 0
    index = index_rows(policy.views) if isinstance(policy, Policy) else None
    for batch, counts in views.batches():
        if isinstance(policy, Policy):
            offset = views.tree.first[done : done + len(batch) + 1]
            actions = views.tree.cell[offset[0] : offset[-1]]
            found.append(probabilities_at(policy, batch, offset - offset[0], actions, index))
        elif policy is uniform_probabilities:
            found.append(np.repeat(1.0 / counts, counts))
        else:
            found.append(evaluate_function(game, policy, batch, counts))
        done += len(batch)
        if report is not None:
            report(SweepProgress(player, None, None, done))
    return _Side(views.tree, np.concatenate(found))


def _response(game: Game, sides: list[_Side], player: int, threads: int, report: SweepReport | None) -> CellResponse:
    """The best response of one player: the best of the tries of their first turn."""
    own, other = sides[player], sides[1 - player]
    abrupt = bool(game.rules[ABRUPT])
    plan = make_plan(other.tree, other.probability, abrupt=abrupt)
    lost = pass_turn(plan, 1) if player == 1 else 0.0
    stacks = [make_stack(plan, game.num_actions) for _ in range(threads)]
    values, views = np.zeros((int(own.tree.first[1]), 2)), len(own.tree.first) - 1

    def tell() -> None:
        if report is not None:
            visited = sum(int(stack.counters[VISITED]) for stack in stacks)
            report(SweepProgress(player, visited / views, None, visited))

    free: SimpleQueue[Stack] = SimpleQueue()
    for stack in stacks:
        free.put(stack)

    def run(entry: int) -> None:
        stack = free.get()
        while respond(own.tree, own.probability, plan, stack, entry, player, int(abrupt), values[entry]) == FULL:
            stack = enlarge(stack)
        free.put(stack)

    with ThreadPoolExecutor(threads) as pool, _stopping(stacks):
        pending: set[Future[None]] = {pool.submit(run, entry) for entry in range(len(values))}
        while pending:
            done, pending = wait(pending, LISTEN, FIRST_COMPLETED)
            for each in done:
                each.result()
            tell()
    first = own.probability[: len(values)]
    return CellResponse(
        float(values[:, BEST].max()) - lost,
        float(first @ values[:, MEAN]) - lost,
        views,
        sum(int(stack.counters[READ]) for stack in stacks),
        sum(side.bytes for side in sides) + _bytes(plan, stacks),
    )


@contextmanager
def _stopping(stacks: list[Stack]) -> Iterator[None]:
    """Where an exception ends the block, walks on these stacks stop at once."""
    try:
        yield
    except BaseException:
        for stack in stacks:
            stack.flag[0] = 1
        raise


def _bytes(plan: Plan, stacks: list[Stack]) -> int:
    """What a plan and the used parts of stacks take: a pattern and its weight, eight bytes each."""
    return 16 * (len(plan.pattern) + sum(int(stack.counters[MOST]) for stack in stacks))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

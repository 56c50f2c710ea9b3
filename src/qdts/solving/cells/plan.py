"""A player's plan: the patterns of all their lists of tries, with the probability that they play them.

Yⱼ(π) = Σ over lists s with pattern π of yⱼ(s),   yⱼ(s) = Π over j's tries of their probability

Lists of one pattern stay separate entries here; a best response merges them on its way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, Reals, declare, kernel
from qdts.solving.cells.patterns import complete, failure, stone
from qdts.solving.cells.view_tree import FAILURE, IMPOSSIBLE, STONE, WON, Tree, TreeType


class Plan(NamedTuple):
    """N lists of tries whose last turn is complete, without those that are never played."""

    pattern: Ints  # [N]
    weight: Reals  # [N]


PlanType = types.NamedTuple([int64[::1], float64[::1]], Plan)
declare(Plan, PlanType)


def make_plan(tree: Tree, probability: Reals, *, abrupt: bool) -> Plan:
    """The plan of a player with probabilities float64[E] in the order of their views."""
    entries = len(tree.cell)
    plan = Plan(np.empty(2 * entries, np.int64), np.empty(2 * entries))
    state = Plan(np.zeros(len(tree.first), np.int64), np.zeros(len(tree.first)))
    turn = np.ones(len(tree.first), np.int8)
    count = _write_plan(tree, probability, abrupt, state, turn, plan)
    return Plan(plan.pattern[:count], plan.weight[:count])


@kernel(int64(TreeType, float64[::1], int64, PlanType, types.int8[::1], PlanType))
def _write_plan(tree: Tree, probability: Reals, abrupt: int, state: Plan, turn: NDArray[np.int8], plan: Plan) -> int:
    """Pass the pattern, weight and turn of each view to those that follow, which have higher numbers."""
    state.weight[0] = 1.0
    count = 0
    for view in range(len(tree.first) - 1):
        t, before = int(turn[view]), state.pattern[view]
        for entry in range(tree.first[view], tree.first[view + 1]):
            weight = state.weight[view] * probability[entry]
            if weight == 0:
                continue
            cell = int(tree.cell[entry])
            for outcome in (STONE, FAILURE):
                follows = tree.after[entry, outcome]
                ends_turn = outcome == STONE or abrupt != 0
                pattern = before | (stone(cell, t) if outcome == STONE else failure(cell, t))
                if follows >= 0:
                    state.pattern[follows], state.weight[follows] = pattern, weight
                    turn[follows] = t + ends_turn
                if ends_turn and follows != IMPOSSIBLE:
                    plan.pattern[count] = complete(pattern, t, int(follows == WON))
                    plan.weight[count] = weight
                    count += 1
    return count

"""Playouts by a policy: each player draws actions from its distribution at their view (docs/search.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int32, int64

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.hashing import index_rows
from qdts.kernels import Ints, kernel
from qdts.pointers import element
from qdts.rng import State, sample_by_weight, sampled
from qdts.search.evaluation.packed import Workspace
from qdts.search.evaluation.policy_table import Ints32, PolicyTable, empty_policy_table, find_view
from qdts.solving.policy.table import Policy, verify_game

NONE = -1
"""No view has other actions than the game."""


def rollout_table(game: Game, policy: Policy | None) -> PolicyTable:
    """A policy table with P alone, at the views that a policy has; empty without one."""
    if policy is None:
        return empty_policy_table()
    verify_game(policy, game)
    views, offset = np.ascontiguousarray(policy.views, np.int64), np.ascontiguousarray(policy.offset, np.int32)
    wrong = int(
        _first_unlike(
            game.kernels, game.rules, views, offset, np.ascontiguousarray(policy.action, np.int32), game.max_branching
        )
    )
    if wrong != NONE:
        raise InputError(
            f"the policy for {game.spec} has other legal actions than the game at {game.layout.write(views[wrong])}"
        )
    view_table, probability = index_rows(views), np.ascontiguousarray(policy.probability)
    return empty_policy_table()._replace(
        views=views, view_table=view_table, offset=offset, probability=probability, view_mask=len(view_table) - 1
    )


@kernel(int64(KernelsType, RulesType, int64[:, ::1], int32[::1], int32[::1], int64))
def _first_unlike(game: Any, rules: Ints, views: Ints, offset: Ints32, action: Ints32, branching: int) -> int:
    """The first view whose actions are not the legal ones, or NONE."""
    legal, rules_at = np.empty(branching, np.int64), element(rules, 0)
    for s in range(len(views)):
        count = game.legal(rules_at, element(views, s * views.shape[1]), element(legal, 0))
        if count != offset[s + 1] - offset[s]:
            return s
        for k in range(count):
            if legal[k] != action[offset[s] + k]:
                return s
    return NONE


@kernel()
def roll_out(game: Any, rules: Ints, table: PolicyTable, size: int, work: Workspace, state: State) -> None:
    """Play from `work.world` to the end, in place, and write the returns; uniformly where the table has no view."""
    world, seen, actions, chances = work.world, work.seen, work.moves, work.chances
    mover = game.mover(rules, world)
    while mover != TERMINAL:
        if mover == CHANCE:
            chosen = sampled(chances, game.chance(rules, world, actions, chances), state)
        else:
            for i in range(size):
                seen[i] = world[i]
            game.redact(rules, seen, mover)
            count = game.legal(rules, world, actions)
            s = find_view(table, seen, size)
            for k in range(count):
                chances[k] = 1.0 / count if s < 0 else table.probability[table.offset[s] + k]
            chosen = sample_by_weight(chances, count, state)
        game.step(rules, world, actions[chosen])
        mover = game.mover(rules, world)
    game.returns(rules, world, work.utilities)

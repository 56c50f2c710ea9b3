"""Beliefs of a table, as weights of a book's members: computed once, then looked up inside the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from qdts.games.interface import NO_HOLE, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.search.evaluation.compiled import fits, look_up_sample
from qdts.search.evaluation.evaluator import NOTHING
from qdts.search.evaluation.policy_table import (
    H_RULES,
    H_UNIFORM,
    H_WEIGHTS,
    PolicyTable,
    PolicyTablePointers,
    PolicyTableType,
    table_pointers,
)
from qdts.search.options.variants import Belief
from qdts.solving.exact.values import chance_reach, edge, reach
from qdts.solving.policy.table import Policy, aligned
from qdts.solving.tree.arrays import NONE, Histories, HistoriesType
from qdts.solving.tree.recent import game_tree


def table_with_belief(policy: Policy, table: PolicyTable, belief: Belief) -> PolicyTable:
    """The book of a table with a belief in the place of H."""
    if belief in ("rules", "holes"):
        return table._replace(h=np.array([H_RULES if belief == "rules" else H_UNIFORM]))
    weigh = {"completions": _even, "exact": _exact, "bayes": _bayes}[belief]
    return table._replace(h=np.array([H_WEIGHTS]), belief=weigh(policy, table))


def _even(policy: Policy, table: PolicyTable) -> Reals:
    """1 for each world."""
    return _shares(policy, table)[table.member]


def _shares(policy: Policy, table: PolicyTable) -> Reals:
    """The share of each history in its world, by chance: several outcomes may come to the same world. float64[H]"""
    chance = chance_reach(game_tree(policy.game))
    _, group = np.unique(table.worlds, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return np.asarray(chance / np.bincount(group, chance)[group], np.float64)


def _exact(policy: Policy, table: PolicyTable) -> Reals:
    """r₋ᵢ, by the policy."""
    tree = game_tree(policy.game)
    probability = aligned(tree, policy)
    owner = tree.histories.mover[table.member]
    weight = np.empty(len(table.member))
    for player in range(policy.game.players):
        own = owner == player
        weight[own] = reach(tree, probability, player)[table.member[own]]
    return weight


def _bayes(policy: Policy, table: PolicyTable) -> Reals:
    """What the book's H said at the owner's last turn, times how likely all moves since were."""
    game, tree = policy.game, game_tree(policy.game)
    held = np.zeros(tree.num_histories)
    scratch, n = np.zeros((2, game.world_size), np.int64), game.max_choices
    _hold(game.kernels, game.rules, table, tree.histories, np.zeros((2, n), np.int64), np.zeros((3, n)), scratch, held)
    held *= _shares(policy, table)
    weight = np.empty(len(table.member))
    _carry(game.kernels, game.rules, table, tree.histories, np.ascontiguousarray(aligned(tree, policy)), held, weight)
    return weight


@kernel()
def _true_value(
    game: Any,
    rules: Ints,
    table: PolicyTablePointers,
    history: int,
    vector: Ints,
    scratch: Ints,
    size: int,
    hole: int,
    choices: Ints,
    count: int,
) -> int:
    """Which of the values of a hole is the one in a history's world."""
    for k in range(count - 1):
        for i in range(size):
            scratch[i] = vector[i]
        game.fill(rules, scratch, hole, choices[k])
        if fits(table, history, scratch, size):
            return k
    return count - 1


@kernel(
    int64(
        KernelsType,
        RulesType,
        PolicyTableType,
        HistoriesType,
        int64[:, ::1],
        float64[:, ::1],
        int64[:, ::1],
        float64[::1],
    )
)
def _hold(
    game: Any,
    rules: Ints,
    table: PolicyTable,
    histories: Histories,
    moves: Ints,
    reals: Reals,
    vectors: Ints,
    held: Reals,
) -> int:
    """Write what H gives to the world of every history at which a player moves: the product along the holes."""
    opened, rules_at = table_pointers(table), element(rules, 0)
    vector, scratch, size, n = element(vectors, 0), element(vectors, vectors.shape[1]), vectors.shape[1], moves.shape[1]
    choices, other = element(moves, 0), element(moves, n)
    prior, chances, children = element(reals, 0), element(reals, n), element(reals, 2 * n)
    value = np.zeros(1)
    for h in range(len(held)):
        player = histories.mover[h]
        if player < 0:
            continue
        for i in range(size):
            vectors[0, i] = table.worlds[h, i]
        game.redact(rules_at, vector, player)
        held[h] = 1.0
        hole = game.hole(rules_at, vector)
        while hole != NO_HOLE:
            count = game.values(rules_at, vector, hole, choices, prior)
            look_up_sample(
                game,
                rules_at,
                opened,
                vector,
                size,
                player,
                NOTHING,
                hole,
                choices,
                count,
                element(value, 0),
                children,
                prior,
                scratch,
                other,
                chances,
            )
            k = _true_value(game, rules_at, opened, h, vector, scratch, size, hole, choices, count)
            held[h] *= prior[k]
            game.fill(rules_at, vector, hole, choices[k])
            hole = game.hole(rules_at, vector)
    return 0


@kernel(int64(KernelsType, RulesType, PolicyTableType, HistoriesType, float64[::1], float64[::1], float64[::1]))
def _carry(
    game: Any, rules: Ints, table: PolicyTable, histories: Histories, probability: Reals, held: Reals, weight: Reals
) -> int:
    """Weigh every member: back to the owner's last whole action, or to the start if there is none."""
    size = table.worlds.shape[1]
    for m in range(len(weight)):
        h = int(table.member[m])
        player = histories.mover[h]
        weight[m] = 1.0
        while histories.parent[h] != NONE:
            parent = int(histories.parent[h])
            if histories.mover[parent] != player:
                weight[m] *= edge(histories, probability, h)
            elif game.midway(element(rules, 0), element(table.worlds, h * size)) == 0:
                weight[m] *= held[parent]
                break
            h = parent
    return 0

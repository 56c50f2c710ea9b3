"""Beliefs of a policy table, as weights of its members: computed once, then looked up inside the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from qdts.games.interface import NO_HOLE, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element, pointers_to
from qdts.search.evaluation.evaluator import NOTHING, SAMPLE
from qdts.search.evaluation.lookup import fits, look_up_sample
from qdts.search.evaluation.packed import PackedEvaluation, PackedQuery, Workspace
from qdts.search.evaluation.policy_table import H_RULES, H_UNIFORM, H_WEIGHTS, PolicyTable, PolicyTableType
from qdts.search.options.variants import Belief
from qdts.solving.exact.values import chance_reach, edge, reach
from qdts.solving.policy.table import Policy, aligned
from qdts.solving.tree.arrays import NONE, Histories, HistoriesType
from qdts.solving.tree.recent import game_tree


def table_with_belief(policy: Policy, table: PolicyTable, belief: Belief, turns: int = 1) -> PolicyTable:
    """The same table with a belief in the place of H; `bayes` begins so many of the owner's turns back."""
    if belief in ("rules", "holes"):
        return table._replace(h=H_RULES if belief == "rules" else H_UNIFORM)
    if belief == "bayes":
        return table._replace(h=H_WEIGHTS, belief=_bayes(policy, table, turns))
    weigh = {"completions": _uniform, "exact": _exact}[belief]
    return table._replace(h=H_WEIGHTS, belief=weigh(policy, table))


def _uniform(policy: Policy, table: PolicyTable) -> Reals:
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


def _bayes(policy: Policy, table: PolicyTable, turns: int) -> Reals:
    """The table's H some of the owner's turns ago, times how likely all moves since were."""
    game, tree = policy.game, game_tree(policy.game)
    held = np.zeros(tree.num_histories)
    _hold(game.kernels, game.rules, table, tree.histories, game.max_choices, held)
    held *= _shares(policy, table)
    weight = np.empty(len(table.member))
    probability = np.ascontiguousarray(aligned(tree, policy))
    _carry(game.kernels, game.rules, table, tree.histories, probability, held, turns, weight)
    return weight


@kernel()
def _true_value(game: Any, rules: Ints, table: PolicyTable, history: int, query: PackedQuery, work: Workspace) -> int:
    """Which of the values of a hole is the one in a history's world."""
    for k in range(query.degree - 1):
        for i in range(query.size):
            work.world[i] = query.vector[i]
        game.fill(rules, work.world, query.hole, query.choices[k])
        if fits(table, history, work.world, query.size):
            return k
    return query.degree - 1


@kernel(int64(KernelsType, RulesType, PolicyTableType, HistoriesType, int64, float64[::1]))
def _hold(game: Any, rules: Ints, table: PolicyTable, histories: Histories, width: int, held: Reals) -> int:
    """Write what H gives to the world of every history at which a player moves: the product along the holes."""
    size, known, rules_at = table.worlds.shape[1], pointers_to(table), element(rules, 0)
    vectors, moves = np.empty(3 * size, np.int64), np.empty(2 * width, np.int64)
    reals, value, state = np.empty(3 * width), np.empty(1), np.zeros(1, np.uint64)
    vector, choices = element(vectors, 0), element(moves, 0)
    out = PackedEvaluation(element(value, 0), element(reals, 0), element(reals, width), 1)
    work = Workspace(
        world=element(vectors, size),
        seen=element(vectors, 2 * size),
        moves=element(moves, width),
        chances=element(reals, 2 * width),
        utilities=element(reals, 2 * width),
    )
    for h in range(len(held)):
        player = histories.mover[h]
        if player < 0:
            continue
        for i in range(size):
            vectors[i] = table.worlds[h, i]
        game.redact(rules_at, vector, player)
        held[h] = 1.0
        hole = game.hole(rules_at, vector)
        while hole != NO_HOLE:
            count = game.values(rules_at, vector, hole, choices, out.prior)
            query = PackedQuery(SAMPLE, vector, size, player, NOTHING, hole, choices, count, element(state, 0))
            look_up_sample(game, rules_at, known, query, out, work)
            k = _true_value(game, rules_at, known, h, query, work)
            held[h] *= out.prior[k]
            game.fill(rules_at, vector, hole, choices[k])
            hole = game.hole(rules_at, vector)
    return 0


@kernel(int64(KernelsType, RulesType, PolicyTableType, HistoriesType, float64[::1], float64[::1], int64, float64[::1]))
def _carry(
    game: Any, rules: Ints, table: PolicyTable, histories: Histories, probability: Reals, held: Reals, turns: int,
    weight: Reals,
) -> int:  # fmt: skip
    """Weigh every member: back over so many whole actions of the owner, or to the start if there are fewer."""
    size = table.worlds.shape[1]
    for m in range(len(weight)):
        h = int(table.member[m])
        player = histories.mover[h]
        weight[m], left = 1.0, turns
        while histories.parent[h] != NONE:
            parent = int(histories.parent[h])
            if histories.mover[parent] != player:
                weight[m] *= edge(histories, probability, h)
            elif game.midway(element(rules, 0), element(table.worlds, h * size)) == 0:
                left -= 1
                if left == 0:
                    weight[m] *= held[parent]
                    break
            h = parent
    return 0

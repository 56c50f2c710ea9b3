"""Equilibria that are right wherever the others can go, for tests of what search makes of them."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from qdts import load_game, solve
from qdts.kernels import Ints, Reals
from qdts.search.evaluation.policy_table import policy_table
from qdts.solving.exact.values import reach
from qdts.solving.policy.table import Policy, aligned, policy_on
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.recent import game_tree

NEVER = 1e-12


@cache
def equilibrium(spec: str) -> Policy:
    """An exact equilibrium in which a player responds well even where their own earlier moves would not have led.

    The linear program leaves those views as they come: neither player's deviation gets there, so NashConv does not
    see them, and a best response to the others can be put there without changing it.
    """
    game = load_game(spec)
    tree = game_tree(game)
    p = np.maximum(aligned(tree, solve(game, algorithm="lp").policy), 0.0)
    p /= spread(tree, np.add.reduceat(p, tree.infosets.offset[:-1]))
    own = own_reach(tree, p)
    while True:
        table = policy_table(policy_on(tree, p), (0.0, 0.0, 0.0), 0)
        better = p.copy()
        for s in np.flatnonzero(own < NEVER):
            of = slice(tree.infosets.offset[s], tree.infosets.offset[s + 1])
            members = range(table.member_offset[s], table.member_offset[s + 1])
            q = sum(
                table.weight[m]
                * table.value[table.first[table.member[m]] + np.arange(of.stop - of.start), tree.infosets.owner[s]]
                for m in members
            )
            best = q >= np.max(q) - 1e-9
            better[of] = best / np.sum(best)
        if np.array_equal(better, p):
            return policy_on(tree, p)
        p = better


def spread(tree: GameTree, at_sets: Reals) -> Reals:
    """A number of each information set, repeated for each of its actions."""
    return np.repeat(at_sets, np.diff(tree.infosets.offset))


def own_reach(tree: GameTree, p: Reals) -> Reals:
    """How likely each information set is as far as its owner's own moves go."""
    h = tree.histories
    r = np.ones((tree.num_histories, tree.game.players))
    for i in range(1, tree.num_histories):
        r[i] = r[h.parent[i]]
        if h.entry[i] >= 0:
            r[i, h.mover[h.parent[i]]] *= p[h.entry[i]]
    best = np.zeros(tree.num_infosets)
    moves = np.flatnonzero(h.infoset >= 0)
    np.maximum.at(best, h.infoset[moves], r[moves, h.mover[moves]])
    return best


def reachable(policy: Policy) -> NDArray[np.intp]:
    """The views that the others can lead to when they play the policy."""
    tree = game_tree(policy.game)
    p, h = aligned(tree, policy), tree.histories
    reached = np.zeros(tree.num_infosets, bool)
    for player in range(policy.game.players):
        r = reach(tree, p, player)
        own = np.flatnonzero(h.mover == player)
        np.logical_or.at(reached, h.infoset[own], r[own] > 1e-9)
    return np.flatnonzero(reached)


def views_of(policy: Policy, sets: NDArray[np.intp]) -> tuple[list[Ints], list[int]]:
    """The views of some information sets, and their owners."""
    known = game_tree(policy.game).infosets
    return [known.views[i] for i in sets], [int(known.owner[i]) for i in sets]

"""Exact values of a policy: at every history and at every information set.

r(h)      the probability that play reaches history h
r₋ᵢ(h)    the same without the factors of player i's own choices (counterfactual reach)
u(h)      every player's expected return from h on
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64
from numpy.typing import NDArray

from qdts.kernels import Reals, kernel
from qdts.solving.tree.arrays import NONE, GameTree, Histories, HistoriesType


def history_values(tree: GameTree, probability: Reals) -> Reals:
    """u(h) = Σ over children c of h of P(c | h) · u(c). float64[H, P]"""
    return _history_values(tree.histories, probability)


def reach(tree: GameTree, probability: Reals, without: int = NONE) -> Reals:
    """r(h), or r₋ᵢ(h) for the player i given as `without`. float64[H]"""
    return _reach(tree.histories, probability, without)


def infoset_values(tree: GameTree, probability: Reals) -> Reals:
    """The value of each information set to its owner i: V = Σ r₋ᵢ(h) u_i(h) / Σ r₋ᵢ(h) over its histories h. float64[I]

    Where the others' policy never goes, histories are weighted by chance's probabilities alone.
    """
    total = np.zeros(tree.num_infosets)
    value = history_values(tree, probability)
    prior = chance_reach(tree)
    for player in range(tree.game.players):
        own = np.flatnonzero(tree.histories.mover == player)
        sets = tree.histories.infoset[own]
        weight = belief_weights(sets, reach(tree, probability, player)[own], prior[own], tree.num_infosets)
        np.add.at(total, sets, weight * value[own, player])
    return total


def action_values(tree: GameTree, probability: Reals) -> Reals:
    """The value of each entry to the owner i of its information set: Q = Σ r₋ᵢ(h) u_i(ha) / Σ r₋ᵢ(h). float64[A]

    It is 0 where the others' policy never goes.
    """
    value, moved = history_values(tree, probability), np.flatnonzero(tree.histories.entry != NONE)
    entry, parent = tree.histories.entry[moved], tree.histories.parent[moved]
    total, weight = np.zeros((2, len(tree.infosets.action)))
    for player in range(tree.game.players):
        own = tree.histories.mover[parent] == player
        r = reach(tree, probability, player)[parent[own]]
        total += np.bincount(entry[own], r * value[moved[own], player], len(total))
        weight += np.bincount(entry[own], r, len(total))
    return np.where(weight > 0.0, total / np.where(weight > 0.0, weight, 1.0), 0.0)


def merged_values(tree: GameTree, probability: Reals, player: int) -> Reals:
    """The value of each history to a player who knows only their own views from then on. float64[H]

    At the player's own turns it is the value of the information set, the same for all its histories; elsewhere it is
    the expectation of that over what comes next; at the end it is the return. A search that merges the nodes of one
    view backs up exactly this. It differs from u where a world says more than the player's view.
    """
    at_view = infoset_values(tree, probability)
    return _merged_values(tree.histories, probability, at_view, player)


def view_reach(tree: GameTree, probability: Reals) -> Reals:
    """The counterfactual reach of each information set: Σ r₋ᵢ(h) over its histories. float64[I]"""
    weight = np.zeros(tree.num_infosets)
    for player in range(tree.game.players):
        own = np.flatnonzero(tree.histories.mover == player)
        np.add.at(weight, tree.histories.infoset[own], reach(tree, probability, player)[own])
    return weight


def chance_reach(tree: GameTree) -> Reals:
    """The product of chance's probabilities on the way to each history. float64[H]"""
    return _reach(tree.histories, np.ones(len(tree.infosets.action)), NONE)


def belief_weights(groups: NDArray[np.int32], weight: Reals, prior: Reals, count: int) -> Reals:
    """Weights normalised in each group; where they sum to zero, the normalised prior instead."""
    total = np.bincount(groups, weight, count)
    prior_total = np.bincount(groups, prior, count)
    reached = total[groups] > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(reached, weight / total[groups], prior / prior_total[groups])


@kernel()
def edge(histories: Histories, probability: Reals, h: int) -> float:
    """The probability of the move that led to h."""
    entry = histories.entry[h]
    return probability[entry] if entry != NONE else histories.probability[h]


@kernel(float64[:, ::1](HistoriesType, float64[::1]))
def _history_values(histories: Histories, probability: Reals) -> Reals:
    value = histories.utility.copy()
    for h in range(len(value) - 1, 0, -1):
        p = edge(histories, probability, h)
        for player in range(value.shape[1]):
            value[histories.parent[h], player] += p * value[h, player]
    return value


@kernel(float64[::1](HistoriesType, float64[::1], int64))
def _reach(histories: Histories, probability: Reals, without: int) -> Reals:
    r = np.ones(len(histories.parent))
    for h in range(1, len(r)):
        parent = histories.parent[h]
        own = without != NONE and histories.mover[parent] == without
        r[h] = r[parent] * (1.0 if own else edge(histories, probability, h))
    return r


@kernel(float64[::1](HistoriesType, float64[::1], float64[::1], int64))
def _merged_values(histories: Histories, probability: Reals, at_view: Reals, player: int) -> Reals:
    value = histories.utility[:, player].copy()
    for h in range(len(value) - 1, -1, -1):
        if histories.mover[h] == player:
            value[h] = at_view[histories.infoset[h]]
        if h > 0:
            value[histories.parent[h]] += edge(histories, probability, h) * value[h]
    return value

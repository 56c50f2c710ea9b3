"""The exact belief over worlds by Bayes' rule, and the exact value at any node of a search.

A *node vector* is a world, a view, or a view with some of its holes filled: it stands for any kind of node of a search.
Bayes' rule weights each history that agrees with the vector by r₋ᵢ, the probability that chance and the others play to
it (the owner's own moves carry no information). Where the others' policy never goes, chance alone is the weight.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.interface import UNKNOWN, KernelsType, RulesType
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.exact.values import belief_weights, chance_reach, merged_values, reach
from qdts.solving.policy.table import Policy, aligned
from qdts.solving.tree.arrays import GameTree, Histories, HistoriesType
from qdts.solving.tree.recent import game_tree


class Belief(NamedTuple):
    """Worlds and their probabilities."""

    worlds: Ints  # [n, W] distinct
    probability: Reals  # [n] summing to one


def belief(policy: Policy, vector: Ints, player: int) -> Belief:
    """The exact belief of a player over worlds at a node vector, when all play a policy."""
    tree = game_tree(policy.game)
    histories, weight = _weigh(tree, aligned(tree, policy), vector, player)
    worlds, group = np.unique(tree_worlds(tree)[histories], axis=0, return_inverse=True)
    return Belief(worlds, np.bincount(group.reshape(-1), weight, len(worlds)).astype(np.float64))


def node_value(policy: Policy, vector: Ints, player: int) -> float:
    """The value of a node to a player: ACT, SAMPLE with any of its holes filled, OPPONENT, CHANCE or TERMINAL.

    At the player's own turn it is the value of the view. Elsewhere it is the expectation, over the belief at the
    vector, of the value of the player's next own view, or of the return where there is no further turn.
    """
    tree = game_tree(policy.game)
    probability = aligned(tree, policy)
    histories, weight = _weigh(tree, probability, vector, player)
    return float(weight @ merged_values(tree, probability, player)[histories])


@lru_cache(maxsize=4)
def tree_worlds(tree: GameTree) -> Ints:
    """The world of every history. int64[H, W]"""
    game = tree.game
    return _worlds(game.kernels, game.rules, tree.histories, game.world_size)


@lru_cache(maxsize=8)
def tree_views(tree: GameTree, player: int) -> Ints:
    """A player's view of every history. int64[H, W]"""
    views = tree_worlds(tree).copy()
    _redact_all(tree.game.kernels, tree.game.rules, views, player)
    return views


def _weigh(tree: GameTree, probability: Reals, vector: Ints, player: int) -> tuple[NDArray[np.intp], Reals]:
    """The histories that agree with a node vector, and their share of the belief."""
    holes = vector == UNKNOWN
    agrees = (tree_worlds(tree) == vector) | holes
    hidden = (tree_views(tree, player) == UNKNOWN) | ~holes
    histories = np.flatnonzero((agrees & hidden).all(1))
    if len(histories) == 0:
        raise InputError(f"{tree.game.spec}: play never gets to {tree.game.layout.write(vector)} for player {player}")
    group = np.zeros(len(histories), np.int32)
    r = reach(tree, probability, player)[histories]
    return histories, belief_weights(group, r, chance_reach(tree)[histories], 1)


@kernel(int64[:, ::1](KernelsType, RulesType, HistoriesType, int64))
def _worlds(game: Any, rules: Ints, histories: Histories, size: int) -> Ints:
    worlds = np.empty((len(histories.parent), size), np.int64)
    game.initial(rules.ctypes, worlds[0].ctypes)
    for h in range(1, len(worlds)):
        worlds[h] = worlds[histories.parent[h]]
        game.step(rules.ctypes, worlds[h].ctypes, histories.action[h])
    return worlds


@kernel(types.void(KernelsType, RulesType, int64[:, ::1], int64))
def _redact_all(game: Any, rules: Ints, worlds: Ints, player: int) -> None:
    for h in range(len(worlds)):
        game.redact(rules.ctypes, worlds[h].ctypes, player)

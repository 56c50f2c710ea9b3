"""Exact measures of networks, for games that can be enumerated.

NashConv is the sum over players of what each gains by a best response. The error of V is measured at ACT nodes; the
error of H is the L1 distance of its belief over worlds from Bayes' rule. Both are measured against what follows from
the networks' own P, and weigh a view by the probability that the others and chance lead there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints
from qdts.learning.nodes.evaluation import act_nodes, policy_at, values_at
from qdts.learning.nodes.nodes import Nodes, queries_of, sample_chain
from qdts.nets.evaluator import Network
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import NOTHING
from qdts.solving.exact.belief import tree_worlds
from qdts.solving.exact.values import belief_weights, chance_reach, infoset_values, reach, view_reach
from qdts.solving.measure import measure_policy
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.enumeration import TooLargeError
from qdts.solving.tree.recent import game_tree, handy_tree
from qdts.solving.uniform import uniform_policy

Met = Callable[[Ints, Ints], NDArray[np.bool_]]
"""From views and their players to which of them were met in self-play."""


def network_policy(network: Network) -> Policy:
    """P at every information set, as a table."""
    tree = game_tree(network.game)
    sets = tree.infosets
    p = policy_at(network.game, network, sets.views, sets.owner.astype(np.int64))
    return policy_on(tree, p[np.arange(p.shape[1]) < np.diff(sets.offset)[:, None]])


def value_error(network: Network, policy: Policy) -> float:
    """The root mean square error of V at players' own views, in units of S."""
    game, tree = network.game, game_tree(network.game)
    sets = tree.infosets
    count, owner = len(sets.views), sets.owner.astype(np.int64)
    found = values_at(game, network, act_nodes(sets.views, owner))
    value = found[:, 0] if game.hidden else found[np.arange(count), owner]
    error = (value - infoset_values(tree, policy.probability)) / game.scale
    return float(np.sqrt(np.average(error**2, weights=view_reach(tree, policy.probability))))


class Chains(NamedTuple):
    """The SAMPLE nodes between all views and the worlds that they may be; M counts different pairs of view and world.

    Several histories may lead to the same world.
    """

    nodes: Nodes
    pair: Ints  # [N] the pair that a node belongs to
    column: Ints  # [N] which choice of the node leads to its world
    infoset: Ints  # [M]
    history: Ints  # [H] those at which a player moves
    leads_to: Ints  # [H] the pair that each leads to


@lru_cache(maxsize=4)
def _chains(tree: GameTree) -> Chains:
    game = tree.game
    history = np.flatnonzero(tree.histories.mover >= 0)
    infoset, worlds = tree.histories.infoset[history].astype(np.int64), tree_worlds(tree)[history]
    which, first = distinct_rows(np.column_stack([infoset, worlds]))
    sets, players = infoset[first], tree.histories.mover[history[first]].astype(np.int64)
    nothing = np.full(len(first), NOTHING)
    nodes, pair, true = sample_chain(game, tree.infosets.views[sets], worlds[first], players, nothing)
    choices = queries_of(game, nodes).choices
    return Chains(nodes, pair, np.argmax(choices == true[:, None], 1), sets, history, which)


def belief_error(network: Network, policy: Policy) -> float:
    """The mean L1 distance of H's belief over worlds at a view from that of Bayes' rule with the network's own P."""
    game, tree = network.game, game_tree(network.game)
    chains = _chains(tree)
    evaluations = empty_evaluations(game, len(chains.pair))
    network.evaluate_batch(queries_of(game, chains.nodes), evaluations)
    log_h = np.log(np.maximum(evaluations.prior[np.arange(len(chains.pair)), chains.column], 1e-300))
    pairs = len(chains.infoset)
    h, exact = np.exp(np.bincount(chains.pair, log_h, pairs)), np.zeros(pairs)
    prior = chance_reach(tree)[chains.history]
    for player in range(game.players):
        own = tree.histories.mover[chains.history] == player
        sets = tree.histories.infoset[chains.history[own]]
        r = reach(tree, policy.probability, player)[chains.history[own]]
        weights = belief_weights(sets, r, prior[own], tree.num_infosets)
        exact += np.bincount(chains.leads_to[own], weights, pairs)
    total = np.bincount(chains.infoset, np.abs(h - exact), tree.num_infosets)
    return float(np.average(total, weights=view_reach(tree, policy.probability)))


class Measured(NamedTuple):
    """The measures of networks."""

    nash_conv: float
    value_error: float | None = None
    belief_error: float | None = None
    """None where nothing is hidden, or there is no model of H."""
    coverage: float | None = None
    """None where it was not asked for."""


def is_measurable(game: Game, most: int) -> bool:
    """Whether the game has few enough histories to be listed, and at most so many information sets."""
    count = listed_infosets(game)
    return count is not None and count <= most


def listed_infosets(game: Game) -> int | None:
    """How many information sets the game has; None where it has too many histories to be listed."""
    try:
        tree = handy_tree(game)
    except TooLargeError:
        return None
    return None if tree is None else tree.num_infosets


def uniform_nash_conv(game: Game) -> float:
    """NashConv of uniform play, which every figure of a run is compared with."""
    return measure_policy(game, uniform_policy(game)).nash_conv


def coverage(policy: Policy, met: Met) -> float:
    """The share of information sets that were met, by the probability that the others and chance lead there."""
    tree = game_tree(policy.game)
    sets, weight = tree.infosets, view_reach(tree, policy.probability)
    return float(np.average(met(sets.views, sets.owner.astype(np.int64)), weights=weight))


def measure(network: Network, *, policy_only: bool = False, met: Met | None = None) -> Measured:
    """All measures of a network, or NashConv of its P alone; coverage if it is known which views were met."""
    policy = network_policy(network)
    distance = measure_policy(network.game, policy).nash_conv
    if policy_only:
        return Measured(distance)
    has_belief = network.game.hidden and network.belief is not None
    belief = belief_error(network, policy) if has_belief else None
    covered = None if met is None else coverage(policy, met)
    return Measured(distance, value_error(network, policy), belief, covered)

"""What a network evaluates at many nodes at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.nodes import Nodes, children, distinct, queries_of
from qdts.nets.evaluator import Network
from qdts.nets.networks import apart
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import ACT, NOTHING, TERMINAL, Evaluations, Queries

NO_ACTION = -1.0
"""`policy_at` beyond the actions of a view."""


class Together:
    """Several evaluators with the same networks as one: each evaluates a part of a batch, on a thread of its own."""

    def __init__(self, networks: Sequence[Network | Timed]) -> None:
        self.game = networks[0].game
        self.evaluate = networks[0].evaluate
        self._networks = networks

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the evaluation of every query."""
        cuts = np.linspace(0, len(queries.kind), len(self._networks) + 1).astype(np.int64)

        def evaluate(network: Network | Timed, of: slice) -> None:
            network.evaluate_batch(
                Queries._make([x[of] for x in queries]), Evaluations._make([x[of] for x in evaluations])
            )

        parts = [slice(*ends) for ends in pairwise(cuts.tolist())]
        jobs = [partial(evaluate, network, of) for network, of in zip(self._networks, parts, strict=True)]
        apart(jobs, len(jobs))


def act_nodes(views: Ints, players: Ints) -> Nodes:
    """The ACT nodes of players at their views."""
    nothing = np.full(len(views), NOTHING)
    return Nodes(np.full(len(views), ACT), views, players, nothing, nothing)


def policy_at(game: Game, network: Network | Timed, views: Ints, players: Ints) -> Reals:
    """P at some views; NO_ACTION beyond the actions of each. float64[N, B]"""
    return policy_of(game, network, queries_of(game, act_nodes(views, players)))


def policy_of(game: Game, network: Network | Timed, queries: Queries) -> Reals:
    """P at ACT nodes; NO_ACTION beyond the actions of each. float64[N, B]"""
    evaluations = empty_evaluations(game, len(queries.kind))
    network.evaluate_batch(queries, evaluations)
    return np.where(np.arange(evaluations.prior.shape[1]) < queries.degree[:, None], evaluations.prior, NO_ACTION)


def values_of_children(game: Game, network: Network | Timed | Together, queries: Queries) -> Reals:
    """V of all children of the queries' nodes, each evaluated by itself, 0 where there is none. float64[N, B, K]"""
    below = children(game, queries)
    different, which = distinct(below.nodes)
    found = np.zeros((*queries.choices.shape, 1 if game.hidden else game.players))
    found[below.source, below.column] = values_at(game, network, different)[which]
    return found


def values_at(game: Game, network: Network | Timed | Together, nodes: Nodes) -> Reals:
    """V of some nodes, and the returns of finished games. float64[N, K]"""
    k = 1 if game.hidden else game.players
    out = np.zeros((len(nodes.kind), k))
    over = nodes.kind == TERMINAL
    if over.any():
        returns = batch.returns(game, nodes.vector[over])
        out[over] = np.take_along_axis(returns, nodes.player[over][:, None], 1) if game.hidden else returns
    if not over.all():
        going = np.flatnonzero(~over)
        evaluations = empty_evaluations(game, len(going))
        network.evaluate_batch(queries_of(game, nodes.take(going)), evaluations)
        out[going] = evaluations.value
    return out

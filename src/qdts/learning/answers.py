"""What networks say of many nodes at once."""

from __future__ import annotations

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.clock import Timed
from qdts.learning.config import Config
from qdts.learning.nodes import Nodes, queries_of
from qdts.nets.evaluator import Network
from qdts.nets.learner import Learner
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import ACT, TERMINAL


def network_of(learner: Learner, config: Config, *, average: bool = False) -> Network:
    """The newest models, or those with averaged weights, as an evaluator that has seen nothing yet."""
    belief = learner.average_belief if average and config.belief.source == "sampled" else learner.belief
    return Network(
        learner.game, learner.average if average else learner.model,
        None if config.belief.source == "exact" else belief,  # which was never taught
        batch=config.play.batch, cache=config.play.cache, device=str(learner.device),
    )  # fmt: skip


def policy_at(game: Game, network: Network | Timed, views: Ints, players: Ints) -> Reals:
    """P at some views; -1 beyond the actions of each. float64[N, B]"""
    nothing = np.full(len(views), -1)
    queries = queries_of(game, Nodes(np.full(len(views), ACT), views, players, nothing, nothing))
    evaluations = empty_evaluations(game, len(views))
    network.evaluate_batch(queries, evaluations)
    return np.where(np.arange(evaluations.prior.shape[1]) < queries.degree[:, None], evaluations.prior, -1.0)


def values_at(game: Game, network: Network | Timed, nodes: Nodes) -> Reals:
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

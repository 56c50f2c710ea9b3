"""The targets of H: how often each value of a hole was the true one, at the SAMPLE nodes of players' own views."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Reals
from qdts.learning.nodes.nodes import Nodes, chain_after, distinct, queries_of
from qdts.learning.selfplay.record import Record
from qdts.learning.selfplay.sampling import Moves
from qdts.nets.examples import PolicyExamples
from qdts.search.evaluation.evaluator import NOTHING


class BeliefTargets(NamedTuple):
    """Every SAMPLE node once, with how often each value of its hole was the true one; each time counts w."""

    nodes: Nodes  # [N]
    counts: Reals  # [N, X] by value
    times: Reals  # [N] how often the node occurred

    def weight(self, power: float) -> Reals:
        """(n · min(1, Σw))^power for each node. A node that occurred once has weight w, which is unbiased."""
        return np.asarray((self.times * np.minimum(1.0, self.counts.sum(1))) ** power)


def explorers_moves(record: Record) -> Moves:
    """The moves of the exploring seats, or of all seats in games without one.

    A player's own moves reveal nothing of what is hidden to them, so their belief follows from the others' play. The
    others' beliefs would be biased by the exploring player's moves.
    """
    who = np.repeat(record.explorer, np.diff(record.first))
    steps = np.flatnonzero((record.mover >= 0) & ((who == record.mover) | (who < 0)))
    mover, action = record.mover[steps].astype(np.int64), record.action[steps].astype(np.int64)
    once = np.ones(len(steps), np.int64)
    return Moves(record.worlds[steps], mover, action, once, once.astype(np.float64))


def belief_targets(game: Game, moves: Moves) -> BeliefTargets:
    """The SAMPLE nodes after these moves; equal nodes are merged."""
    chain, at, true = chain_after(game, moves.world, moves.mover, moves.action)
    chain = chain._replace(pending=np.full(len(chain.kind), NOTHING, np.int64))
    unique, which = distinct(chain)
    counts = np.zeros((len(unique.kind), game.num_values))
    np.add.at(counts, (which, true), moves.times[at] * moves.sound[at])
    times = np.bincount(which, moves.times[at], len(counts)).astype(np.float64)
    return BeliefTargets(unique, counts, times)


def belief_examples(game: Game, targets: BeliefTargets, power: float = 1.0) -> PolicyExamples:
    """The examples of H: distributions over the values of holes."""
    queries = queries_of(game, targets.nodes)
    target = np.take_along_axis(targets.counts, queries.choices, 1) / targets.counts.sum(1)[:, None]
    target[np.arange(target.shape[1]) >= queries.degree[:, None]] = 0.0
    return PolicyExamples(queries, target, targets.weight(power))

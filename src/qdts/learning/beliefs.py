"""What H is taught: the SAMPLE nodes at players' own views, with the true values of their holes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes import Nodes, distinct
from qdts.learning.record import Record
from qdts.learning.targets import decided_chain
from qdts.search.evaluation.evaluator import NOTHING


class Moves(NamedTuple):
    """Moves of players that H may learn from; M counts them, equal ones may be one."""

    world: Ints  # [M, W] before the move
    mover: Ints  # [M]
    action: Ints  # [M]
    times: Ints  # [M] how often it was made
    sound: Reals  # [M] w: how likely none of the others has explored before

    def of(self, player: int) -> Moves:
        """Those of one player."""
        return Moves._make(column[self.mover == player] for column in self)


class BeliefRows(NamedTuple):
    """SAMPLE nodes with how often each value of the hole was the true one, each time counting w."""

    nodes: Nodes  # [N]
    counts: Reals  # [N, X] by the value's number
    times: Reals  # [N] how often the node was met

    def weight(self, power: float) -> Reals:
        """How much each node counts: n · min(1, Σw), to a power. What was met once counts w, which is unbiased."""
        return np.asarray((self.times * np.minimum(1.0, self.counts.sum(1))) ** power)


def explorers_moves(record: Record) -> Moves:
    """Those of the exploring seats, or of all where nobody explores.

    What a player does himself tells him nothing of what is hidden, so what he believes follows from the others' play;
    what the others believe would be biased by his exploring.
    """
    who = np.repeat(record.explorer, np.diff(record.first))
    steps = np.flatnonzero((record.mover >= 0) & ((who == record.mover) | (who < 0)))
    mover, action = record.mover[steps].astype(np.int64), record.action[steps].astype(np.int64)
    once = np.ones(len(steps), np.int64)
    return Moves(record.worlds[steps], mover, action, once, once.astype(np.float64))


def belief_rows(game: Game, moves: Moves) -> BeliefRows:
    """The SAMPLE nodes after these moves, equal ones as one."""
    chain, at, true = decided_chain(game, moves.world, moves.mover, moves.action)
    chain = chain._replace(pending=np.full(len(chain.kind), NOTHING, np.int64))
    least, which = distinct(chain)
    counts = np.zeros((len(least.kind), game.num_values))
    np.add.at(counts, (which, true), moves.times[at] * moves.sound[at])
    times = np.bincount(which, moves.times[at], len(counts)).astype(np.float64)
    return BeliefRows(least, counts, times)

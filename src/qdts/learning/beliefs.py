"""What H is taught from games: the SAMPLE nodes at players' own views, with the true values of their holes.

What a player does himself tells him nothing of what is hidden, so that his own exploring does no harm. Another's would:
games in which another explored before would have to be left out. Where everybody explores, each counts for what it is
likely not to be one of those, given what the others did:

    w = Π (1 − e) P(a) / ((1 − e) P(a) + e / |A|)      over the others' moves before

    e       the share of their moves that is drawn evenly       P(a), |A|   of the action taken, at the mover's view

So H learns what follows from P, at views that P hardly ever leads to as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.kernels import Ints, Reals
from qdts.learning.nodes import Nodes, distinct
from qdts.learning.record import EVERYBODY, NO_SEARCH, Record
from qdts.learning.targets import decided_chain, entries, searched_nodes
from qdts.search.evaluator import NOTHING


class BeliefRows(NamedTuple):
    """SAMPLE nodes with how often each value of the hole was the true one, each time counting w."""

    nodes: Nodes  # [N]
    counts: Reals  # [N, X] by the value's number
    times: Ints  # [N] how often the node was met

    def weight(self, power: float) -> Reals:
        """How much each node counts: n · min(1, Σw), to a power. What was met once counts w, which is unbiased."""
        return np.asarray((self.times * np.minimum(1.0, self.counts.sum(1))) ** power)


def belief_rows(record: Record, explore: float = 0.0) -> BeliefRows:
    """The rows of the exploring seats' views, or of all where nobody explores, or everybody with this share."""
    game = record.game
    who = np.repeat(record.explorer, np.diff(record.first))
    steps = np.flatnonzero((record.mover >= 0) & ((who == record.mover) | (who < 0)))
    sound = likely_sound(record, explore) if (record.explorer == EVERYBODY).any() else np.ones(len(record.mover))
    chain, at, true = decided_chain(game, record, record.worlds, steps)
    chain = chain._replace(pending=np.full(len(chain.kind), NOTHING, np.int64))
    least, which = distinct(chain)
    counts = np.zeros((len(least.kind), game.num_values))
    np.add.at(counts, (which, true), sound[steps[at]])
    return BeliefRows(least, counts, np.bincount(which, minlength=len(counts)))


def likely_sound(record: Record, explore: float) -> Reals:
    """W at every step, for the player who moves there. float64[T]"""
    steps = np.flatnonzero(record.search != NO_SEARCH)
    p = record.move[entries(record, searched_nodes(record, steps), steps)]
    evenly = explore / np.diff(record.offset)[record.search[steps]]
    log_sound = np.zeros(len(record.mover))
    log_sound[steps] = np.log(np.maximum((1.0 - explore) * p, SMALLEST) / ((1.0 - explore) * p + evenly))
    out = _before(record, log_sound)
    for player in range(record.game.players):
        own = record.mover == player
        out[own] -= _before(record, np.where(own, log_sound, 0.0))[own]
    return np.asarray(np.exp(out))


SMALLEST = 1e-30
"""What the probability of a move counts as at least."""


def _before(record: Record, amount: Reals) -> Reals:
    """The sum of an amount over the steps of the same game before each step. float64[T]"""
    sums = np.cumsum(amount) - amount
    return sums - np.repeat(sums[record.first[:-1]], np.diff(record.first))

"""The targets of P: a distribution over the actions of every searched view.

A new target is a function of a record, and an entry of POLICY_TARGETS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.nodes import Nodes, arrive, queries_of
from qdts.learning.selfplay.record import NO_SEARCH, Record
from qdts.nets.examples import PolicyExamples, padded
from qdts.search.options.variants import Decision


class PolicyTargets(NamedTuple):
    """Searched views with the policy that P should be; the actions of one view are in a row, A in all."""

    nodes: Nodes  # [N]
    offset: Ints  # [N + 1] where the actions of each view begin
    target: Reals  # [A]
    weight: Reals  # [N]

    @property
    def entropy(self) -> float:
        """The mean entropy of the targets by weight, in nats."""
        entropy = -(self.target * np.log(np.maximum(self.target, 1e-12)))
        weight = np.repeat(self.weight, np.diff(self.offset))
        return float((weight * entropy).sum() / self.weight.sum())


class PolicyTarget(NamedTuple):
    """A kind of target."""

    decision: Decision
    """How the roots of self-play decide."""
    shares: Callable[[Record, Nodes, Ints], tuple[Reals, Reals]]
    """From a record, the nodes of its searches and the steps that were searched to the target of each action [A], and
    the number of moves that it stands for [N]."""


def searched(record: Record, nodes: Nodes, steps: Ints) -> tuple[Reals, Reals]:
    """The root's own target."""
    count = np.bincount(record.search[steps].astype(np.int64), minlength=len(nodes.kind)).astype(np.float64)
    return record.target.astype(np.float64), count


def played(record: Record, nodes: Nodes, steps: Ints) -> tuple[Reals, Reals]:
    """The frequency of each action among the moves that did not explore."""
    steps = steps[record.explored[steps] == 0]
    legal = batch.choices(record.game, nodes.vector, np.zeros(len(nodes.kind), np.int64))
    place = np.full((len(nodes.kind), record.game.num_actions), -1)
    place[legal.source, legal.number] = np.arange(len(legal.number))
    of = place[record.search[steps].astype(np.int64), record.action[steps]]
    times = np.bincount(of, minlength=len(legal.number)).astype(np.float64)
    total = np.add.reduceat(times, record.offset[:-1])
    return times / np.repeat(np.maximum(total, 1.0), np.diff(record.offset)), total


POLICY_TARGETS: Mapping[str, PolicyTarget] = {
    "mirror": PolicyTarget(Decision.MIRROR, searched),
    "lcb": PolicyTarget(Decision.LCB, searched),
    "played": PolicyTarget(Decision.MIRROR, played),
}
"""The targets by the setting `policy.target`."""


def policy_targets(record: Record, target: str = "mirror", *, power: float = 1.0) -> PolicyTargets:
    """Every searched view with its target, by its name in POLICY_TARGETS.

    A view with n moves has weight n to the `power`, and 0 without any.
    """
    steps = np.flatnonzero(record.search != NO_SEARCH)
    _, first = np.unique(record.search[steps].astype(np.int64), return_index=True)
    at = steps[first]
    nodes = arrive(record.game, record.worlds[at], record.mover[at].astype(np.int64))
    share, count = POLICY_TARGETS[target].shares(record, nodes, steps)
    return PolicyTargets(nodes, record.offset, share, np.where(count > 0, count**power, 0.0))


def policy_examples(game: Game, targets: PolicyTargets) -> PolicyExamples:
    """The examples of P."""
    queries = queries_of(game, targets.nodes)
    return PolicyExamples(queries, padded(queries, targets.target), targets.weight)

"""The targets of P: a distribution over the actions of every view that was searched, or met in sampled games.

A new target of searched views is a function of a record, and an entry of POLICY_TARGETS. The target of a sampled view
is the mirror step of P on its Q (`qdts.search.decision.mirror`), pulled towards the magnet ρ:

    π(a) ∝ [ P(a) · ρ(a)^(ηα) · exp(η Q(a) / σ) ]^(1 / (1 + ηα))
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
from qdts.learning.targets.estimates import Views
from qdts.nets.examples import PolicyExamples, padded
from qdts.search.decision.mirror import mirror_steps
from qdts.search.evaluation.evaluator import Queries
from qdts.search.options.variants import Decision

SMALLEST = 1e-9
"""What a probability counts as at least in a mirror step."""


class PolicyTargets(NamedTuple):
    """Searched views with the policy that P should be; the actions of one view are in a row, A in all."""

    nodes: Nodes  # [N]
    offset: Ints  # [N + 1] where the actions of each view begin
    target: Reals  # [A]
    weight: Reals  # [N]


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
    "visits": PolicyTarget(Decision.VISITS, searched),
    "lcb": PolicyTarget(Decision.LCB, searched),
    "played": PolicyTarget(Decision.MIRROR, played),
    "played-visits": PolicyTarget(Decision.VISITS, played),
}
"""The targets by the setting `policy.target`."""


def target_of(game: Game, name: str) -> str:
    """The name in POLICY_TARGETS that the setting `policy.target` stands for."""
    if name == "auto":
        return "mirror" if game.hidden else "visits"
    return name


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


def mirror_targets(views: Views, rho: Reals, step: Reals, temperature: float, sigma: float) -> Reals:
    """π at some views, 0 beyond their actions; `step` is η of each, `temperature` α, `sigma` σ. float64[I, B]

    It is the step with a uniform magnet on Q / σ + α log ρ.
    """
    prior, magnet = np.maximum(views.policy, SMALLEST), np.log(np.maximum(rho, SMALLEST))
    out = np.zeros_like(prior)
    mirror_steps(prior, views.action / sigma + temperature * magnet, views.degree, step, temperature, out)
    return out


def damped(step: float, worth: Reals, noise: float, sigma: float) -> Reals:
    """η of each view, smaller where noise is a larger part of its Q: η N / (N + s²/σ²). float64[I]"""
    return step * worth / (worth + (noise / sigma) ** 2)


def view_examples(queries: Queries, target: Reals, weight: Reals) -> PolicyExamples:
    """The examples of P at some views, from targets for as many choices as players have, at most."""
    wide = np.zeros(queries.choices.shape)
    wide[:, : target.shape[1]] = target
    return PolicyExamples(queries, wide, weight)

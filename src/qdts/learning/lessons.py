"""Rows of records as what models are taught (docs/learning.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdts.games.game import Game
from qdts.learning.answers import values_at
from qdts.learning.beliefs import BeliefRows
from qdts.learning.clock import Timed
from qdts.learning.config import Config
from qdts.learning.nodes import children, queries_of
from qdts.learning.targets import (
    OUTCOME,
    ValueRows,
    ValueTarget,
)
from qdts.nets.evaluator import Network
from qdts.nets.lessons import PolicyLesson, ValueLesson, joined


def target_of(config: Config) -> ValueTarget:
    """How the targets of V are made."""
    return OUTCOME if config.value.target == "outcome" else ValueTarget(config.value.mix, config.value.deblunder)


def value_lesson(game: Game, rows: ValueRows, network: Network | Timed | None = None) -> ValueLesson:
    """Targets of V, and of V_c, with a network: its V of the children."""
    queries = queries_of(game, rows.nodes)
    found = np.zeros((*queries.choices.shape, rows.target.shape[1]))
    if network is not None:
        below = children(game, queries)
        found[below.source, below.column] = values_at(game, network, below.nodes)
    taught = np.full(len(rows.weight), float(network is not None))
    return ValueLesson(queries, rows.target, rows.known, found, taught, rows.weight)


def all_values(lessons: Sequence[ValueLesson]) -> ValueLesson:
    """Several lessons as one, the last of which teaches V_c: what a network says of children is soon out of date."""
    whole = joined(lessons)
    newest = np.repeat([0.0] * (len(lessons) - 1) + [1.0], [len(x.weight) for x in lessons])
    return whole._replace(taught=whole.taught * newest)


def belief_lesson(game: Game, rows: BeliefRows, power: float = 1.0) -> PolicyLesson:
    """Targets of H: how often each value was the true one."""
    queries = queries_of(game, rows.nodes)
    target = np.take_along_axis(rows.counts, queries.choices, 1) / rows.counts.sum(1)[:, None]
    target[np.arange(target.shape[1]) >= queries.degree[:, None]] = 0.0
    return PolicyLesson(queries, target, rows.weight(power))

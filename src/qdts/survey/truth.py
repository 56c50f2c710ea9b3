"""What Q should be at the root of a search, and how far it is from that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from qdts.games.interface import NO_HOLE
from qdts.kernels import Reals
from qdts.rng import seeded
from qdts.search.evaluation.builtin import Table
from qdts.search.evaluation.evaluator import ACT, NOTHING, Query
from qdts.search.everywhere import SearchedStrategy
from qdts.solving.exact.values import view_reach
from qdts.solving.policy.table import Policy
from qdts.solving.tree.recent import game_tree
from qdts.survey.rows import QError


class Truth(NamedTuple):
    """What Q should be at the root of a search from any view of a game."""

    q: Reals
    """float64[A]: Q^P of each action at its view, exactly."""
    weight: Reals
    """float64[A]: how likely the others and chance lead to the view."""
    scale: float
    """S"""

    def error(self, found: Sequence[SearchedStrategy]) -> QError:
        """The errors of searches with different seeds, over the actions that were visited.

        An action counts as much as the others and chance make its view likely.
        """
        middle = np.array([(f.q_lo + f.q_hi) / 2 for f in found])
        width = np.array([f.q_hi - f.q_lo for f in found]) / self.scale
        visited = np.array([f.count > 0 for f in found])
        error = (middle - self.q) / self.scale
        weight = np.where(visited, self.weight, 0.0)
        seeds = visited.sum(0)
        mean = np.where(visited, error, 0.0).sum(0) / np.maximum(seeds, 1)
        square = np.where(visited, (error - mean) ** 2, 0.0).sum(0) / np.maximum(seeds - 1, 1)
        often = np.where(seeds > 1, self.weight, 0.0)
        return QError(
            bias=float(np.average(error, weights=weight)),
            rms=float(np.sqrt(np.average(error**2, weights=weight))),
            spread=float(np.sqrt(np.average(square, weights=often))) if often.any() else None,
            width=float(np.average(width, weights=weight)),
        )


def truth_of(policy: Policy) -> Truth:
    """By the table of a policy, which has no errors."""
    game, tree = policy.game, game_tree(policy.game)
    sets, exact, state = tree.infosets, Table(policy), seeded(0)
    q = []
    for i, (view, owner) in enumerate(zip(sets.views, sets.owner, strict=True)):
        choices = sets.action[sets.offset[i] : sets.offset[i + 1]].astype(np.int64)
        query = Query(ACT, view, int(owner), NOTHING, NO_HOLE, choices, np.zeros(len(choices)))
        q.append(exact.evaluate(query, state).child_values[:, 0])
    weight = view_reach(tree, policy.probability)
    return Truth(np.concatenate(q), np.repeat(weight, np.diff(sets.offset)), game.scale)

"""Policies that many tests need."""

from __future__ import annotations

import numpy as np

from qdts import Game, Policy
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree


def random_policy(game: Game, seed: int) -> Policy:
    """A policy with random probabilities at every view."""
    tree = game_tree(game)
    weight = np.random.default_rng(seed).exponential(size=len(tree.infosets.action))
    norm = np.repeat(np.add.reduceat(weight, tree.infosets.offset[:-1]), np.diff(tree.infosets.offset))
    return policy_on(tree, weight / norm)

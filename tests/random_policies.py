"""Policies that mix at every information set, for tests that need one without structure."""

from __future__ import annotations

import numpy as np

from qdts.games.game import Game
from qdts.solving.policy import Policy, game_tree, policy_on


def random_policy(game: Game, seed: int) -> Policy:
    """A policy whose distributions are uniform on the simplex."""
    tree = game_tree(game)
    weight = np.random.default_rng(seed).exponential(size=len(tree.infosets.action))
    norm = np.repeat(np.add.reduceat(weight, tree.infosets.offset[:-1]), np.diff(tree.infosets.offset))
    return policy_on(tree, weight / norm)

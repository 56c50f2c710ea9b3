"""Inference from the others' moves, by searches from where they were made (belief = `visits`).

Cowling et al. (2015) infer from the trees of earlier decisions. Here the earlier views are searched when their policy
is needed, each with the same options, visits and belief; before the first views of a game nobody has moved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.search.beliefs.completions import Completions, completions
from qdts.search.beliefs.likelihoods import history_of, likelihood, verify_replay
from qdts.search.decision.result import Result
from qdts.search.seeds import nested_seed

Search = Callable[[Ints, int, int, "Inference"], Result]
"""A search from a view of a player with a seed, which may need more inference."""


class Inference:
    """Beliefs by searches. What is inferred is a function of the view and the seed."""

    def __init__(self, game: Game, seed: int, search: Search) -> None:
        verify_replay(game, "visits")
        self.game, self.seed, self.search = game, seed, search
        self._known: dict[tuple[int, bytes], dict[int, float]] = {}

    def belief(self, view: Ints, player: int) -> Completions:
        """The completions of a view and the probability of each."""
        worlds, rules = completions(self.game, view)
        weights = np.array(
            [
                likelihood(self.game, history_of(self.game, world), player, self.policy, weight)
                for world, weight in zip(worlds, rules.tolist(), strict=True)
            ]
        )
        return Completions(worlds, weights / weights.sum())

    def policy(self, view: Ints, player: int) -> dict[int, float]:
        """(N(a) + 1) / (ΣN + k) of a search from a view; uniform while that search runs."""
        key = player, view.tobytes()
        if key not in self._known:
            legal = self.game.legal(view)
            self._known[key] = dict.fromkeys(legal, 1 / len(legal))
            result = self.search(view, player, nested_seed(view, player, self.seed), self)
            shares = (result.visits + 1) / (result.visits.sum() + len(result.visits))
            self._known[key] = dict(zip(result.actions.tolist(), shares.tolist(), strict=True))
        return self._known[key]

"""What the moves that others have made tell about a world: searches from where they made them (belief = `visits`).

Cowling et al. (2015) infer from the trees of earlier decisions. Here the searches of earlier views are made when they
are wanted, each by the same options, visits and belief; the first views of a game have nobody's move to learn from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.search.beliefs.completions import completions
from qdts.search.beliefs.likelihoods import likelihood, verify_replay, way_to
from qdts.search.decision.result import Result
from qdts.search.seeds import nested_seed

Search = Callable[[Ints, int, int, "Inference"], Result]
"""A search from a view of a player with a seed, which may ask for more inference."""


class Inference:
    """Beliefs by searches. What is inferred is a function of the view and the seed."""

    def __init__(self, game: Game, seed: int, search: Search) -> None:
        verify_replay(game, "visits")
        self.game, self.seed, self.search = game, seed, search
        self._known: dict[tuple[int, bytes], dict[int, float]] = {}

    def believed(self, view: Ints, player: int) -> tuple[Ints, Reals]:
        """The completions of a view and how likely each is, summing to one."""
        worlds, rules = completions(self.game, view)
        weights = np.array(
            [
                likelihood(self.game, way_to(self.game, world), player, self.policy, weight)
                for world, weight in zip(worlds, rules.tolist(), strict=True)
            ]
        )
        return worlds, weights / weights.sum()

    def policy(self, view: Ints, player: int) -> dict[int, float]:
        """(N(a) + 1) / (ΣN + k) of a search from a view; even where that search is under way already."""
        key = player, view.tobytes()
        if key not in self._known:
            legal = self.game.legal(view)
            self._known[key] = dict.fromkeys(legal, 1 / len(legal))
            result = self.search(view, player, nested_seed(view, player, self.seed), self)
            shares = (result.visits + 1) / (result.visits.sum() + len(result.visits))
            self._known[key] = dict(zip(result.actions.tolist(), shares.tolist(), strict=True))
        return self._known[key]

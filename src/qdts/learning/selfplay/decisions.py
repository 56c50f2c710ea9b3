"""The decisions of self-play: by search, with a magnet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.evaluation import NO_ACTION, policy_at
from qdts.nets.evaluator import Network
from qdts.search.decision.result import Result
from qdts.search.decision.root import decide as decide_root
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.search.seeds import view_seed

SMALLEST = 1e-9
"""What a probability of the magnet counts as at least."""


class Decisions(NamedTuple):
    """What searches decided at S views; the actions of one view are in a row, A in all."""

    offset: Ints  # [S + 1] where the actions of each view begin
    visits: Ints  # [A]
    q_lo: Reals  # [A]
    q_hi: Reals  # [A]
    prior: Reals  # [A]
    move: Reals  # [A]
    target: Reals  # [A]


Decide = Callable[[Ints, Ints], Decisions]
"""From views [S, W] and the players to move there [S] to decisions."""


class Magnet(NamedTuple):
    """ρ = (1 − ε) P̄ + ε / |A|: a policy, mixed with uniform play."""

    network: Network | Timed
    """P̄"""
    uniform: float
    """ε"""

    def at(self, views: Ints, players: Ints) -> Reals:
        """ρ at some views, undefined beyond the actions of each. float64[N, B]"""
        p = policy_at(self.network.game, self.network, views, players)
        return (1.0 - self.uniform) * p + self.uniform / (p > NO_ACTION).sum(1, keepdims=True)


@dataclass(frozen=True)
class BySearch:
    """Decisions by a search from every view; the seed of each follows from its view.

    With a magnet ρ the root's mirror step is pulled towards that policy. It is the step with the uniform magnet on
    q + α log ρ, since P · ρ^(ηα) · exp(η q) = P · exp(η (q + α log ρ)).
    """

    game: Game
    network: Network | Timed
    options: Options
    visits: int
    lanes: int
    """Searches side by side."""
    seed: int
    threads: int = 1
    magnet: Magnet | None = None

    def __call__(self, views: Ints, players: Ints) -> Decisions:
        """What is decided at some views."""
        results: list[Result] = []
        for first in range(0, len(views), self.lanes):
            part = slice(first, first + self.lanes)
            results += run_searches(
                self.game, list(views[part]), players[part].tolist(), self.options, self.visits,
                evaluator=self.network, seeds=[view_seed(view, self.seed) for view in views[part]],
                threads=self.threads,
            )  # fmt: skip
        if self.magnet is not None and self.options.decision == "mirror":
            rho = self.magnet.at(views, players)
            results = [self._pulled(r, rho[i, : len(r.actions)]) for i, r in enumerate(results)]
        columns = ([getattr(r, name) for r in results] for name in Decisions._fields[1:])
        offset = np.cumsum([0, *(len(r.actions) for r in results)])
        return Decisions(offset, *(np.concatenate(column) for column in columns))

    def _pulled(self, result: Result, rho: Reals) -> Result:
        """The root's decision with a magnet."""
        scale = self.game.scale
        pull = scale * self.options.root_temperature * np.log(np.maximum(rho, SMALLEST))
        decided = decide_root(self.options, scale, result.visits, result.q_lo + pull, result.q_hi + pull, result.prior)
        return replace(result, move=decided.move, target=decided.target)

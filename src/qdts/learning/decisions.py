"""How self-play decides: by search, with a magnet."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.answers import policy_at
from qdts.learning.clock import Timed
from qdts.learning.config import Config
from qdts.learning.schedule import at
from qdts.learning.selfplay import Decide, Decisions
from qdts.nets.evaluator import Network
from qdts.search.decision.result import Result
from qdts.search.decision.root import decide as decide_root
from qdts.search.options.options import Options
from qdts.search.options.parsing import read_search
from qdts.search.options.variants import Belief, Decision
from qdts.search.run import run_searches
from qdts.search.seeds import view_seed

SMALLEST = 1e-9
"""What a magnet's probability counts as at least."""


def options_at(game: Game, config: Config, progress: float) -> Options:
    """The options of the searches when so much of a run is done."""
    s = config.search
    options = read_search(game, s.name)
    if options.machine != "forest":
        raise InputError(f"search.name={s.name} plays games out and asks no network, expected qdts, mmds, puct or such")
    eps = at(s.eps, s.eps_last, progress)
    return replace(
        options,
        eps_sample=eps,
        eps_opponent=eps,
        decision=Decision.LCB if config.policy.target == "lcb" else Decision.MIRROR,
        root_step=at(s.step, s.step_last, progress),
        root_temperature=at(s.temperature, s.temperature_last, progress),
        belief=Belief.EXACT if config.belief.source == "exact" else options.belief,
    )


def by_search(
    game: Game,
    network: Network | Timed,
    options: Options,
    visits: int,
    slots: int,
    seed: int,
    threads: int,
    magnet: Magnet | None = None,
) -> Decide:
    """Decisions by a search from every view, so many at a time; the seed of each follows from its view.

    With a magnet ρ the root's mirror step is pulled towards that policy. It is the step with the even magnet on
    q + α log ρ, since P · ρ^(ηα) · exp(η q) = P · exp(η (q + α log ρ)).
    """

    def decide(views: Ints, players: Ints) -> Decisions:
        results = []
        for first in range(0, len(views), slots):
            part = slice(first, first + slots)
            results += run_searches(
                game, list(views[part]), players[part].tolist(), options, visits,
                evaluator=network, seeds=[view_seed(view, seed) for view in views[part]], threads=threads,
            )  # fmt: skip
        if magnet is not None and options.decision == "mirror":
            rho = magnet.at(views, players)
            results = [_pulled(game, options, r, rho[i, : len(r.actions)]) for i, r in enumerate(results)]
        columns = ([getattr(r, name) for r in results] for name in Decisions._fields[1:])
        offset = np.cumsum([0, *(len(r.actions) for r in results)])
        return Decisions(offset, *(np.concatenate(column) for column in columns))

    return decide


class Magnet(NamedTuple):
    """ρ: a policy, mixed with even play."""

    network: Network | Timed
    even: float

    def at(self, views: Ints, players: Ints) -> Reals:
        """ρ at some views; what lies beyond the actions of each means nothing. float64[N, B]"""
        p = policy_at(self.network.game, self.network, views, players)
        return (1.0 - self.even) * p + self.even / (p > -1.0).sum(1, keepdims=True)


def _pulled(game: Game, options: Options, result: Result, rho: Reals) -> Result:
    """What the root decides with a magnet."""
    scale = game.scale
    pull = scale * options.root_temperature * np.log(np.maximum(rho, SMALLEST))
    decided = decide_root(options, scale, result.visits, result.q_lo + pull, result.q_hi + pull, result.prior)
    return replace(result, move=decided.move, target=decided.target)

"""One generation: play games by search, teach P, V and V_c, sample games from the new P, teach H."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.config import Config
from qdts.learning.nodes import Nodes, children, queries_of
from qdts.learning.schedule import at
from qdts.learning.selfplay import Decide, Decisions
from qdts.learning.targets import (
    OUTCOME,
    BeliefRows,
    ValueRows,
    ValueTarget,
)
from qdts.nets.evaluator import Network
from qdts.nets.learner import Learner
from qdts.nets.lessons import PolicyLesson, ValueLesson
from qdts.search.decision import decide as decide_root
from qdts.search.evaluator import ACT, TERMINAL, Answers, Queries
from qdts.search.name import read_search
from qdts.search.options import Options
from qdts.search.requests import empty_answers
from qdts.search.result import Result
from qdts.search.run import run_searches
from qdts.search.searched import view_seed
from qdts.search.settings import scale_of

SELF_PLAY, FITTING, SAMPLING, BELIEF_FITTING = range(4)
"""What a stream of random numbers is for."""
SMALLEST = 1e-9
"""What a magnet's probability counts as at least."""


@dataclass
class Clock:
    """Seconds spent on each part of the work."""

    spent: dict[str, float] = field(default_factory=dict)
    evaluations: int = 0
    """Queries that networks have answered."""

    def add(self, part: str, seconds: float) -> None:
        """So much more on a part."""
        self.spent[part] = self.spent.get(part, 0.0) + seconds

    def lap(self, part: str, since: float) -> None:
        """What has passed since some moment was spent on a part."""
        self.add(part, time.perf_counter() - since)


class Timed:
    """A network whose time is added up on a clock."""

    def __init__(self, network: Network, clock: Clock) -> None:
        self.game = network.game
        self.answer = network.answer
        self._network = network
        self._clock = clock

    def answer_batch(self, queries: Queries, answers: Answers) -> None:
        """Write the answer to every query."""
        began = time.perf_counter()
        self._network.answer_batch(queries, answers)
        self._clock.add("network", time.perf_counter() - began)
        self._clock.evaluations += len(queries.kind)


def network_of(learner: Learner, config: Config, *, average: bool = False) -> Network:
    """The newest models, or those with averaged weights, as an evaluator that has seen nothing yet."""
    return Network(
        learner.game, learner.average if average else learner.model, learner.belief,
        batch=config.play.batch, cache=config.play.cache, device=str(learner.device),
    )  # fmt: skip


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
        decision="lcb" if config.policy.target == "lcb" else "mirror",
        root_step=at(s.step, s.step_last, progress),
        root_temperature=at(s.temperature, s.temperature_last, progress),
        belief="exact" if config.belief.source == "exact" else options.belief,
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
    scale = scale_of(game)
    pull = scale * options.root_temperature * np.log(np.maximum(rho, SMALLEST))
    decided = decide_root(options, scale, result.visits, result.q_lo + pull, result.q_hi + pull, result.prior)
    return replace(result, move=decided.move, target=decided.target)


def by_policy(game: Game, network: Network | Timed) -> Decide:
    """Decisions by P alone."""

    def decide(views: Ints, players: Ints) -> Decisions:
        p = policy_at(game, network, views, players)
        there = np.arange(p.shape[1]) < (counts := (p > -1.0).sum(1))[:, None]
        prior = p[there]
        nothing = np.zeros(len(prior))
        return Decisions(np.cumsum([0, *counts]), nothing.astype(np.int64), nothing, nothing, prior, prior, prior)

    return decide


def policy_at(game: Game, network: Network | Timed, views: Ints, players: Ints) -> Reals:
    """P at some views; -1 beyond the actions of each. float64[N, B]"""
    nothing = np.full(len(views), -1)
    queries = queries_of(game, Nodes(np.full(len(views), ACT), views, players, nothing, nothing))
    answers = empty_answers(game, len(views))
    network.answer_batch(queries, answers)
    return np.where(np.arange(answers.prior.shape[1]) < queries.degree[:, None], answers.prior, -1.0)


def values_at(game: Game, network: Network | Timed, nodes: Nodes) -> Reals:
    """V of some nodes, and the returns of finished games. float64[N, K]"""
    k = 1 if game.hidden else game.players
    out = np.zeros((len(nodes.kind), k))
    over = nodes.kind == TERMINAL
    if over.any():
        returns = batch.returns(game, nodes.vector[over])
        out[over] = np.take_along_axis(returns, nodes.player[over][:, None], 1) if game.hidden else returns
    if not over.all():
        going = np.flatnonzero(~over)
        answers = empty_answers(game, len(going))
        network.answer_batch(queries_of(game, nodes.take(going)), answers)
        out[going] = answers.value
    return out


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
    queries = Queries._make(np.concatenate(c) for c in zip(*(x.queries for x in lessons), strict=True))
    rest = ValueLesson._make((queries, *(np.concatenate(c) for c in zip(*(x[1:] for x in lessons), strict=True))))
    newest = np.repeat([0.0] * (len(lessons) - 1) + [1.0], [len(x.weight) for x in lessons])
    return rest._replace(taught=rest.taught * newest)


def belief_lesson(game: Game, rows: BeliefRows) -> PolicyLesson:
    """Targets of H: how often each value was the true one."""
    queries = queries_of(game, rows.nodes)
    count = rows.counts.sum(1)
    target = np.take_along_axis(rows.counts, queries.choices, 1) / count[:, None]
    target[np.arange(target.shape[1]) >= queries.degree[:, None]] = 0.0
    return PolicyLesson(queries, target, count)


def target_of(config: Config) -> ValueTarget:
    """How the targets of V are made."""
    return OUTCOME if config.value.target == "outcome" else ValueTarget(config.value.mix, config.value.deblunder)


def stream_of(seed: int, generation: int, purpose: int) -> np.random.Generator:
    """The random numbers of a generation for one purpose."""
    return np.random.default_rng([seed, generation, purpose])

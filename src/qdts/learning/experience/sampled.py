"""Experience from games sampled from P in bulk: values of P, and from them the targets (`docs/learning.md`).

Every seat explores in one part of the games. What P is worth follows from the games and V_c; P learns the mirror step
on that, V and V_c learn it, and H learns which worlds were behind the views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TypeVar

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.learning.config import Config, at
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.experience import SELF_PLAY, BeliefExamples, Experience, Report, Resources
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Clock, Timed
from qdts.learning.nodes.evaluation import NO_ACTION, act_nodes, policy_at, policy_of, values_of_children
from qdts.learning.nodes.nodes import arrive, distinct, queries_of, views_of
from qdts.learning.selfplay.record import Record
from qdts.learning.selfplay.sampling import Evaluate, Guess, Level, sample_games
from qdts.learning.targets.bayes import bayes_examples
from qdts.learning.targets.belief import belief_examples, belief_targets, choose_sampled_moves
from qdts.learning.targets.estimates import (
    BASELINES,
    Estimates,
    Views,
    estimate,
    noise,
    residual,
    spread,
    views_of_movers,
)
from qdts.learning.targets.policy import damped, mirror_targets, view_examples
from qdts.learning.targets.sampled_values import value_examples_of
from qdts.learning.targets.value import with_children
from qdts.nets.bayes import BayesExamples
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, choose
from qdts.nets.networks import Made, apart
from qdts.search.evaluation.batches import empty_evaluations

T = TypeVar("T")
MEMORY = 1 << 28
"""Bytes that the histories of some games may take, about."""
HISTORIES = 100_000
"""About the most histories of games, where nothing else bounds their number."""
FIRST_GAMES, MOST_GAMES = 10_000, 1_000_000
"""Games of the first generation, and of any later one, where their histories decide how many they are; at most."""
MANY = 8
"""Games for each history, from which on those of all seats are sampled in one pass."""
NETWORKS = 3
"""P, V with V_c, and H: each makes its examples in the thread that fits it."""
TRIAL = 16
"""Games from which the length of a game is estimated."""
SLOW = 0.05
"""The share of a new spread in the running one."""
LEAST_SPREAD = 0.01
"""What the spread counts as at least, in units of S."""


def policy_only(network: Network | Timed) -> Evaluate:
    """P in every world, without V_c: for games that only H learns from."""
    game = network.game

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        policy = np.zeros((len(worlds), game.max_branching))
        acts = np.flatnonzero(mover >= 0)
        if len(acts):
            seen, players = views_of(game, worlds[acts], mover[acts]), mover[acts]
            which, first = distinct_rows(np.column_stack([players, seen]))
            known = policy_at(game, network, seen[first], players[first])[:, : game.max_branching]
            policy[acts, : known.shape[1]] = np.maximum(known, 0.0)[which]
        return Guess(policy, np.zeros((len(worlds), game.max_branching, 0), np.float32))

    return evaluate


def policy_and_values(network: Network | Timed, *, evaluated: bool = False) -> Evaluate:
    """P in every world, and V_c of every player, or V of all children, each `evaluated` by itself."""
    game, width = network.game, network.game.max_branching

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        owner = np.repeat(np.arange(game.players), len(worlds))
        nodes, which = distinct(arrive(game, np.tile(worlds, (game.players, 1)), owner))
        evaluations, queries = empty_evaluations(game, len(nodes.kind)), queries_of(game, nodes)
        network.evaluate_batch(queries, evaluations)
        below = values_of_children(game, network, queries) if evaluated else evaluations.children
        which = which.reshape(game.players, len(worlds))
        children = np.stack([below[rows, :width, 0].astype(np.float32) for rows in which], 2)
        own = which[np.maximum(mover, 0), np.arange(len(worlds))]
        legal = np.arange(width) < queries.degree[own, None]
        return Guess(np.where(legal, evaluations.prior[own, :width], 0.0), children)

    return evaluate


def bayes_of(
    game: Game, config: Config, levels: list[Level], network: Network | Timed, steps: int, stream: np.random.Generator
) -> BayesExamples | None:
    """Examples for the loss that holds H to Bayes' rule in so many steps; None where it has no weight."""
    belief = config.belief
    if belief.bayes == 0.0:
        return None
    most = steps * config.fit.rows
    return bayes_examples(game, levels, network, since=belief.bayes_since, most=most, power=belief.power, stream=stream)


def most_histories(game: Game, wanted: int) -> int:
    """As many histories as are wanted, or fewer where they take too much memory."""
    size = 8 * (game.world_size + 4 * game.max_branching) + 12 * game.max_branching * game.players
    return min(wanted, MEMORY // size)


def most_examples(game: Game, wanted: int) -> int:
    """As many examples as are wanted, or fewer where they take too much memory; their vectors are copied four times."""
    return min(wanted, MEMORY // (32 * (game.world_size + game.max_branching)))


def most_games(game: Game, wanted: int, histories: int = HISTORIES) -> int:
    """As many games as are wanted, or fewer where their histories could be too many or take too much memory."""
    return max(1, min(wanted, int(most_histories(game, histories) / _mean_length(game))))


def next_games(games: int, histories: int, most: int) -> int:
    """How many games have about `most` histories, if the last `games` had `histories`; twice as many, at most.

    Games share histories, so there may be no such number in a small game. Then it rises to MOST_GAMES.
    """
    return max(1, min(MOST_GAMES, int(games * min(2.0, most / histories))))


@lru_cache(maxsize=16)
def _mean_length(game: Game) -> float:
    """The mean number of histories of a game with random moves."""

    def uniform(worlds: Ints, mover: Ints) -> Guess:
        degree = batch.choices(game, worlds, mover).counts
        legal = np.arange(game.max_branching) < degree[:, None]
        policy = np.where(legal, 1.0 / degree[:, None], 0.0)
        return Guess(policy, np.zeros((len(worlds), game.max_branching, 0), np.float32))

    levels = sample_games(game, uniform, TRIAL, np.zeros((1, game.players)), np.random.default_rng(0))
    return sum(int(level.times.sum()) for level in levels) / TRIAL


class SampledGames:
    """Samples the games of a generation and makes its experience of them."""

    has_records = False

    def __init__(self, resources: Resources) -> None:
        self._with = resources
        self._spread: float | None = None
        """The running σ, in units of S."""
        self.coverage = Coverage()
        play = resources.config.play
        self._games = (
            most_games(resources.game, play.games)
            if play.games
            else most_games(resources.game, FIRST_GAMES, play.histories)
        )
        """Of the next generation."""
        self._shared = False
        """Whether many games meet each of its histories: then seats meet the same ones, and share one pass."""

    def make(self, generation: int, progress: float, report: Report) -> Experience:
        """The experience of a generation."""
        game, config = self._with.game, self._with.config
        stream, *streams = self._with.stream(generation, SELF_PLAY).spawn(4)
        games = self._games
        levels, estimates = self._sample(stream, report)
        histories = sum(len(level.times) for level in levels)
        self._plan(games, histories)
        most = config.fit.steps * config.fit.rows

        views = views_of_movers(game, levels, estimates)
        self.coverage.put(views.view, views.player)
        self._follow(spread(levels, estimates) / game.scale)

        def belief(clock: Clock) -> BeliefExamples:
            steps, stream = config.belief.steps, streams[2]
            moves = choose_sampled_moves(game, levels, steps * config.fit.rows, stream)
            examples = belief_examples(game, belief_targets(game, moves), config.belief.power)
            return BeliefExamples(examples, bayes_of(game, config, levels, self._network(clock), steps, stream))

        def policy(clock: Clock) -> PolicyExamples:
            return self._policy_examples(views, most, progress, streams[0], clock)

        def value(clock: Clock) -> ValueExamples:
            power, stream = config.policy.power, streams[1]
            examples = value_examples_of(game, levels, estimates, views, most=most, power=power, stream=stream)
            by_network = config.value.child_target == "network"
            return with_children(game, examples, self._network(clock)) if by_network else examples

        metrics: Line = {
            "games": games,
            "generation_games": games,
            "histories": histories,
            "views": len(views.player),
            "root_step": at(config.policy.step, config.policy.step_last, progress),
            "root_temperature": at(config.policy.temperature, config.policy.temperature_last, progress),
            "spread": self._spread,
            "noise": noise(views) / game.scale,
            "value_residual": residual(levels, estimates) / game.scale**2,
        }
        beliefs = self._made(belief) if config.belief.source == "sampled" else None
        if beliefs is not None and config.belief.bayes > 0.0:
            beliefs()  # now: it needs P of these games, whose fit may begin before that of H
        return Experience(self._made(policy), self._made(value), beliefs, metrics)

    def resume(self, last: Line, _: list[Record], /) -> None:
        """Take over the running spread, and how many games come next."""
        self._spread = last.get("spread")
        if "generation_games" in last:
            self._plan(last["generation_games"], last["histories"])

    def outcome_residual(self) -> None:
        """Nothing: outcomes are not kept."""

    def _sample(self, stream: np.random.Generator, report: Report) -> tuple[list[Level], list[Estimates]]:
        """Games in which each seat in turn explores most, with their estimates."""
        game, play, baseline = self._with.game, self._with.config.play, self._with.config.value.baseline
        each = -(-self._games // game.players)
        explore = np.full((game.players, game.players), play.explore_others)
        np.fill_diagonal(explore, play.explore)

        def sample(explore: Reals, stream: np.random.Generator, clock: Clock) -> tuple[list[Level], list[Estimates]]:
            evaluate = policy_and_values(self._network(clock), evaluated=baseline == "evaluated")
            with clock.part("games", "network"):
                levels = sample_games(game, evaluate, each, explore, stream)
            return levels, estimate(levels, BASELINES[baseline])

        report("self-play", 0.0)
        seats = [explore] if self._shared else np.split(explore, game.players)
        found = self._apart([partial(sample, *of) for of in zip(seats, stream.spawn(len(seats)), strict=True)])
        report("self-play", 1.0)
        return [x for levels, _ in found for x in levels], [x for _, estimates in found for x in estimates]

    def _made(self, job: Callable[[Clock], T]) -> Made[T]:
        """What a job returns, which is done when somebody first asks; its time counts on the clock.

        What the job needs of the games is held no longer than that.
        """
        jobs = [job]
        del job

        @cache
        def made() -> T:
            clock = Clock()
            with clock.part("examples", "network"):
                found = jobs.pop()(clock)
            self._with.clock.add(clock, 1.0 / min(self._with.threads, NETWORKS))
            return found

        return made

    def _apart(self, jobs: Sequence[Callable[[Clock], T]]) -> list[T]:
        """What each job returns; they share threads, and each has a clock of its own."""
        clocks, threads = [Clock() for _ in jobs], self._with.threads
        found = apart([partial(job, clock) for job, clock in zip(jobs, clocks, strict=True)], threads)
        for clock in clocks:
            self._with.clock.add(clock, 1.0 / min(threads, len(jobs)))
        return found

    def _network(self, clock: Clock, *, average: bool = False) -> Timed:
        """The newest networks, or those of averaged weights, with buffers of their own."""
        return Timed(self._with.evaluator(average=average, bulk=True), clock)

    def _plan(self, games: int, histories: int) -> None:
        """Set how the games of the next generation are sampled, after one of so many games and histories."""
        play = self._with.config.play
        self._shared = MANY * histories < games
        if not play.games:
            self._games = next_games(games, histories, most_histories(self._with.game, play.histories))

    def _follow(self, measured: float) -> None:
        """Move the running spread towards a new one."""
        measured = max(measured, LEAST_SPREAD)
        self._spread = measured if self._spread is None else self._spread + SLOW * (measured - self._spread)

    def _policy_examples(
        self, views: Views, most: int, progress: float, stream: np.random.Generator, clock: Clock
    ) -> PolicyExamples:
        """Examples of P: the mirror step at views, chosen by weight where there are too many."""
        game, p = self._with.game, self._with.config.policy
        rows, weight = choose(views.times**p.power, most, stream)
        chosen = views.take(rows)
        queries = queries_of(game, act_nodes(chosen.view, chosen.player))
        rho = policy_of(game, self._network(clock, average=True), queries)[:, : game.max_branching]
        uniform = at(p.uniform, p.uniform_last, progress)
        rho = (1.0 - uniform) * rho + uniform / chosen.degree[:, None]
        assert self._spread is not None
        sigma = game.scale * (self._spread if p.unit == "spread" else 1.0)
        step, temperature = at(p.step, p.step_last, progress), at(p.temperature, p.temperature_last, progress)
        doubt = noise(views) if p.damped else 0.0
        steps = damped(step, chosen.worth, doubt, game.scale * self._spread)
        target = mirror_targets(chosen, np.where(rho > NO_ACTION, rho, 0.0), steps, temperature, sigma)
        return view_examples(queries, target, weight)

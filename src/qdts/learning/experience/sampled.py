"""Experience from games sampled from P in bulk: values of P, and from them the targets (`docs/learning.md`).

Every seat explores in one part of the games. What P is worth follows from the games and V_c; P learns the mirror step
on that, V and V_c learn it, and H learns which worlds were behind the views.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints
from qdts.learning.config import Config, at
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.experience import SELF_PLAY, Experience, Report, Resources
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.evaluation import NO_ACTION, policy_at, values_of_children
from qdts.learning.nodes.nodes import arrive, distinct, queries_of, unique_rows, views_of
from qdts.learning.selfplay.record import Record
from qdts.learning.selfplay.sampling import Evaluate, Guess, Level, sample_games
from qdts.learning.targets.bayes import bayes_examples
from qdts.learning.targets.belief import belief_examples, belief_targets, choose_moves, moves_in
from qdts.learning.targets.estimates import BASELINES, Estimates, Views, estimate, spread, views_of_movers
from qdts.learning.targets.policy import mirror_targets, view_examples
from qdts.learning.targets.sampled_values import value_examples_of
from qdts.learning.targets.value import with_children
from qdts.nets.bayes import BayesExamples
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, choose
from qdts.search.evaluation.batches import empty_evaluations

MEMORY = 1 << 28
"""Bytes that the histories of some games may take, about."""
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
            first, which = unique_rows(np.column_stack([players, seen]))
            known = policy_at(game, network, seen[first], players[first])[:, : game.max_branching]
            policy[acts, : known.shape[1]] = np.maximum(known, 0.0)[which]
        return Guess(policy, np.zeros((len(worlds), game.max_branching, 0), np.float32))

    return evaluate


def policy_and_values(network: Network | Timed, *, evaluated: bool = False) -> Evaluate:
    """P in every world, and V_c of every player, or V of all children, each `evaluated` by itself."""
    game, width = network.game, network.game.max_branching

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        policy = np.zeros((len(worlds), width))
        children = np.zeros((len(worlds), width, game.players), np.float32)
        for player in range(game.players):
            nodes, which = distinct(arrive(game, worlds, np.full(len(worlds), player)))
            evaluations = empty_evaluations(game, len(nodes.kind))
            queries = queries_of(game, nodes)
            network.evaluate_batch(queries, evaluations)
            below = values_of_children(game, network, queries) if evaluated else evaluations.children
            children[:, :, player] = below[which, :width, 0]
            own = np.flatnonzero(mover == player)
            legal = np.arange(width) < queries.degree[which[own], None]
            policy[own] = np.where(legal, evaluations.prior[which[own], :width], 0.0)
        return Guess(policy, children)

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


def most_games(game: Game, config: Config, wanted: int) -> int:
    """As many games as are wanted, or fewer where their histories would be too many or take too much memory."""
    size = 8 * (game.world_size + 4 * game.max_branching) + 12 * game.max_branching * game.players
    most = min(config.play.histories, MEMORY // size)
    return max(1, min(wanted, int(most / _mean_length(game))))


@lru_cache(maxsize=16)
def _mean_length(game: Game) -> float:
    """The mean number of histories of a game with random moves."""

    def uniform(worlds: Ints, mover: Ints) -> Guess:
        degree = batch.choices(game, worlds, mover).counts
        legal = np.arange(game.max_branching) < degree[:, None]
        policy = np.where(legal, 1.0 / degree[:, None], 0.0)
        return Guess(policy, np.zeros((len(worlds), game.max_branching, 0), np.float32))

    levels = sample_games(game, uniform, TRIAL, np.zeros(game.players), np.random.default_rng(0))
    return sum(int(level.times.sum()) for level in levels) / TRIAL


class SampledGames:
    """Samples the games of a generation and makes its experience of them."""

    has_records = False

    def __init__(self, resources: Resources) -> None:
        self._with = resources
        self._spread: float | None = None
        """The running σ, in units of S."""
        self.coverage = Coverage()
        self._games = most_games(resources.game, resources.config, resources.config.play.games)

    def make(self, generation: int, progress: float, report: Report) -> Experience:
        """The experience of a generation."""
        game, config = self._with.game, self._with.config
        stream = self._with.stream(generation, SELF_PLAY)
        network = Timed(self._with.evaluator(bulk=True), self._with.clock)
        levels, estimates = self._sample(network, stream, report)
        views = views_of_movers(game, levels, estimates)
        self.coverage.put(views.view, views.player)
        self._follow(spread(levels, estimates) / game.scale)
        most = config.fit.steps * config.fit.rows
        policy = self._policy_examples(views, most, progress, stream)
        value = value_examples_of(game, levels, estimates, views, most=most, power=config.policy.power, stream=stream)
        if config.value.child_target == "network":
            value = with_children(game, value, network)
        belief: PolicyExamples | None = None
        bayes: BayesExamples | None = None
        if config.belief.source == "sampled":
            moves = choose_moves(game, moves_in(levels), config.belief.steps * config.fit.rows, stream)
            belief = belief_examples(game, belief_targets(game, moves), config.belief.power)
            bayes = bayes_of(game, config, levels, network, config.belief.steps, stream)
        metrics: Line = {
            "games": self._games,
            "views": len(views.player),
            "root_step": at(config.policy.step, config.policy.step_last, progress),
            "root_temperature": at(config.policy.temperature, config.policy.temperature_last, progress),
            "spread": self._spread,
            "value_residual": _residual(levels, estimates) / game.scale**2,
        }
        return Experience(policy, value, belief, metrics, bayes=bayes)

    def resume(self, last: Line, _: list[Record], /) -> None:
        """Take over the running spread."""
        self._spread = last.get("spread")

    def outcome_residual(self) -> None:
        """Nothing: outcomes are not kept."""

    def _sample(
        self, network: Timed, stream: np.random.Generator, report: Report
    ) -> tuple[list[Level], list[Estimates]]:
        """Games in which each seat in turn explores most, with their estimates."""
        game, play, baseline = self._with.game, self._with.config.play, self._with.config.value.baseline
        evaluate = policy_and_values(network, evaluated=baseline == "evaluated")
        each = -(-self._games // game.players)
        levels: list[Level] = []
        estimates: list[Estimates] = []
        for seat in range(game.players):
            report("self-play", seat / game.players)
            explore = np.full(game.players, play.explore_others)
            explore[seat] = play.explore
            new = sample_games(game, evaluate, each, explore, stream)
            levels += new
            estimates += estimate(new, BASELINES[baseline])
        report("self-play", 1.0)
        return levels, estimates

    def _follow(self, measured: float) -> None:
        """Move the running spread towards a new one."""
        measured = max(measured, LEAST_SPREAD)
        self._spread = measured if self._spread is None else self._spread + SLOW * (measured - self._spread)

    def _policy_examples(self, views: Views, most: int, progress: float, stream: np.random.Generator) -> PolicyExamples:
        """Examples of P: the mirror step at views, chosen by weight where there are too many."""
        game, p = self._with.game, self._with.config.policy
        rows, weight = choose(views.times**p.power, most, stream)
        chosen = views.take(rows)
        average = Timed(self._with.evaluator(average=True, bulk=True), self._with.clock)
        rho = policy_at(game, average, chosen.view, chosen.player)[:, : game.max_branching]
        uniform = at(p.uniform, p.uniform_last, progress)
        rho = (1.0 - uniform) * rho + uniform / chosen.degree[:, None]
        assert self._spread is not None
        sigma = game.scale * (self._spread if p.unit == "spread" else 1.0)
        step, temperature = at(p.step, p.step_last, progress), at(p.temperature, p.temperature_last, progress)
        target = mirror_targets(chosen, np.where(rho > NO_ACTION, rho, 0.0), step, temperature, sigma)
        return view_examples(game, chosen, target, weight)


def _residual(levels: list[Level], estimates: list[Estimates]) -> float:
    """The mean square of û after a move minus V_c of it, over all moves of players and all players."""
    total, count = 0.0, 0.0
    for level, found in zip(levels, estimates, strict=True):
        taken = np.where((level.mover != TERMINAL)[:, None], level.taken, 0)
        total += float((taken[:, :, None] * (found.child - level.children) ** 2).sum())
        count += float(taken.sum()) * level.children.shape[2]
    return total / max(count, 1.0)

"""The learner of a run: it gathers the experience of a generation, and learns from it."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.learning.config import Config, at, changed
from qdts.learning.experience.experience import (
    AVERAGE_FITTING,
    AVERAGE_SAMPLING,
    BELIEF_FITTING,
    FITTING,
    SAMPLING,
    BeliefExamples,
    Experience,
    Report,
    Resources,
    Source,
    ignore,
)
from qdts.learning.experience.sampled import SampledGames, bayes_of, most_examples, most_games, policy_only
from qdts.learning.experience.searched import SearchedGames
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Timed
from qdts.learning.selfplay.sampling import sample_games
from qdts.learning.targets.belief import belief_examples, belief_targets, choose_sampled_moves
from qdts.nets.descent import Fit
from qdts.nets.evaluator import Network
from qdts.nets.model import Size
from qdts.nets.networks import Made, Networks, Steps, run_fits


def plays_by(game: Game, config: Config) -> str:
    """`values` or `search`: how the games of a generation are made."""
    by = config.play.by
    if by == "auto":
        return "values" if game.hidden else "search"
    return by


def verify_source(game: Game, config: Config) -> None:
    """Raise an InputError where something is asked for that the games can't give."""
    by_values = plays_by(game, config) == "values"
    if by_values and not game.hidden:
        raise InputError(f"play.by=values is for games that hide something, and {game.spec} does not: expected search")
    if by_values and config.belief.source == "buffer":
        raise InputError(
            "belief.source=buffer takes the games that were decided by search (play.by=search), and here they are "
            "sampled in bulk: expected sampled or exact"
        )
    if not by_values and config.value.child_target == "estimate":
        raise InputError(
            "value.child_target=estimate follows from games that are sampled in bulk (play.by=values), and here they "
            "are decided by search: expected network or auto"
        )


class Learner:
    """A game's networks, and where their experience comes from."""

    def __init__(self, game: Game, config: Config, seed: int, *, threads: int = 1, device: str = "cpu") -> None:
        verify_source(game, config)
        networks = Networks(game, Size(**asdict(config.net)), seed=seed, device=device, average=config.fit.average)
        self.resources = Resources(game, config, seed, networks, threads)
        self.source: Source = (
            SampledGames(self.resources) if plays_by(game, config) == "values" else SearchedGames(self.resources)
        )

    @property
    def game(self) -> Game:
        """What is learned."""
        return self.resources.game

    @property
    def config(self) -> Config:
        """The settings."""
        return self.resources.config

    @property
    def networks(self) -> Networks:
        """The networks with their averages."""
        return self.resources.networks

    def evaluator(self, *, average: bool = False) -> Network:
        """The newest networks, or those of averaged weights, as an evaluator with an empty cache."""
        return self.resources.evaluator(average=average)

    def use_threads(self) -> None:
        """Set torch's number of threads."""
        self.resources.use_threads()

    def warm_up(self) -> None:
        """Compile everything that a generation needs, and change nothing."""
        few = {"play.games": 2, "search.games": 2, "belief.games": 2, "search.visits": 2}
        few |= {"fit.steps": 1, "belief.steps": 1}
        other = Learner(self.game, changed(self.config, few), self.resources.seed, device=str(self.networks.device))
        other.learn(other.gather(0, 0.0), 0, 0.0)

    def gather(self, generation: int, progress: float, report: Report = ignore) -> Experience:
        """Play the games of a generation."""
        return self.source.make(generation, progress, report)

    def learn(self, experience: Experience, generation: int, progress: float, report: Report = ignore) -> Line:
        """Fit P, V and V_c, then H; returns the losses and the entropy of policy targets."""
        config = self.config
        report("fitting P and V", 0.0)
        rates = np.full(experience.steps or config.fit.steps, at(config.fit.rate, config.fit.rate_last, progress))
        steps = Steps(rates, config.fit.rows, self.resources.stream(generation, FITTING))
        weights = {
            "value_loss": config.value.weight,
            "child_loss": config.value.child_weight,
            "consistency_loss": config.value.consistency,
            "best_child_loss": config.value.best_child,
        }

        belief_fit = partial(self._belief_fit, generation=generation, progress=progress)
        beside = [] if experience.belief is None else [belief_fit(experience.belief)]
        with self.resources.clock.part("training", "examples", "network"):
            metrics: Line = self.networks.fit(
                experience.policy, experience.value, steps, weights, threads=self.resources.threads, beside=beside
            )
        if experience.belief is None and self.game.hidden and config.belief.source != "exact":
            examples = self._new_beliefs(generation)
            with self.resources.clock.part("training"):
                metrics |= run_fits([belief_fit(lambda: examples)])
        return metrics | {"entropy": experience.policy().entropy}

    def _new_beliefs(self, generation: int) -> BeliefExamples:
        """Examples of H from games sampled from the new P."""
        config = self.config.belief
        stream = self.resources.stream(generation, SAMPLING)
        return self._sampled_beliefs(self.evaluator(), config.games, config.steps, stream)

    def _belief_fit(self, examples: Made[BeliefExamples], *, generation: int, progress: float) -> Fit:
        config, made = self.config.belief, examples()
        rates = np.full(config.steps, at(config.rate, config.rate_last, progress))
        steps = Steps(rates, self.config.fit.rows, self.resources.stream(generation, BELIEF_FITTING))
        return (yield from self.networks.belief_fit(made.counted, steps, made.bayes, config.bayes))

    def learn_average_belief(self, generation: int, since: int, report: Report = ignore) -> None:
        """Fit H̄ to games sampled from the averaged P, where H learns from sampled games.

        As many steps as H has had in the generations `since` the last time, up to the settings' bounds.
        """
        config = self.config.belief
        if not self.game.hidden or config.source != "sampled":
            return
        report("fitting H of the average", 0.0)
        games, count = min(config.average_games, since * config.games), min(config.average_steps, since * config.steps)
        stream = self.resources.stream(generation, AVERAGE_SAMPLING)
        examples = self._sampled_beliefs(self.evaluator(average=True), games, count, stream)
        rates = np.geomspace(config.rate, config.rate_last, count)
        with self.resources.clock.part("training"):
            steps = Steps(rates, self.config.fit.rows, self.resources.stream(generation, AVERAGE_FITTING))
            run_fits([self.networks.average_belief_fit(examples.counted, steps, examples.bayes, config.bayes)])

    def _sampled_beliefs(self, network: Network, games: int, steps: int, stream: np.random.Generator) -> BeliefExamples:
        """Examples of H for so many steps, from games sampled from P in which all players explore."""
        game, config = self.game, self.config
        games = most_games(game, games)
        explore = np.full((1, game.players), config.belief.explore)
        levels = sample_games(game, policy_only(Timed(network, self.resources.clock)), games, explore, stream)
        moves = choose_sampled_moves(game, levels, most_examples(game, steps * config.fit.rows), stream)
        bayes = bayes_of(game, config, levels, Timed(network, self.resources.clock), steps, stream)
        return BeliefExamples(belief_examples(game, belief_targets(game, moves), config.belief.power), bayes)

"""The learner of a run: it plays a generation of games, and learns from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.learning.config import Config, at, changed
from qdts.learning.nodes.clock import Clock, Timed
from qdts.learning.nodes.evaluation import policy_at, values_at
from qdts.learning.selfplay.decisions import BySearch, Decisions, Magnet
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.record import Record
from qdts.learning.selfplay.sampling import joined as joined_moves
from qdts.learning.selfplay.sampling import sample_moves
from qdts.learning.targets.belief import belief_examples, belief_targets, explorers_moves
from qdts.learning.targets.policy import POLICY_TARGETS, policy_examples, policy_targets
from qdts.learning.targets.value import (
    OUTCOME,
    residual_variance,
    rule_of,
    value_examples,
    value_targets,
    window_examples,
)
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, joined
from qdts.nets.model import Size
from qdts.nets.networks import Networks, Steps, groups_of, use_threads
from qdts.search.options.options import Options
from qdts.search.options.parsing import read_search
from qdts.search.options.variants import Belief

SELF_PLAY, FITTING, SAMPLING, BELIEF_FITTING, AVERAGE_SAMPLING, AVERAGE_FITTING = range(6)
"""What a stream of random numbers is for."""
Report = Callable[[str, float], None]
"""Called with the work that goes on, and the share of it that is done."""


def ignore(what: str, share: float) -> None:
    """A report that nobody reads."""


def stream_of(seed: int, generation: int, purpose: int) -> np.random.Generator:
    """The random numbers of a generation for one purpose."""
    return np.random.default_rng([seed, generation, purpose])


def search_options(game: Game, config: Config, progress: float) -> Options:
    """The options of self-play's searches when a share `progress` of the budget is spent."""
    s = config.search
    options = read_search(game, s.name)
    if options.machine != "forest":
        raise InputError(f"search.name={s.name} plays games out and uses no network, expected qdts, mmds, puct or such")
    eps = at(s.eps, s.eps_last, progress)
    return replace(
        options,
        eps_sample=eps,
        eps_opponent=eps,
        decision=POLICY_TARGETS[config.policy.target].decision,
        root_step=at(s.step, s.step_last, progress),
        root_temperature=at(s.temperature, s.temperature_last, progress),
        belief=Belief.EXACT if config.belief.source == "exact" else options.belief,
    )


class Learner:
    """A game's networks with the newest games that they learn from."""

    def __init__(self, game: Game, config: Config, seed: int, *, threads: int = 1, device: str = "cpu") -> None:
        self.game = game
        self.config = config
        self.seed = seed
        self.threads = threads
        self.clock = Clock()
        self.networks = Networks(game, Size(**asdict(config.net)), seed=seed, device=device, average=config.fit.average)
        self.records: list[Record] = []
        """Of the newest generations, as many as V learns from."""
        self.examples: list[ValueExamples] = []
        """Of V, one for each of these records."""
        self._player: Network | None = None
        """The evaluator of the newest games, until the networks change: its cache holds V of most of their nodes."""

    def evaluator(self, *, average: bool = False) -> Network:
        """The newest networks, or those of averaged weights, as an evaluator with an empty cache."""
        model, belief = groups_of(average=average, source=self.config.belief.source)
        return self.networks.evaluator(model, belief, batch=self.config.play.batch, cache=self.config.play.cache)

    def use_threads(self) -> None:
        """Set torch's number of threads: all for convolutions, one for smaller layers, where more do not pay."""
        use_threads(self.threads if self.networks.model.trunk == "conv" else 1)

    def warm_up(self) -> None:
        """Compile everything that a generation needs, and change nothing."""
        few = {"play.games": 2, "belief.games": 2, "search.visits": 2, "fit.steps": 1, "belief.steps": 1}
        other = Learner(self.game, changed(self.config, few), self.seed, device=str(self.networks.device))
        record = other.play(0, 0.0)
        other.add(record)
        other.learn(record, 0.0)

    def play(self, generation: int, progress: float, report: Report = ignore) -> Record:
        """Play the games of a generation."""
        config, stream = self.config, partial(stream_of, self.seed, generation, SELF_PLAY)
        self._player = self.evaluator()
        average = Timed(self.evaluator(average=True), self.clock)
        search = BySearch(
            self.game,
            Timed(self._player, self.clock),
            search_options(self.game, config, progress),
            config.search.visits,
            config.play.lanes,
            int(stream().integers(2**62)),
            self.threads,
            Magnet(average, at(config.search.uniform, config.search.uniform_last, progress)),
        )

        def decide(views: Ints, players: Ints) -> Decisions:
            with self.clock.part("search", without="network"):
                return search(views, players)

        def games_over(count: int) -> None:
            report("self-play", count / config.play.games)

        return play_games(self.game, decide, config.play.games, config.play.explore, stream(), generation, games_over)

    def add(self, record: Record) -> float:
        """Make examples of a new record; returns the residual variance in its targets of V as it was then."""
        network = self._player or self.evaluator()
        targets = value_targets(record, rule_of(self.config))
        self._keep(record, value_examples(self.game, targets, network))
        return residual_variance(targets, values_at(self.game, network, targets.nodes), self.game.scale)

    def add_old(self, record: Record) -> None:
        """Make examples of a record of an earlier generation, without V_c."""
        self._keep(record, value_examples(self.game, value_targets(record, rule_of(self.config))))

    def _keep(self, record: Record, examples: ValueExamples) -> None:
        window = self.config.value.window
        self.records = [*self.records, record][-window:]
        self.examples = [*self.examples, examples][-window:]

    def outcome_residual(self) -> float:
        """The residual variance of V in the outcomes of the newest games."""
        network, targets = self.evaluator(), value_targets(self.records[-1], OUTCOME)
        return residual_variance(targets, values_at(self.game, network, targets.nodes), self.game.scale)

    def learn(self, record: Record, progress: float, report: Report = ignore) -> dict[str, float]:
        """Fit P, V and V_c, then H, to the newest games; returns the losses and the entropy of policy targets."""
        config = self.config
        report("fitting P and V", 0.0)
        targets = policy_targets(record, config.policy.target, power=config.policy.power)
        policy, value = policy_examples(self.game, targets), window_examples(self.examples)
        rates = np.full(config.fit.steps, at(config.fit.rate, config.fit.rate_last, progress))
        steps = Steps(rates, config.fit.rows, stream_of(self.seed, record.generation, FITTING))
        weights = {"value_loss": config.value.weight, "child_loss": config.value.child_weight}
        self._player = None
        with self.clock.part("training"):
            metrics = self.networks.fit(policy, value, steps, weights)
        if self.game.hidden and config.belief.source != "exact":
            metrics["belief_loss"] = self._learn_belief(record.generation, progress)
        return metrics | {"entropy": targets.entropy}

    def _learn_belief(self, generation: int, progress: float) -> float:
        """Fit H to games sampled from the new P, or to all records of the window."""
        config = self.config.belief
        if config.source == "sampled":
            stream = stream_of(self.seed, generation, SAMPLING)
            examples = self._sampled_beliefs(self.evaluator(), config.games, stream)
        else:
            parts = [belief_targets(self.game, explorers_moves(old)) for old in self.records]
            examples = joined([belief_examples(self.game, part, config.power) for part in parts])
        rates = np.full(config.steps, at(config.rate, config.rate_last, progress))
        with self.clock.part("training"):
            steps = Steps(rates, self.config.fit.rows, stream_of(self.seed, generation, BELIEF_FITTING))
            return self.networks.fit_belief(examples, steps)

    def learn_average_belief(self, generation: int, since: int, report: Report = ignore) -> None:
        """Fit H̄ to games sampled from the averaged P, where H learns from sampled games.

        As many games and steps as H has had in the generations `since` the last time, up to the settings' bounds.
        """
        config = self.config.belief
        if not self.game.hidden or config.source != "sampled":
            return
        report("fitting H of the average", 0.0)
        games = min(config.average_games, since * config.games)
        stream = stream_of(self.seed, generation, AVERAGE_SAMPLING)
        examples = self._sampled_beliefs(self.evaluator(average=True), games, stream)
        rates = np.geomspace(config.rate, config.rate_last, min(config.average_steps, since * config.steps))
        with self.clock.part("training"):
            steps = Steps(rates, self.config.fit.rows, stream_of(self.seed, generation, AVERAGE_FITTING))
            self.networks.fit_average_belief(examples, steps)

    def _sampled_beliefs(self, network: Network, games: int, stream: np.random.Generator) -> PolicyExamples:
        """Examples of H from games sampled from P, in which all players explore, or one seat after the other."""
        game, config = self.game, self.config.belief
        policy = partial(policy_at, game, Timed(network, self.clock))
        if config.explore > 0.0:
            moves = sample_moves(game, policy, games, np.full(game.players, config.explore), stream)
        else:
            each = -(-games // game.players)
            alone = self.config.play.explore * np.eye(game.players)
            parts = [sample_moves(game, policy, each, explore, stream) for explore in alone]
            moves = joined_moves([part.of(player) for player, part in enumerate(parts)])
        return belief_examples(game, belief_targets(game, moves), config.power)

"""The learner of a run and what it does in one generation."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.learning.answers import network_of, policy_at, values_at
from qdts.learning.beliefs import Moves, belief_rows, explorers_moves
from qdts.learning.clock import Clock, Timed
from qdts.learning.config import Config, changed
from qdts.learning.decisions import Magnet, by_search, options_at
from qdts.learning.lessons import all_values, belief_lesson, target_of, value_lesson
from qdts.learning.nodes import queries_of
from qdts.learning.record import Record
from qdts.learning.sampling import sample_moves
from qdts.learning.schedule import at
from qdts.learning.selfplay import Decisions, play_games
from qdts.learning.targets import OUTCOME, policy_rows, residual_variance, value_rows
from qdts.nets.evaluator import Network
from qdts.nets.learner import Learner, use_threads
from qdts.nets.lessons import PolicyLesson, ValueLesson, joined, padded

SELF_PLAY, FITTING, SAMPLING, BELIEF_FITTING, AVERAGE_SAMPLING, AVERAGE_FITTING = range(6)
"""What a stream of random numbers is for."""
Report = Callable[[str, float], None]
"""Hears what is being done, and which share of it is done."""


class Trainer:
    """Everything that learns, and the newest records."""

    def __init__(self, game: Game, config: Config, seed: int, *, threads: int = 1, device: str = "cpu") -> None:
        self.game = game
        self.config = config
        self.seed = seed
        self.threads = threads
        self.clock = Clock()
        self.learner = Learner(
            game, width=config.net.width, layers=config.net.layers, trunk=config.net.trunk, towers=config.net.towers,
            seed=seed, device=device, average=config.fit.average,
        )  # fmt: skip
        self.lessons: list[ValueLesson] = []
        """Of V, from the newest generations."""
        self.records: list[Record] = []
        self._asked: Network | None = None
        """What answered the searches of the newest games, until it is taught. It knows V of most of their nodes."""

    def use_threads(self) -> None:
        """Let torch have as many threads as pay: all for convolutions, one for smaller layers."""
        use_threads(self.threads if self.learner.model.trunk == "conv" else 1)

    def warm_up(self) -> None:
        """Have everything compiled that a generation needs; nothing is changed."""
        few = {"play.games": 2, "belief.games": 2, "search.visits": 2, "fit.steps": 1, "belief.steps": 1}
        other = Trainer(self.game, changed(self.config, few), self.seed, device=str(self.learner.device))
        record = other.play(0, 0.0)
        other.take_in(record)
        other.learn(record, 0.0)

    def play(self, generation: int, progress: float, report: Report | None = None) -> Record:
        """The self-play of a generation."""
        config = self.config
        self._asked = network_of(self.learner, config)
        network = Timed(self._asked, self.clock)
        slow = Timed(network_of(self.learner, config, average=True), self.clock)
        magnet = Magnet(slow, at(config.search.even, config.search.even_last, progress))
        search = by_search(
            self.game, network, options_at(self.game, config, progress), config.search.visits, config.play.slots,
            int(stream_of(self.seed, generation, SELF_PLAY).integers(2**62)), self.threads, magnet,
        )  # fmt: skip

        def decide(views: Ints, players: Ints) -> Decisions:
            began, before = time.perf_counter(), self.clock.spent.get("network", 0.0)
            found = search(views, players)
            answering = self.clock.spent.get("network", 0.0) - before
            self.clock.add("search", time.perf_counter() - began - answering)
            return found

        def tell(over: int) -> None:
            if report is not None:
                report("self-play", over / config.play.games)

        stream = stream_of(self.seed, generation, SELF_PLAY)
        return play_games(self.game, decide, config.play.games, config.play.explore, stream, generation, tell)

    def remember(self, record: Record) -> None:
        """Make a lesson of V of a record of earlier."""
        self._keep(record, value_lesson(self.game, value_rows(record, target_of(self.config))))

    def take_in(self, record: Record) -> float:
        """Make lessons of a new record; the residual variance of V, as it was, in its targets."""
        network = self._asked or network_of(self.learner, self.config)
        rows = value_rows(record, target_of(self.config))
        self._keep(record, value_lesson(self.game, rows, network))
        return residual_variance(rows, values_at(self.game, network, rows.nodes), self.game.scale)

    def outcome_residual(self) -> float:
        """The residual variance of V in the outcomes of the newest games."""
        network, rows = network_of(self.learner, self.config), value_rows(self.records[-1], OUTCOME)
        return residual_variance(rows, values_at(self.game, network, rows.nodes), self.game.scale)

    def _keep(self, record: Record, lesson: ValueLesson) -> None:
        window = self.config.value.window
        self.lessons = [*self.lessons, lesson][-window:]
        self.records = [*self.records, record][-window:]

    def told(self, record: Record, progress: float) -> dict[str, float]:
        """What this generation was like."""
        options = options_at(self.game, self.config, progress)
        return {
            "searches": len(record.offset) - 1,
            "visits": (len(record.offset) - 1) * self.config.search.visits,
            "root_step": options.root_step,
            "root_temperature": options.root_temperature,
        }

    def learn(self, record: Record, progress: float, report: Report | None = None) -> dict[str, float]:
        """Teach P, V and V_c, then H; the losses."""
        config = self.config
        rate = at(config.fit.rate, config.fit.rate_last, progress)
        if report is not None:
            report("fitting P and V", 0.0)
        rows = policy_rows(record, played=config.policy.target == "played", power=config.policy.power)
        queries = queries_of(self.game, rows.nodes)
        policy = PolicyLesson(queries, padded(queries, rows.target), rows.weight)
        self._asked = None
        began = time.perf_counter()
        losses = self.learner.fit(
            policy, all_values(self.lessons), steps=config.fit.steps, rows=config.fit.rows, rate=rate,
            value_weight=config.value.weight, child_weight=config.value.child_weight,
            stream=stream_of(self.seed, record.generation, FITTING),
        )  # fmt: skip
        self.clock.lap("training", began)
        belief = self._learn_belief(record, progress) if self.game.hidden and config.belief.source != "exact" else None
        entropy = -(rows.target * np.log(np.maximum(rows.target, 1e-12)))
        weight = np.repeat(rows.weight, np.diff(rows.offset))
        return {
            "policy_loss": losses.policy,
            "value_loss": losses.value,
            "child_loss": losses.children,
            **({} if belief is None else {"belief_loss": belief}),
            "entropy": float((weight * entropy).sum() / rows.weight.sum()),
        }

    def _learn_belief(self, record: Record, progress: float) -> float:
        """Teach H on games sampled from the new P alone, or on all records of the window."""
        config, generation = self.config, record.generation
        if config.belief.source == "sampled":
            stream = stream_of(self.seed, generation, SAMPLING)
            lesson = self._sampled(network_of(self.learner, config), config.belief.games, stream)
        else:
            rows = [belief_rows(self.game, explorers_moves(old)) for old in self.records]
            lesson = joined([belief_lesson(self.game, part, config.belief.power) for part in rows])
        began = time.perf_counter()
        loss = self.learner.fit_belief(
            lesson, steps=config.belief.steps, rows=config.fit.rows,
            rate=at(config.belief.rate, config.belief.rate_last, progress),
            stream=stream_of(self.seed, generation, BELIEF_FITTING),
        )  # fmt: skip
        self.clock.lap("training", began)
        return loss

    def learn_average_belief(self, generation: int, since: int, report: Report | None = None) -> None:
        """Teach H̄ on games sampled from the averaged P: as much as H in the generations since the last time, at most.

        Only where H learns from sampled games.
        """
        config = self.config
        if not self.game.hidden or config.belief.source != "sampled":
            return
        if report is not None:
            report("fitting H of the average", 0.0)
        network = network_of(self.learner, config, average=True)
        games = min(config.belief.average_games, since * config.belief.games)
        lesson = self._sampled(network, games, stream_of(self.seed, generation, AVERAGE_SAMPLING))
        began = time.perf_counter()
        self.learner.fit_average_belief(
            lesson, steps=min(config.belief.average_steps, since * config.belief.steps), rows=config.fit.rows,
            rates=(config.belief.rate, config.belief.rate_last),
            stream=stream_of(self.seed, generation, AVERAGE_FITTING),
        )  # fmt: skip
        self.clock.lap("training", began)

    def _sampled(self, network: Network, games: int, stream: np.random.Generator) -> PolicyLesson:
        """A lesson of H from games that are drawn from P: everybody explores, or one seat after the other."""
        game, config = self.game, self.config.belief
        policy = partial(policy_at, game, Timed(network, self.clock))
        if config.explore > 0.0:
            parts = [sample_moves(game, policy, games, np.full(game.players, config.explore), stream)]
        else:
            each = -(-games // game.players)
            alone = self.config.play.explore * np.eye(game.players)
            drawn = [sample_moves(game, policy, each, explore, stream) for explore in alone]
            parts = [moves.of(player) for player, moves in enumerate(drawn)]
        rows = belief_rows(game, Moves._make(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return belief_lesson(game, rows, config.power)


def stream_of(seed: int, generation: int, purpose: int) -> np.random.Generator:
    """The random numbers of a generation for one purpose."""
    return np.random.default_rng([seed, generation, purpose])

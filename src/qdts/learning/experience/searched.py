"""Experience from games in which a search decides every move: AlphaZero's, and that of the document QDTS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.learning.config import Config, at
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.experience import (
    SELF_PLAY,
    SELF_PLAY_MOVES,
    Experience,
    Report,
    Resources,
)
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.evaluation import values_at
from qdts.learning.selfplay.decisions import BySearch, Decisions, Magnet
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.record import Record
from qdts.learning.targets.belief import belief_examples, belief_targets, explorers_moves
from qdts.learning.targets.policy import POLICY_TARGETS, policy_examples, policy_targets, target_of
from qdts.learning.targets.value import (
    OUTCOME,
    ValueTargets,
    luck_of_chance,
    residual_variance,
    rule_of,
    value_examples,
    value_targets,
    window_examples,
)
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, joined
from qdts.search.options.options import Options
from qdts.search.options.parsing import read_search, search_parts
from qdts.search.options.variants import Belief, Decision, Select


def search_options(game: Game, config: Config, progress: float, spread: float = 1.0) -> Options:
    """The options of self-play's searches when a share `progress` of the budget is spent.

    The root's step and temperature are in units of S; those of the settings may be in units of the spread. Options in
    the brackets of `search.name` stay as they are given there.
    """
    s, p = config.search, config.policy
    name = ("mmds" if game.hidden else "puct") if s.name == "auto" else s.name
    options, given = read_search(game, name), search_parts(name)[1]
    if options.machine != "forest":
        raise InputError(f"search.name={s.name} plays games out and uses no network, expected qdts, mmds, puct or such")
    eps, unit = at(s.eps, s.eps_last, progress), spread if p.unit == "spread" else 1.0
    decision = POLICY_TARGETS[target_of(game, p.target)].decision
    changes: dict[str, Any] = {
        "eps_sample": eps,
        "eps_opponent": eps,
        "decision": decision,
        "root_select": options.root_select if decision == Decision.MIRROR else Select.PUCT,
        "root_step": at(p.step, p.step_last, progress) / unit,
        "root_temperature": at(p.temperature, p.temperature_last, progress) * unit,
        "belief": Belief.EXACT if config.belief.source == "exact" else options.belief,
    }
    return replace(options, **{name: value for name, value in changes.items() if name not in given})


class SearchedGames:
    """Plays the games of a generation by search and makes its experience of them and of the ones before."""

    has_records = True

    def __init__(self, resources: Resources) -> None:
        self._with = resources
        self.records: list[Record] = []
        """Of the newest generations, as many as P or V learns from."""
        self._policies: list[PolicyExamples] = []
        self._values: list[ValueExamples] = []
        """The examples of the newest records, as many as P learns from, and as many as V does."""
        self.coverage = Coverage()
        self._spread = 1.0
        """How far the values of a view's actions lie apart, in units of S; S itself before it is measured."""

    def make(self, generation: int, progress: float, report: Report) -> Experience:
        """The experience of a generation."""
        game, config = self._with.game, self._with.config
        options = search_options(game, config, progress, self._spread)
        player = self._with.evaluator()  # its cache holds V of most of the games' nodes
        record = self._play(generation, progress, options, player, report)
        targets = self._value_targets(record, player)
        values = value_examples(game, targets, player, priors=config.value.consistency > 0.0)
        residual = residual_variance(targets, values_at(game, player, targets.nodes), game.scale)
        self._spread = searched_spread(record) / game.scale or self._spread
        views = policy_targets(record, target_of(game, config.policy.target), power=config.policy.power)
        self.coverage.put(views.nodes.vector, views.nodes.player)
        self._keep(record, policy_examples(game, views), values)
        metrics: Line = {
            "games": len(record),
            "searches": len(record.offset) - 1,
            "visits": (len(record.offset) - 1) * config.search.visits,
            "root_step": options.root_step,
            "root_temperature": options.root_temperature,
            "spread": self._spread,
            "value_residual": residual,
        }
        return Experience(joined(self._policies), window_examples(self._values), self._beliefs(), metrics, record)

    def resume(self, last: Line, records: list[Record], /) -> None:
        """Make examples of the records of earlier generations, without V_c."""
        game, policy = self._with.game, self._with.config.policy
        self._spread = last.get("spread", self._spread)
        network = self._with.evaluator()
        for record in records:
            views = policy_targets(record, target_of(game, policy.target), power=policy.power)
            values = value_examples(game, self._value_targets(record, network))
            self._keep(record, policy_examples(game, views), values)

    def _value_targets(self, record: Record, network: Network) -> ValueTargets:
        """The targets of V, with the luck of chance taken off if it is to be, by the network's V_c."""
        config = self._with.config
        luck = luck_of_chance(record, network) if config.value.chance else None
        return value_targets(record, rule_of(config), luck)

    def outcome_residual(self) -> float | None:
        """The residual variance of V in the outcomes of the newest games; None before there are any."""
        if not self.records:
            return None
        game, network = self._with.game, self._with.evaluator()
        targets = value_targets(self.records[-1], OUTCOME)
        return residual_variance(targets, values_at(game, network, targets.nodes), game.scale)

    def _play(self, generation: int, progress: float, options: Options, player: Network, report: Report) -> Record:
        """Play the games of a generation."""
        game, config, clock = self._with.game, self._with.config, self._with.clock
        uniform = at(config.policy.uniform, config.policy.uniform_last, progress)
        search = BySearch(
            game,
            Timed(player, clock),
            options,
            config.search.visits,
            config.play.lanes,
            int(self._with.stream(generation, SELF_PLAY).integers(2**62)),
            self._with.threads,
            Magnet(Timed(self._with.evaluator(average=True), clock), uniform),
        )

        def decide(views: Ints, players: Ints) -> Decisions:
            with clock.part("search", without="network"):
                return search(views, players)

        def games_over(count: int) -> None:
            report("self-play", count / config.search.games)

        moves = self._with.stream(generation, SELF_PLAY_MOVES)
        return play_games(game, decide, config.search.games, config.search.explore, moves, generation, games_over)

    def _keep(self, record: Record, policy: PolicyExamples, value: ValueExamples) -> None:
        config = self._with.config
        self.records = [*self.records, record][-config.window :]
        self._policies = [*self._policies, policy][-config.policy.window :]
        self._values = [*self._values, value][-config.value.window :]

    def _beliefs(self) -> PolicyExamples | None:
        """The examples of H from the records that V learns from, if it is to learn from them."""
        game, belief = self._with.game, self._with.config.belief
        if not game.hidden or belief.source != "buffer":
            return None
        parts = [belief_targets(game, explorers_moves(old)) for old in self.records[-self._with.config.value.window :]]
        return joined([belief_examples(game, part, belief.power) for part in parts])


def searched_spread(record: Record) -> float:
    """The root mean square of Q(a) − the mean of Q over the actions, over all searches with several actions."""
    count = np.diff(record.offset)
    middle = (record.q_lo.astype(np.float64) + record.q_hi) / 2
    mean = np.add.reduceat(middle, record.offset[:-1]) / count
    square = np.add.reduceat((middle - np.repeat(mean, count)) ** 2, record.offset[:-1]) / count
    several = square[count > 1]
    return float(np.sqrt(several.mean())) if len(several) else 0.0

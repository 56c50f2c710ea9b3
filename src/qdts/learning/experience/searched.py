"""Experience from games in which a search decides every move: AlphaZero's, and that of the document QDTS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.learning.config import Config, at, grown_window
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.experience import (
    BATCHES,
    SELF_PLAY,
    SELF_PLAY_MOVES,
    BeliefExamples,
    Experience,
    Report,
    Resources,
)
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.evaluation import Together, values_at
from qdts.learning.selfplay.continued import Manner, play_continued
from qdts.learning.selfplay.decisions import BySearch, Decisions, Magnet
from qdts.learning.selfplay.games import play_games
from qdts.learning.selfplay.record import NO_SEARCH, Record
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

SHARED_GAMES = 500
"""Games of a generation, where those at the same view share a search."""
TRIAL = 32
"""Games from which the length of a game, and the number of legal actions, are estimated."""
ROUNDS = 2
"""The least games of a generation for each row of a network's batch: few are left to fill batches towards its end."""
MOST_VISITS, VISITS_AN_ACTION = 64, 8
"""Visits of a search: by default so many at most, and with perfect information so many for each legal action."""


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
    if has_own_trees(game, decision):
        changes |= {"c": s.c * unit, "noise": s.noise, "noise_alpha": s.noise_total / typical(game).actions}
    return replace(options, **{name: value for name, value in changes.items() if name not in given})


def visits_of(game: Game, config: Config) -> int:
    """The visits of a search."""
    if config.search.visits:
        return config.search.visits
    return MOST_VISITS if game.hidden else min(MOST_VISITS, round(VISITS_AN_ACTION * typical(game).actions))


def has_own_trees(game: Game, decision: Decision) -> bool:
    """Whether each game has a tree that continues from move to move: with perfect information and by visits.

    Otherwise games at the same view share a search: what a mirror step decides depends on nothing but the view.
    """
    return not game.hidden and decision != Decision.MIRROR


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
        decision = search_options(resources.game, resources.config, 0.0).decision
        self._own_trees = has_own_trees(resources.game, decision)
        self._length: float | None = None
        """The mean number of players' moves in a game of the newest generation."""

    def make(self, generation: int, progress: float, report: Report) -> Experience:
        """The experience of a generation."""
        game, config = self._with.game, self._with.config
        options = search_options(game, config, progress, self._spread)
        players = self._with.players if self._own_trees else 1
        networks = [self._with.evaluator(ragged=self._own_trees) for _ in range(players)]
        player = Together(networks)  # their caches hold V of most of the games' nodes
        if self._own_trees:
            record = self._play_continued(generation, options, networks, report)
        else:
            record = self._play(generation, progress, options, networks[0], report)
        record = self._with_luck(record, player)
        targets = self._value_targets(record)
        values = value_examples(game, targets, player, priors=config.value.consistency > 0.0)
        residual = residual_variance(targets, values_at(game, player, targets.nodes), game.scale)
        self._spread = searched_spread(record) / game.scale or self._spread
        views = policy_targets(record, target_of(game, config.policy.target), power=config.policy.power)
        self.coverage.put(views.nodes.vector, views.nodes.player)
        self._keep(record, policy_examples(game, views), values)
        metrics: Line = {
            "games": len(record),
            "searches": len(record.offset) - 1,
            "visits": (len(record.offset) - 1) * visits_of(game, config),
            "root_step": options.root_step,
            "root_temperature": options.root_temperature,
            "spread": self._spread,
            "value_residual": residual,
        }
        steps = config.fit.steps
        if self._own_trees:
            steps = max(steps, round(config.search.samples * metrics["searches"] / config.fit.rows))
        policies, values, beliefs = joined(self._policies), window_examples(self._values), self._beliefs()
        return Experience(
            policy=lambda: policies,
            value=lambda: values,
            belief=None if beliefs is None else lambda: BeliefExamples(beliefs),
            metrics=metrics,
            record=record,
            steps=steps,
        )

    def resume(self, last: Line, records: list[Record], /) -> None:
        """Make examples of the records of earlier generations, without V_c."""
        game, policy = self._with.game, self._with.config.policy
        self._spread = last.get("spread", self._spread)
        network = self._with.evaluator()
        for record in records:
            views = policy_targets(record, target_of(game, policy.target), power=policy.power)
            values = value_examples(game, self._value_targets(self._with_luck(record, network)))
            self._keep(record, policy_examples(game, views), values)

    def _with_luck(self, record: Record, network: Network | Together) -> Record:
        """The record with the luck of chance, by the network's V_c, if it is to be taken off and is not there yet."""
        needs = rule_of(self._with.config, self._with.game).chance and not len(record.luck)
        return replace(record, luck=luck_of_chance(record, network)) if needs else record

    def _value_targets(self, record: Record) -> ValueTargets:
        """The targets of V, with the luck of chance taken off if it is to be."""
        rule = rule_of(self._with.config, self._with.game)
        return value_targets(record, rule, record.luck if rule.chance else None)

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
            visits_of(game, config),
            config.play.lanes,
            int(self._with.stream(generation, SELF_PLAY).integers(2**62)),
            self._with.threads,
            Magnet(Timed(self._with.evaluator(average=True), clock), uniform),
        )

        def decide(views: Ints, players: Ints) -> Decisions:
            with clock.part("search", "network"):
                return search(views, players)

        games = config.search.games or SHARED_GAMES

        def games_over(count: int) -> None:
            report("self-play", count / games)

        moves = self._with.stream(generation, SELF_PLAY_MOVES)
        return play_games(game, decide, games, config.search.explore, moves, generation, games_over)

    def _play_continued(self, generation: int, options: Options, networks: Sequence[Network], report: Report) -> Record:
        """Play the games of a generation, each with its own tree."""
        game, s, play = self._with.game, self._with.config.search, self._with.config.play
        if self._length is None:
            self._length = typical(game).length
        games = s.games or max(ROUNDS * play.batch, round(s.moves / self._length))
        manner = Manner(
            options,
            visits_of(game, self._with.config),
            drawn=round(s.drawn * self._length),
            late=s.late_temperature,
            opening=round(s.opening * self._length),
            reuse=s.reuse,
        )
        try:
            return play_continued(
                game,
                networks,
                manner,
                games,
                int(self._with.stream(generation, SELF_PLAY).integers(2**62)),
                lanes=max(1, min(BATCHES * play.batch, play.lanes // len(networks))),
                generation=generation,
                clock=self._with.clock,
                report=lambda count: report("self-play", count / games),
            )
        finally:
            self._with.use_threads()

    def _keep(self, record: Record, policy: PolicyExamples, value: ValueExamples) -> None:
        config = self._with.config
        windows = config.window, config.policy.window, config.value.window
        if self._own_trees:
            windows = (grown_window(config, record.generation),) * 3
        self.records = [*self.records, record][-windows[0] :]
        self._policies = [*self._policies, policy][-windows[1] :]
        self._values = [*self._values, value][-windows[2] :]
        self._length = float((record.search != NO_SEARCH).sum() / len(record))

    def _beliefs(self) -> PolicyExamples | None:
        """The examples of H from the records that V learns from, if it is to learn from them."""
        game, belief = self._with.game, self._with.config.belief
        if not game.hidden or belief.source != "buffer":
            return None
        parts = [belief_targets(game, explorers_moves(old)) for old in self.records[-self._with.config.value.window :]]
        return joined([belief_examples(game, part, belief.power) for part in parts])


class Typical(NamedTuple):
    """Games with uniform moves."""

    length: float
    """The mean number of players' moves."""
    actions: float
    """The mean number of legal actions at a move."""


@lru_cache(maxsize=16)
def typical(game: Game) -> Typical:
    """What games with uniform moves are like; from a few of them."""
    record = play_games(game, partial(_uniform, game), TRIAL, 0.0, np.random.default_rng(0))
    moves = record.search[record.search != NO_SEARCH]
    return Typical(len(moves) / len(record), float(np.diff(record.offset)[moves].mean()))


def _uniform(game: Game, views: Ints, players: Ints) -> Decisions:
    """Uniform moves, without a search."""
    counts = batch.choices(game, views, players).counts
    share = np.repeat(1.0 / counts, counts)
    nothing, offset = np.zeros(len(share)), np.concatenate([[0], np.cumsum(counts)])
    return Decisions(offset, nothing.astype(np.int64), nothing, nothing, share, share, share)


def searched_spread(record: Record) -> float:
    """The root mean square of Q(a) − the mean of Q over the actions, over all searches with several actions."""
    count = np.diff(record.offset)
    middle = (record.q_lo.astype(np.float64) + record.q_hi) / 2
    mean = np.add.reduceat(middle, record.offset[:-1]) / count
    square = np.add.reduceat((middle - np.repeat(mean, count)) ** 2, record.offset[:-1]) / count
    several = square[count > 1]
    return float(np.sqrt(several.mean())) if len(several) else 0.0

"""Networks that learn from given games: P the frequencies of moves, V outcomes, H the worlds behind views.

One game in ten is held out. An epoch samples as many examples as there are moves. The weights that count are those with
the lowest losses on the games that were held out; learning ends when these have not fallen for some epochs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qdts.kernels import Ints
from qdts.learning.config import at
from qdts.learning.experience.experience import GIVEN
from qdts.learning.experience.sampled import MEMORY
from qdts.learning.learner import Learner
from qdts.learning.nodes.clock import Stopwatch
from qdts.learning.nodes.nodes import mean_chain
from qdts.learning.selfplay.given import GivenGames, record_of
from qdts.learning.selfplay.record import Record
from qdts.learning.targets.belief import belief_examples, belief_targets, choose_moves, explorers_moves
from qdts.learning.targets.policy import policy_examples, policy_targets
from qdts.learning.targets.value import OUTCOME, ValueTargets, value_examples, value_targets
from qdts.nets.examples import PolicyExamples, choose
from qdts.nets.held_out import held_out_losses
from qdts.nets.networks import Steps, run_fits

HELD_OUT = 0.1
"""The share of games that nothing is learned from."""
PATIENCE = 5
"""Epochs without lower losses after which learning ends."""
EPOCHS = 50
"""The most epochs, where neither epochs nor minutes are given."""
SPLITTING, HOLDING, LEARNING = range(3)
"""What a stream of random numbers is for."""


@dataclass(frozen=True)
class Epoch:
    """One epoch of fitting."""

    epoch: int
    seconds: float
    learned: dict[str, float]
    """The mean losses of its steps."""
    held_out: dict[str, float]
    """The losses on the games that were held out."""
    best: bool
    """Whether the loss of P and V, or that of H, is the lowest so far."""


class _Examples(NamedTuple):
    """What some games teach."""

    policy: PolicyExamples
    value: ValueTargets
    belief: PolicyExamples | None
    """None where there is no H."""
    moves: int
    """How many moves of players they come from."""


class Fitting:
    """Networks that learn from given games, and the best of them so far."""

    def __init__(self, learner: Learner, given: GivenGames, epochs: int | None, minutes: float | None) -> None:
        self._learner, self._config = learner, learner.config
        self._epochs = epochs if epochs is not None or minutes is not None else EPOCHS
        self._minutes = minutes
        order = self._stream(SPLITTING).permutation(len(given))
        held = max(1, round(HELD_OUT * len(given)))
        self._parts = self._split(given, np.sort(order[held:]))
        self._kept: dict[int, _Examples] = {}
        """The examples of the only part; of several, each is made anew when it is needed."""
        some = self._split(given, np.sort(order[:held]))[0]
        self._held = self._make(given.take(some), self._stream(HOLDING), power=1.0)
        self._given = given
        self._clock = Stopwatch()
        self._best: dict[str, tuple[float, dict[str, Any]]] = {}
        self.history: list[Epoch] = []
        self.entropy = 0.0
        """Of the policy targets."""

    def epochs(self, report: Callable[[str, float], None]) -> Iterator[Epoch]:
        """Epoch after epoch."""
        number, stale = 0, 0
        while stale < PATIENCE and (progress := self._progress(number)) < 1.0:
            number += 1
            with self._clock:
                learned = self._epoch(number, progress, report)
                held_out = self._losses()
            best = self._remember(held_out)
            stale = 0 if best else stale + 1
            self.history.append(Epoch(number, self._clock.seconds, learned, held_out, best))
            yield self.history[-1]

    def finish(self) -> float:
        """Give all networks the best weights, averaged and newest alike; returns the seconds that it took."""
        networks = self._learner.networks
        for name, (_, state) in self._best.items():
            getattr(networks, name).load_state_dict(state)
        networks.model.load_state_dict(networks.average.state_dict())
        networks.average_belief.load_state_dict(networks.belief.state_dict())
        networks.updates = 1
        if 0 in self._kept:  # larger data are of games that are not listed, where nobody asks for coverage
            views = self._kept[0].policy.queries
            self._learner.source.coverage.put(views.vector, views.player)
        return self._clock.seconds

    def _progress(self, epochs: int) -> float:
        shares = [] if self._epochs is None else [epochs / self._epochs]
        shares += [] if self._minutes is None else [self._clock.seconds / (60.0 * self._minutes)]
        return max(shares)

    def _epoch(self, number: int, progress: float, report: Callable[[str, float], None]) -> dict[str, float]:
        """Learn from every part of the games once; the mean losses."""
        total: dict[str, float] = {}
        for k, part in enumerate(self._parts):
            report(f"epoch {number}", k / len(self._parts))
            stream = self._stream(LEARNING, number, k)
            losses = self._learn(self._examples(k, part, stream), progress, stream)
            for name, loss in losses.items():
                total[name] = total.get(name, 0.0) + loss * len(part)
        games = sum(map(len, self._parts))
        return {name: loss / games for name, loss in total.items()}

    def _learn(self, examples: _Examples, progress: float, stream: np.random.Generator) -> dict[str, float]:
        config, networks, game = self._config, self._learner.networks, self._learner.game
        steps = -(-examples.moves // config.fit.rows)
        rates = np.full(steps, at(config.fit.rate, config.fit.rate_last, progress))
        rows, weight = choose(examples.value.weight, steps * config.fit.rows, stream)
        chosen = _some(examples.value, rows)._replace(weight=weight)
        value = value_examples(game, chosen, self._learner.resources.evaluator(bulk=True))
        weights = {"value_loss": config.value.weight, "child_loss": config.value.child_weight}
        losses = networks.fit(
            lambda: examples.policy, lambda: value, Steps(rates, config.fit.rows, stream), weights,
            threads=self._learner.resources.threads,
        )  # fmt: skip
        if examples.belief is not None:
            rates = np.full(steps, at(config.belief.rate, config.belief.rate_last, progress))
            losses |= run_fits([networks.belief_fit(examples.belief, Steps(rates, config.fit.rows, stream))])
        self.entropy = examples.policy.entropy
        return losses

    def _losses(self) -> dict[str, float]:
        """The losses on the games that were held out."""
        value = value_examples(self._learner.game, self._held.value)
        return held_out_losses(
            self._learner.networks, self._held.policy, value, self._held.belief, self._config.fit.rows
        )

    def _remember(self, losses: dict[str, float]) -> bool:
        """Keep the weights of P and V, and those of H, where their losses are the lowest so far."""
        sums = {"average": losses["policy_loss"] + losses["value_loss"]}
        sums |= {"belief": losses["belief_loss"]} if "belief_loss" in losses else {}
        lower = [name for name, loss in sums.items() if name not in self._best or loss < self._best[name][0]]
        for name in lower:
            state = getattr(self._learner.networks, name).state_dict()
            self._best[name] = sums[name], copy.deepcopy(state)
        return bool(lower)

    def _examples(self, k: int, part: Ints, stream: np.random.Generator) -> _Examples:
        if k in self._kept:
            return self._kept[k]
        made = self._make(self._given.take(part), stream, power=self._config.policy.power)
        if len(self._parts) == 1:
            self._kept[k] = made
        return made

    def _make(self, games: GivenGames, stream: np.random.Generator, *, power: float) -> _Examples:
        game, record = games.game, record_of(games)
        moves = int((record.mover >= 0).sum())
        policy = policy_examples(game, policy_targets(record, "played", power=power))
        belief = None
        if game.hidden and self._config.belief.source != "exact":
            chosen = choose_moves(game, explorers_moves(record), max(moves, self._config.fit.rows), stream)
            belief = belief_examples(game, belief_targets(game, chosen), self._config.belief.power)
        return _Examples(policy, value_targets(record, OUTCOME), belief, moves)

    def _split(self, given: GivenGames, which: Ints) -> list[Ints]:
        """Games in parts whose nodes take about MEMORY bytes at most."""
        few = record_of(given.take(which[:: max(1, len(which) // 16)]))
        nodes = given.game.players + (_mean_chain(few) if given.game.hidden else 0.0)
        size = 8 * nodes * given.game.world_size * len(few.action) / len(few)
        parts = -(-len(which) // max(1, int(MEMORY / size)))
        return np.array_split(which, parts)

    def _stream(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._learner.resources.seed, 1, GIVEN, *purpose])


def _mean_chain(record: Record) -> float:
    """The mean number of SAMPLE nodes after a move."""
    moves = explorers_moves(record)
    return mean_chain(record.game, moves.world, moves.mover, moves.action)


def _some(targets: ValueTargets, rows: Ints) -> ValueTargets:
    return ValueTargets(
        targets.nodes.take(rows), targets.target[rows], targets.known[rows], targets.weight[rows], targets.spread[rows]
    )

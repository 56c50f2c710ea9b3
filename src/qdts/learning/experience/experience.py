"""The experience of a generation, and what it takes to make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from qdts.games.game import Game
from qdts.learning.config import Config
from qdts.learning.experience.coverage import Coverage
from qdts.learning.metrics import Line
from qdts.learning.nodes.clock import Clock
from qdts.learning.selfplay.record import Record
from qdts.nets.bayes import BayesExamples
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples
from qdts.nets.networks import Made, Networks, groups_of, use_threads
from qdts.nets.threads import fastest_threads

SELF_PLAY, FITTING, SAMPLING, BELIEF_FITTING, AVERAGE_SAMPLING, AVERAGE_FITTING = range(6)
SELF_PLAY_MOVES, MATCHES, GIVEN = range(6, 9)
"""What a stream of random numbers is for."""
BULK = 1024
"""Rows of one call of a network where many nodes are evaluated at once, at most."""
BATCHES = 2
"""Games with trees of their own side by side on a thread, for each row of a network's batch."""
Report = Callable[[str, float], None]
"""Called with the work that goes on, and the share of it that is done."""


def ignore(what: str, share: float) -> None:
    """A report that nobody reads."""


@dataclass(frozen=True, eq=False)
class Resources:
    """A game's networks, and what is needed to play with them."""

    game: Game
    config: Config
    seed: int
    networks: Networks
    threads: int = 1
    clock: Clock = field(default_factory=Clock)

    def use_threads(self) -> None:
        """Set torch's number of threads."""
        use_threads(self._torch_threads)

    @property
    def players(self) -> int:
        """Threads that play games with trees of their own.

        Around a small network most of the time is Python's, whose lock they would wait for: two are slower than one.
        """
        return self.threads if self.networks.model.trunk == "conv" else 1

    @cached_property
    def _torch_threads(self) -> int:
        """As many as are fastest for convolutions; one for smaller layers, where more do not pay."""
        if self.networks.model.trunk != "conv" or self.threads == 1:
            return 1
        return fastest_threads(self.networks.model, 2 * self.config.fit.rows, self.threads)

    def evaluator(self, *, average: bool = False, bulk: bool = False, ragged: bool = False) -> Network:
        """The newest networks, or those of averaged weights, as an evaluator with an empty cache.

        With `bulk` it takes large batches and remembers nothing, which is best where all nodes differ. With `ragged`
        a batch has only the rows that there are, of all games side by side: an evaluation depends on them by its
        rounding, but where few games are left most rows would be empty.
        """
        model, belief = groups_of(average=average, source=self.config.belief.source)
        play = self.config.play
        batch = BULK if bulk else BATCHES * play.batch if ragged else play.batch
        return self.networks.evaluator(
            model, belief, batch=batch, padded=not (bulk or ragged), cache=0 if bulk else play.cache
        )

    def stream(self, generation: int, purpose: int) -> np.random.Generator:
        """The random numbers of a generation for one purpose."""
        return np.random.default_rng([self.seed, generation, purpose])


class BeliefExamples(NamedTuple):
    """What H learns from."""

    counted: PolicyExamples
    bayes: BayesExamples | None = None
    """For the loss that holds H to Bayes' rule, where it has a weight."""


class Experience(NamedTuple):
    """What a generation learns from. Examples are made when they are first asked for, in the thread that needs them."""

    policy: Made[PolicyExamples]
    value: Made[ValueExamples]
    belief: Made[BeliefExamples] | None
    """None where H learns from games that are sampled once P has learned, or does not learn."""
    metrics: Line
    """`games` are those of this generation alone."""
    record: Record | None = None
    """The games, where they are kept."""
    steps: int | None = None
    """Optimiser steps of P, V and V_c, where they are not those of the settings."""


class Source(Protocol):
    """Makes the experience of each generation."""

    has_records: bool
    """Whether the games of a generation are kept, since later ones learn from them, too."""

    coverage: Coverage

    def make(self, generation: int, progress: float, report: Report) -> Experience:
        """The experience of a generation, when a share `progress` of the budget is spent."""

    def resume(self, last: Line, records: list[Record], /) -> None:
        """Take over what is needed from the metrics of the last generation, and the records that it left."""

    def outcome_residual(self) -> float | None:
        """The residual variance of V in the outcomes of the newest games; None where these are not kept."""

"""Where the time of learning goes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from qdts.nets.evaluator import Network
from qdts.search.evaluation.evaluator import Evaluations, Queries


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
        self.evaluate = network.evaluate
        self._network = network
        self._clock = clock

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the answer to every query."""
        began = time.perf_counter()
        self._network.evaluate_batch(queries, evaluations)
        self._clock.add("network", time.perf_counter() - began)
        self._clock.evaluations += len(queries.kind)

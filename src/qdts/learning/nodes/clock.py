"""Clocks: the time of a budget, and where the time of learning goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from qdts.nets.evaluator import Network
from qdts.search.evaluation.evaluator import Evaluations, Queries


@dataclass
class Stopwatch:
    """Seconds spent inside of its `with` blocks, and before."""

    seconds: float = 0.0
    _started: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started


@dataclass
class Clock:
    """Seconds spent on each part of the work; each thread has one of its own."""

    spent: dict[str, float] = field(default_factory=dict)
    evaluations: int = 0
    """Queries that networks have evaluated."""

    @contextmanager
    def part(self, name: str, without: str = "") -> Iterator[None]:
        """Add the time of a `with` block to a part, less what the block adds to the part `without`."""
        began, before = time.perf_counter(), self.spent.get(without, 0.0)
        yield
        inner = self.spent.get(without, 0.0) - before
        self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began - inner

    def add(self, other: Clock, share: float = 1.0) -> None:
        """Add a share of the time that another clock has counted, and all of its evaluations."""
        for name, seconds in other.spent.items():
            self.spent[name] = self.spent.get(name, 0.0) + share * seconds
        self.evaluations += other.evaluations


class Timed:
    """A network whose time is added up on a clock."""

    def __init__(self, network: Network, clock: Clock) -> None:
        self.game = network.game
        self.evaluate = network.evaluate
        self._network = network
        self._clock = clock

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the evaluation of every query."""
        with self._clock.part("network"):
            self._network.evaluate_batch(queries, evaluations)
        self._clock.evaluations += len(queries.kind)

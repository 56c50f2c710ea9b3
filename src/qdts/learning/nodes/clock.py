"""Clocks: the time of a budget, and where the time of learning goes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

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
    _guard: Lock = field(default_factory=Lock, repr=False)

    @contextmanager
    def part(self, name: str, *without: str) -> Iterator[None]:
        """Add the time of a `with` block to a part, less what the block adds to the parts `without`."""
        began, before = time.perf_counter(), self._sum(without)
        yield
        inner = self._sum(without) - before
        self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began - inner

    def _sum(self, parts: Sequence[str]) -> float:
        return sum(self.spent.get(part, 0.0) for part in parts)

    def add(self, other: Clock, share: float = 1.0) -> None:
        """Add a share of the time that another clock has counted, and all of its evaluations; any thread may."""
        with self._guard:
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

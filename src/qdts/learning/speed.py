"""The speed of learning, and where its time goes. `python -m qdts.learning.speed GAME` needs no front end.

The clock runs over whole generations, once everything is compiled. Shares of it:

    search      growing trees                   games       sampling games by the rules
    network     evaluations                     training    fitting P, V and H
    rest        targets, examples, records
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qdts.games.registry import load_game
from qdts.learning.config import preset, read_settings
from qdts.learning.learner import Learner
from qdts.learning.selfplay.record import save_record

GENERATIONS = 8
PARTS = ("search", "games", "network", "training")


class Pace:
    """Generations of learning, with their time; everything is compiled before the first."""

    def __init__(
        self, spec: str, *, settings: Sequence[str] = (), threads: int = 1, device: str = "cpu", seed: int = 0
    ) -> None:
        config = read_settings(settings, preset())
        self._learner = Learner(load_game(spec), config, seed, threads=threads, device=device)
        self._learner.use_threads()
        self._learner.warm_up()
        self.generations = 0
        self.games = 0
        self.visits = 0
        self.seconds = 0.0

    @property
    def model(self) -> str:
        """The networks, in words."""
        net = self._learner.networks.model
        size = sum(p.numel() for p in net.parameters())
        return f"{net.trunk} of {size:,} parameters, float32, after {self.generations} generations"

    def generation(self) -> float:
        """Learn from one more generation of games; the seconds it took."""
        self._learner.use_threads()
        began = time.perf_counter()
        self.generations += 1
        experience = self._learner.gather(self.generations, 0.0)
        if experience.record is not None:
            with TemporaryDirectory() as folder:
                save_record(experience.record, Path(folder) / "record.safetensors")
        self._learner.learn(experience, self.generations, 0.0)
        self.games += experience.metrics["games"]
        self.visits += experience.metrics.get("visits", 0)
        seconds = time.perf_counter() - began
        self.seconds += seconds
        return seconds

    @property
    def shares(self) -> dict[str, float]:
        """The share of time of each part of the work, and of the rest."""
        spent = self._learner.resources.clock.spent
        shares = {part: spent.get(part, 0.0) / self.seconds for part in PARTS if part in spent}
        return shares | {"rest": 1.0 - sum(shares.values())}

    def as_data(self) -> dict[str, Any]:
        """Everything, for JSON."""
        resources = self._learner.resources
        return {
            "game": resources.game.spec,
            "device": str(self._learner.networks.device),
            "threads": resources.threads,
            "generations": self.generations,
            "seconds": self.seconds,
            "games_per_second": self.games / self.seconds,
            "visits_per_second": self.visits / self.seconds,
            "evaluations_per_second": resources.clock.evaluations / self.seconds,
            "shares": self.shares,
        }


def measure_speed(
    spec: str,
    *,
    generations: int = GENERATIONS,
    settings: Sequence[str] = (),
    threads: int = 1,
    device: str = "cpu",
    seed: int = 0,
    report: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Games, visits and evaluations a second, and the share of each part of the work."""
    pace = Pace(spec, settings=settings, threads=threads, device=device, seed=seed)
    for generation in range(1, generations + 1):
        pace.generation()
        if report is not None:
            report(generation / generations)
    return pace.as_data()


if __name__ == "__main__":
    name, *given = sys.argv[1:] or ["leduc_poker"]
    options = dict(text.split("=", 1) for text in given if text.startswith(("threads=", "device=", "generations=")))
    others = [text for text in given if text.partition("=")[0] not in options]
    found = measure_speed(
        name,
        settings=others,
        threads=int(options.get("threads", 1)),
        device=options.get("device", "cpu"),
        generations=int(options.get("generations", GENERATIONS)),
    )
    sys.stdout.write(json.dumps(found) + "\n")

"""The speed of learning, and where its time goes. `python -m qdts.learning.speed GAME` needs no front end.

The clock runs over whole generations, once everything is compiled. Shares of it:

    search      growing trees          network     evaluations
    training    fitting P, V and H     rest        games, examples, records
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
    game = load_game(spec)
    config = read_settings(settings, preset())
    learner = Learner(game, config, seed, threads=threads, device=device)
    learner.use_threads()
    learner.warm_up()
    games = visits = 0
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        for generation in range(1, generations + 1):
            experience = learner.gather(generation, 0.0)
            if experience.record is not None:
                save_record(experience.record, Path(folder) / "record.safetensors")
            learner.learn(experience, generation, 0.0)
            games += experience.metrics["games"]
            visits += experience.metrics.get("visits", 0)
            if report is not None:
                report(generation / generations)
    seconds = time.perf_counter() - began
    clock = learner.resources.clock
    spent = clock.spent
    shares = {part: spent.get(part, 0.0) / seconds for part in ("search", "network", "training")}
    return {
        "game": game.spec,
        "device": device,
        "threads": threads,
        "generations": generations,
        "seconds": seconds,
        "games_per_second": games / seconds,
        "visits_per_second": visits / seconds,
        "evaluations_per_second": clock.evaluations / seconds,
        "shares": shares | {"rest": 1.0 - sum(shares.values())},
    }


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

"""A run left alone, and one killed at random moments until it is done: `killer.py folder generations settings…`.

Writes down after which generation it was killed each time. Each try is a copy of this process, which has compiled and
loaded everything, so that little time is lost.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from qdts.learning.loop import resume, train
from qdts.learning.run import is_run, open_run

TRIES = 60
"""Kills at most; then the run is left to end."""


def main(folder: Path, generations: int, settings: list[str]) -> None:
    train("kuhn_poker", generations=1, seed=5, out=folder / "warm", settings=settings)
    began = time.monotonic()
    train("kuhn_poker", generations=generations, seed=5, out=folder / "alone", settings=settings)
    longest, run = 4.0 * (time.monotonic() - began) / generations, folder / "killed"
    kills: list[int] = []
    draws = random.Random(3)
    while True:
        child = os.fork()
        if child == 0:
            attempt(run, generations, settings)
        if len(kills) == TRIES:
            os.waitpid(child, 0)
            break
        time.sleep(draws.uniform(0.0, longest))
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills.append(open_run(run).checkpoints()[-1] if is_run(run) and open_run(run).checkpoints() else 0)
    json.dump(kills, sys.stdout)


def attempt(run: Path, generations: int, settings: list[str]) -> None:
    """Go on, or begin if there is nothing yet; the process ends here."""
    try:
        if is_run(run):
            resume(run)
        else:
            train("kuhn_poker", generations=generations, seed=5, out=run, settings=settings)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])

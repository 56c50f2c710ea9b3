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

PAUSE = 0.005
"""Seconds between looks at a run."""


def main(folder: Path, generations: int, settings: list[str]) -> None:
    train("kuhn_poker", generations=1, seed=5, out=folder / "warm", settings=settings)
    began = time.monotonic()
    train("kuhn_poker", generations=generations, seed=5, out=folder / "alone", settings=settings)
    longest, run = 2.0 * (time.monotonic() - began) / generations, folder / "killed"
    kills: list[int] = []
    draws = random.Random(3)
    while True:
        child = os.fork()
        if child == 0:
            attempt(run, generations, settings)
        goal = newest(run) + draws.randrange(2)
        while running(child) and newest(run) < goal:
            time.sleep(PAUSE)
        time.sleep(draws.uniform(0.0, longest))
        if not running(child):
            break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills.append(newest(run))
    json.dump(kills, sys.stdout)


def newest(run: Path) -> int:
    """The newest checkpoint of a run, 0 before the first."""
    return open_run(run).checkpoints()[-1] if is_run(run) and open_run(run).checkpoints() else 0


def running(child: int) -> bool:
    """Whether a process has not ended; it can still be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


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

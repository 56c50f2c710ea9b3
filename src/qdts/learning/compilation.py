"""What a run compiles before it learns, all at once and by several processes: numba compiles one kernel at a time.

What is not listed here compiles when it is first called, which costs time but nothing else.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable

from qdts.code_cache import cache_root
from qdts.kernels import CachedKernel, is_interpreted

KERNELS = (
    "search.forest.machine.advance",
    "solving.tree.enumeration._walk",
    "games.batch._true_values",
    "search.forest.reuse.plant_all",
    "solving.regret.sequence_cfr._run",
    "solving.sequence.row_blocks._assign",
    "nets.encoding.decode",
    "search.forest.visit.growth.carry_over",
    "nets.cache.look_up",
    "solving.exact.values._reach",
    "solving.sequence.form._nash_conv",
    "nets.cache.remember",
    "nets.layers.fit_values",
    "nets.layers.fit_policy",
    "nets.layers.run_batches",
    "nets.encoding.encode",
    "games.batch._tabulate_choices",
    "games.batch._write_choices",
    "games.batch._count_choices",
    "solving.exact.best_response._sequences",
    "solving.exact.best_response._respond",
    "solving.sequence.form._behaviour",
    "solving.sequence.form._plan",
    "search.decision.mirror.mirror_steps",
    "search.evaluation.batches.accept",
    "solving.exact.values._history_values",
    "solving.exact.belief._worlds",
    "search.roots.are_views",
    "games.batch._tabulate_values",
    "games.batch._redact",
    "games.batch._movers",
    "games.batch._step",
    "games.batch._returns",
    "games.batch._fill",
    "games.batch._holes",
    "solving.sampled_games.add_views",
    "solving.sampled_games.back_up",
    "solving.sampled_games.add_spread",
    "solving.sampled_games.add_residual",
    "solving.sampled_games.choose_actions",
    "hashing._number_all",
    "nets.examples.find_above",
)
"""Every kernel that learning a game with hidden information calls, those that take longest to compile first."""

MOST_PROCESSES = 4
"""Each takes some hundred megabytes."""

SERVE = "from qdts.learning.compilation import serve; serve()"

Report = Callable[[int, int], None]
"""Hears how many kernels are compiled, and of how many."""


def compile_ahead(report: Report) -> None:
    """Compile what a run needs and the cache lacks; nothing is reported where it lacks nothing."""
    if is_interpreted():
        return
    missing = deque(name for name in KERNELS if not named(name).is_kept())
    if not missing:
        return
    processes = min(_cores(), MOST_PROCESSES, len(missing))
    made, of = 0, len(missing)
    report(made, of)

    def tell() -> None:
        nonlocal made
        made += 1
        report(made, of)

    if processes > 1 and os.access(cache_root(), os.W_OK):
        _compile_apart(missing, processes, tell)
    while missing:
        named(missing.popleft()).made()
        tell()


def named(name: str) -> CachedKernel:
    """The kernel with a name in KERNELS."""
    module, _, function = name.rpartition(".")
    found = getattr(importlib.import_module(f"qdts.{module}"), function)
    assert isinstance(found, CachedKernel)
    return found


def serve() -> None:
    """Compile one kernel for each line of standard input, and say when it is done: what a process of its own does."""
    for line in sys.stdin:
        named(line.strip()).made()
        sys.stdout.write(line)
        sys.stdout.flush()


def _compile_apart(missing: deque[str], processes: int, tell: Callable[[], None]) -> None:
    """Have processes of their own compile what is missing, each the next one when it is done with one.

    What a process fails at stays missing.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    children = [_start(environment) for _ in range(processes)]

    def employ(child: subprocess.Popen[str]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        while missing:
            name = missing.popleft()
            with contextlib.suppress(OSError):  # it has ended
                child.stdin.write(f"{name}\n")
                child.stdin.flush()
            if not child.stdout.readline():
                missing.append(name)
                return
            tell()

    threads = [threading.Thread(target=employ, args=[child], daemon=True) for child in children]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for child in children:
            child.kill()
            child.wait()


def _start(environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", SERVE]
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

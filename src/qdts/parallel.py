"""Independent jobs on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def in_parallel(jobs: Sequence[Callable[[], T]], threads: int, prepare: Callable[[], object] | None = None) -> list[T]:
    """What each job returns, in their order; at most so many run at once.

    Args:
        jobs: They must not depend on each other. Threads help as far as the jobs release Python's lock, which compiled
            kernels, numpy and torch do.
        threads: 1 runs one job after the other, in the thread of the caller.
        prepare: Called in each new thread before its first job.

    Returns:
        The results. An exception of a job is raised once all have ended.

    Examples:
        >>> in_parallel([lambda: 1, lambda: 2], threads=2)
        [1, 2]
    """
    if threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(threads, len(jobs)), initializer=prepare) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]

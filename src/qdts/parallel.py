"""Independent jobs on several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

T = TypeVar("T")


def in_parallel(
    jobs: Sequence[Callable[[], T]],
    threads: int,
    prepare: Callable[[], object] | None = None,
    stop: Callable[[], object] | None = None,
) -> list[T]:
    """What each job returns, in their order; at most so many run at once.

    Args:
        jobs: They must not depend on each other. Threads help as far as the jobs release Python's lock, which compiled
            kernels, numpy and torch do.
        threads: 1 runs one job after the other, in the thread of the caller.
        prepare: Called in each new thread before its first job.
        stop: Called when a job has failed or Ctrl-C comes, so that jobs which can may end early.

    Returns:
        The results. An exception of a job is raised once all have ended.

    Examples:
        >>> in_parallel([lambda: 1, lambda: 2], threads=2)
        [1, 2]
    """
    if threads == 1 or len(jobs) <= 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(threads, len(jobs)), initializer=prepare) as pool:
        try:
            return [future.result() for future in [pool.submit(job) for job in jobs]]
        except BaseException:
            if stop is not None:
                stop()
            raise


def in_turns(
    jobs: Sequence[Generator[None, None, T]], threads: int, prepare: Callable[[], object] | None = None
) -> list[T]:
    """What each job returns, in their order; at most so many run at once, and each makes way wherever it yields.

    So three long jobs keep two threads busy to the end, where whole jobs would leave one of them idle during the last.

    Args:
        jobs: They must not depend on each other, nor on a thread: each may go on in another one after it has yielded.
        threads: 1 runs all of them in the thread of the caller.
        prepare: Called in each new thread before its first job.

    Returns:
        The results. An exception of a job, or Ctrl-C, is raised once the jobs at work have yielded; they do not end.

    Examples:
        >>> def count(n):
        ...     for _ in range(n):
        ...         yield
        ...     return n
        >>> in_turns([count(3), count(1)], threads=2)
        [3, 1]
    """
    waiting, found, stopped = deque(enumerate(jobs)), dict[int, T](), Event()

    def take_turns() -> None:
        while not stopped.is_set():
            try:
                k, job = waiting.popleft()
            except IndexError:
                return
            try:
                next(job)
            except StopIteration as end:
                found[k] = end.value
            except BaseException:
                stopped.set()
                raise
            else:
                waiting.append((k, job))

    in_parallel([take_turns] * min(threads, len(jobs)), threads, prepare, stopped.set)
    return [found[k] for k in range(len(jobs))]

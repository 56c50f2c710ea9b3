"""Independent jobs on several threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from functools import partial

import pytest

from qdts.parallel import in_parallel, in_turns


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order(threads: int) -> None:
    jobs = [partial(pow, n, 2) for n in range(7)]
    assert in_parallel(jobs, threads) == [n * n for n in range(7)]


def test_two_jobs_run_at_once() -> None:
    """Each waits for the other."""
    both = threading.Barrier(2, timeout=30)
    assert sorted(in_parallel([both.wait, both.wait], 2)) == [0, 1]


def test_an_exception_is_raised_after_all_jobs() -> None:
    done = []
    with pytest.raises(ZeroDivisionError):
        in_parallel([lambda: 1 // 0, lambda: done.append(1)], 2)
    assert done == [1]


def counting(turns: int, seen: list[int], who: int) -> Generator[None, None, int]:
    """Note down each of some turns, and return how many they were."""
    for _ in range(turns):
        seen.append(who)
        yield
    return turns


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_jobs_with_turns_return_in_order(threads: int) -> None:
    assert in_turns([counting(turns, [], 0) for turns in (3, 0, 7, 1)], threads) == [3, 0, 7, 1]
    assert in_turns([], threads) == []


def test_jobs_take_turns() -> None:
    seen: list[int] = []
    in_turns([counting(3, seen, 0), counting(2, seen, 1), counting(1, seen, 2)], threads=1)
    assert seen == [0, 1, 2, 0, 1, 0]


def test_two_jobs_with_turns_run_at_once() -> None:
    """In each turn one waits for the other."""
    both = threading.Barrier(2, timeout=30)

    def meet() -> Generator[None, None, None]:
        for _ in range(3):
            both.wait()
            yield

    assert in_turns([meet(), meet()], threads=2) == [None, None]


def test_an_exception_of_a_job_with_turns_is_raised() -> None:
    def fail() -> Generator[None, None, None]:
        yield
        raise ZeroDivisionError

    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError):
            in_turns([fail(), for_ever()], threads)


def for_ever() -> Generator[None, None, None]:
    while True:
        yield


def test_ctrl_c_ends_jobs_with_turns() -> None:
    """Also where the thread that waits hears of it, and not one that works."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> Generator[None, None, None]:
        yield
        signal.raise_signal(signal.SIGINT)
        yield from for_ever()

    try:
        with pytest.raises(KeyboardInterrupt):
            in_turns([interrupt(), for_ever()], threads=2)
    finally:
        signal.signal(signal.SIGINT, before)

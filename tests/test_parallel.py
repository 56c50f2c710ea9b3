"""Independent jobs on several threads."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from qdts.parallel import in_parallel


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

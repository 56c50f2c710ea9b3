"""How far something is, on standard error: a bar on a terminal, a plain line now and then elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 5.0
"""Seconds between two plain lines."""

Report = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""


@contextmanager
def bar(what: str, unit: str, *, silent: bool) -> Iterator[Report]:
    """Something to report to while work is done; `what` it is, and in which `unit` it is counted."""
    from rich.console import Console

    screen = Console(stderr=True, highlight=False)
    if silent:
        yield lambda _done, _all: None
    elif not screen.is_terminal:
        yield _lines(what, unit)
    else:
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
        with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as progress:
            task = progress.add_task(escape(what), total=None)
            yield lambda done, of: progress.update(task, completed=done, total=of)


def _lines(what: str, unit: str) -> Report:
    told = time.monotonic()

    def report(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() >= told + PAUSE:
            told = time.monotonic()
            print(f"{what}: {done:,} of {of:,} {unit}", file=sys.stderr, flush=True)

    return report

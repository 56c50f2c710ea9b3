"""Progress on standard error: a heartbeat, a status line, and a bar.

A heartbeat prints what is going on every few seconds, from a thread of its own. A status line is printed by whoever
reports progress. A bar is drawn on a terminal; elsewhere it is a status line.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

BEAT_SECONDS = 3.0
"""Between two lines of a heartbeat."""
PAUSE = 5.0
"""Seconds between two lines of a bar where there is no terminal."""
LOADING = "loading {} (what is not compiled yet is compiled now, once)"
ERASE = "\r\x1b[2K"
"""Empties the current line of a terminal."""

Report = Callable[[int, int], None]
"""Called with the work done and the work in total."""


class Heartbeat:
    """A line on standard error every few seconds: the stage, its details and the time since the start."""

    def __init__(self) -> None:
        self.stage, self.size = "", ""
        self.started = time.perf_counter()
        self.over = threading.Event()
        self.beat = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self.beat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.beat.join()

    def _beat(self) -> None:
        while not self.over.wait(BEAT_SECONDS):
            parts = (self.stage, self.size, f"{time.perf_counter() - self.started:.0f} s")
            print("qdts:", ", ".join(part for part in parts if part), file=sys.stderr, flush=True)

    def begin(self, stage: str) -> None:
        """Enter a new stage."""
        self.stage, self.size = stage, ""


@contextmanager
def loading(game: str) -> Iterator[None]:
    """Say every few seconds that a game is loaded, and compiled, while it is."""
    with Heartbeat() as beat:
        beat.begin(LOADING.format(game))
        yield


class StatusLine:
    """A line on standard error, renewed at most every `pause` seconds: in place on a terminal, else below the last."""

    def __init__(self, pause: float, *, silent: bool = False) -> None:
        self.pause, self.silent = pause, silent
        self.started = self.last = time.perf_counter()
        self.in_place = sys.stderr.isatty()
        self.shown = False

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.started

    def show(self, text: str) -> None:
        """Print a text, unless the last one is too recent."""
        now = time.perf_counter()
        if self.silent or now - self.last < self.pause:
            return
        self.last, self.shown = now, True
        start, end = (ERASE, "") if self.in_place else ("", "\n")
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing behind on a terminal."""
        if self.shown and self.in_place:
            print(ERASE, end="", file=sys.stderr, flush=True)


@contextmanager
def bar(what: str, unit: str, *, silent: bool) -> Iterator[Report]:
    """Show progress while work is done.

    Args:
        what: The work, in words.
        unit: What is counted.
        silent: Whether to show nothing.

    Yields:
        A function to report progress to.
    """
    from rich.console import Console

    screen = Console(stderr=True, highlight=False)
    if silent:
        yield lambda _done, _all: None
    elif not screen.is_terminal:
        line = StatusLine(PAUSE)
        yield lambda done, of: line.show(f"{what}: {done:,} of {of:,} {unit}")
    else:
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
        with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as progress:
            task = progress.add_task(escape(what), total=None)
            yield lambda done, of: progress.update(task, completed=done, total=of)

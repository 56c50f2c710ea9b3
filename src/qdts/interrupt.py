"""Ctrl-C as a question instead of an exception, so that long work stops between two steps and keeps what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class Interrupt:
    """Whether someone has asked to stop."""

    asked: bool = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within this block the first Ctrl-C only sets `asked`; the second one raises KeyboardInterrupt as usual.

    Outside of the main thread, where signals can't be caught, nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)

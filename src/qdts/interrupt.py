"""Ctrl-C that stops long work at once: between two steps, which keeps the result so far, or within a single long call.

Python handles Ctrl-C only between two of its own instructions. `apart` runs a call in a thread of its own, so that the
main thread is free to handle it; a kernel that takes `stop_flag()` reads it at every step and returns once it is set.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

import numpy as np
from numba import int64

from qdts.kernels import Ints

T = TypeVar("T")

GRACE = 0.5
"""Seconds that a call has to stop by itself; then it is left behind, in a thread that ends with the process."""
LISTEN = 0.2
"""Seconds after which the main thread looks for Ctrl-C, where a system does not end its waiting (Windows)."""
APART = "qdts-apart"
"""The name of the threads of `apart`."""
FlagType = int64[::1]
"""The numba type of a stop flag: int64[1], not 0 once work is to stop."""

_local = threading.local()
_left: list[threading.Event] = []
"""An event for each call that was left behind, set when it ends."""


@dataclass
class Interrupt:
    """Whether Ctrl-C was pressed."""

    requested: bool = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within this block the first Ctrl-C only sets `requested`; the second one raises KeyboardInterrupt as usual.

    Outside of the main thread, where signals can't be caught, nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def request(_number: int, _frame: FrameType | None) -> None:
        if interrupt.requested:
            raise KeyboardInterrupt
        interrupt.requested = True

    before = signal.signal(signal.SIGINT, request)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


def stop_flag() -> Ints:
    """The stop flag of the call that this thread runs for `apart`; elsewhere a flag that is never set."""
    flag: Ints = getattr(_local, "flag", np.zeros(1, np.int64))
    return flag


def verify_not_stopped() -> None:
    """Raise KeyboardInterrupt if the flag is set: the result of a kernel is then incomplete."""
    if stop_flag()[0]:
        raise KeyboardInterrupt


def apart(work: Callable[[], T]) -> T:
    """Call `work` in a thread of its own; Ctrl-C sets its stop flag and raises KeyboardInterrupt at once.

    Outside of the main thread, which alone handles Ctrl-C, it is simply called.

    Args:
        work: The call.

    Returns:
        What the call returns.

    Raises:
        KeyboardInterrupt: After Ctrl-C.
        BaseException: Whatever the call raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    given: list[T] = []
    raised: list[BaseException] = []
    flag, ended = np.zeros(1, np.int64), threading.Event()

    def run() -> None:
        _local.flag = flag
        try:
            given.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name=APART, daemon=True).start()
    try:
        while not ended.wait(LISTEN):
            pass
    except KeyboardInterrupt:
        flag[0] = 1
        if not ended.wait(GRACE):
            _left.append(ended)
        raise
    if raised:
        raise raised[0]
    return given[0]


def left_behind() -> bool:
    """Whether a call that did not stop in time still runs."""
    return not all(ended.is_set() for ended in _left)

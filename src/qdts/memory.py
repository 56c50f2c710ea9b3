"""The memory of this process."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
PEAK = "VmHWM:"
"""The line of Linux's status file that has the peak, in kB."""
FORGET_PEAK = "5"
"""What Linux is told to begin a new peak."""


def peak_memory() -> float | None:
    """The most memory that the process has had, in MB; None where the system doesn't say."""
    with suppress(OSError):
        lines = (line.split() for line in STATUS.read_text(encoding="utf-8").splitlines())
        return next(int(words[1]) * 1024 / 1e6 for words in lines if words and words[0] == PEAK)
    if sys.platform == "win32":
        return None
    from resource import RUSAGE_SELF, getrusage

    peak = getrusage(RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def forget_peak() -> None:
    """Let the peak begin anew from what the process has now, where the system can."""
    with suppress(OSError):
        RESET.write_text(FORGET_PEAK, encoding="utf-8")

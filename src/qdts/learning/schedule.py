"""Settings that change as a run goes on."""

from __future__ import annotations


def at(first: float, last: float, progress: float) -> float:
    """From the first value to the last by equal factors, where both are positive; else by equal steps.

    `progress` runs from 0 to 1.
    """
    if first > 0.0 and last > 0.0:
        return first * (last / first) ** progress
    return first + (last - first) * progress

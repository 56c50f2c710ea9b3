"""What a sweep reports while it runs, and how much memory it may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_MEMORY = 2 << 30
"""Bytes that a sweep may hold, besides a policy's own table."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is."""

    player: int
    share: float
    """Of this player's sweep, with equal shares for all actions at a view: a rough measure."""
    histories: int
    views: int


SweepReport = Callable[[SweepProgress], None]

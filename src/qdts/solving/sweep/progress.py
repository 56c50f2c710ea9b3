"""What a long measurement reports while it runs, and how much memory a sweep may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_MEMORY = 2 << 30
"""Bytes that a sweep may hold, besides a policy's own table."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep, or a measurement cell by cell, is."""

    player: int
    share: float | None
    """Of this player's sweep, with equal shares for all actions at a view: a rough measure. None while the policy is
    evaluated at their views, before a measurement cell by cell."""
    histories: int | None
    """How many were met; None cell by cell, where nobody counts them."""
    views: int


SweepReport = Callable[[SweepProgress], None]

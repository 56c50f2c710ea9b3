"""Notes on names that have changed: the old one still works for one version."""

from __future__ import annotations

import warnings


def note_renamed(old: str, new: str) -> None:
    """Warn that something is given by its former name: `note_renamed("select=even", "select=uniform")`."""
    warnings.warn(f"{old} is now called {new}, and the old name goes with the next version", FutureWarning, 2)

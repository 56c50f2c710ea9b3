"""Notes: what a person should know although nothing is wrong. The command line shows each in one line."""

from __future__ import annotations

import warnings


class Note(UserWarning):
    """Something that happens on a person's behalf, such as running the file of a game."""


def note(text: str) -> None:
    """Warn of something that a person should know."""
    warnings.warn(text, Note, 2)


def note_renamed(old: str, new: str) -> None:
    """Warn that something is given by its former name: `note_renamed("select=even", "select=uniform")`."""
    warnings.warn(f"{old} is now called {new}, and the old name goes with the next version", FutureWarning, 2)

"""The exit codes of `qdts`."""

BROKEN_LAW = 1
"""A game breaks a law of `qdts check`."""
WRONG_INPUT = 2
"""Something that was given can be corrected."""
INTERRUPTED = 130
"""Ctrl-C, whether a result was kept or not."""

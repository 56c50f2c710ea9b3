"""The command `qdts`."""

from qdts.cli.app import main

__all__ = ["main"]

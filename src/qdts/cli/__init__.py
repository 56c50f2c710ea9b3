"""The command line of `qdts`: its commands, what they display, and the benchmarks.

The last of the rooms: it may import from all others.
"""

from qdts.cli.app import main

__all__ = ["main"]

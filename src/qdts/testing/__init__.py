"""The conformance suite, shipped so that anyone's game can be put to it."""

from qdts.testing.conformance import Report, check_game
from qdts.testing.faults import ConformanceError, Law

__all__ = ["ConformanceError", "Law", "Report", "check_game"]

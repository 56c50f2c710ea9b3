"""For all tests of the command line."""

from __future__ import annotations

import pytest

from qdts.cli.display import progress


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no heartbeat is printed."""
    monkeypatch.setattr(progress, "BEAT_SECONDS", 3600.0)

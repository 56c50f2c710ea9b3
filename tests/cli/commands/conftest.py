"""For the tests of commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdts import load_game, save_policy
from qdts.solving import solve


@pytest.fixture(scope="session")
def kuhn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An equilibrium of Kuhn poker."""
    file = tmp_path_factory.mktemp("policies") / "kuhn.npz"
    save_policy(solve(load_game("kuhn_poker"), "lp").policy, file)
    return file

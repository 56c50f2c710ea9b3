"""Files of version 0.1.0 load and resume: a run of two generations of Kuhn poker, and a policy.

They were made by that version with the settings in the run's config.json: `qdts train kuhn_poker --generations 2`, and
`save_policy` of its agent's table.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import qdts
from qdts.learning.run import Run

DATA = Path(__file__).parent / "data"


@pytest.fixture
def saved(tmp_path: Path) -> Run:
    shutil.copytree(DATA / "run-0.1.0", tmp_path / "run")
    return qdts.open_run(tmp_path / "run")


def test_a_saved_run_opens_and_resumes(saved: Run) -> None:
    before = saved.metrics()
    assert (saved.game.spec, saved.seed, saved.generations, saved.checkpoints()) == ("kuhn_poker", 4, 2, [1, 2])
    assert (saved.config.policy.uniform, saved.config.play.lanes, saved.config.net.width) == (0.05, 1024, 8)
    resumed = qdts.resume(saved.folder, generations=3)
    assert resumed.checkpoints() == [1, 2, 3]
    assert resumed.metrics()[:2] == before
    assert resumed.metrics()[2]["games"] == 60


def test_a_saved_run_plays(saved: Run) -> None:
    """Its networks are those that the metrics were measured with."""
    last = saved.metrics()[-1]
    for average, name in ((False, "nash_conv"), (True, "nash_conv_average")):
        agent = qdts.load_agent(saved, average=average)
        assert qdts.nash_conv(saved.game, agent.table()) == pytest.approx(last[name], abs=1e-6)


def test_a_saved_policy_loads(saved: Run) -> None:
    policy = qdts.load_policy(DATA / "policy-0.1.0.npz")
    np.testing.assert_allclose(policy.probability, qdts.load_agent(saved).table().probability, atol=1e-6)

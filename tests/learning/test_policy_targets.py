"""Targets of P: equal to what a slow twin counts search by search."""

from __future__ import annotations

import numpy as np
import pytest

from learning.samples import SPECS, sample
from qdts.learning.config import SETTINGS
from qdts.learning.targets.policy import POLICY_TARGETS, policy_targets
from qdts.learning.targets.value import VALUE_TARGETS
from qdts.nets.trunk import TRUNKS
from qdts.search.evaluation.evaluator import ACT


def test_the_tables_hold_what_the_settings_offer() -> None:
    """A new target or trunk is an entry of its table and a word of its setting."""
    assert {"auto", *POLICY_TARGETS} == {*SETTINGS["policy.target"].choices}
    assert {*VALUE_TARGETS, "auto"} == {*SETTINGS["value.target"].choices}
    assert {"auto", *TRUNKS} == {*SETTINGS["net.trunk"].choices}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_targets_of_policies(spec: str, power: float) -> None:
    """Every searched view with the target of its search, or with how its action was played."""
    record = sample(spec)
    game = record.game
    searched, played = (policy_targets(record, target, power=power) for target in ("mirror", "played"))
    for s in range(len(record.offset) - 1):
        steps = np.flatnonzero(record.search == s)
        mover, world = int(record.mover[steps[0]]), record.worlds[steps[0]]
        for targets in (searched, played):
            assert (targets.nodes.kind[s], targets.nodes.player[s]) == (ACT, mover)
            np.testing.assert_array_equal(targets.nodes.vector[s], game.view(world, mover) if game.hidden else world)
        of = slice(int(record.offset[s]), int(record.offset[s + 1]))
        np.testing.assert_array_equal(searched.target[of], record.target[of])
        assert searched.weight[s] == len(steps) ** power
        actions = record.action[steps[record.explored[steps] == 0]].tolist()
        shares = [actions.count(a) / max(1, len(actions)) for a in game.legal(world)]
        np.testing.assert_allclose(played.target[of], shares)
        assert played.weight[s] == (len(actions) ** power if actions else 0.0)
    assert len(searched.weight) == len(played.weight) == len(record.offset) - 1

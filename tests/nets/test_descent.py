"""Fits in closed form beside autograd, which is slower and says the same."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

from learning.samples import sample
from nets.test_networks import HIDDEN, SPECS, examples_of, networks_of
from qdts import load_game
from qdts.kernels import Reals32
from qdts.learning.targets.belief import belief_examples, belief_targets, explorers_moves
from qdts.nets.descent import TURN, LayersDescent, PolicyObjective, ValueObjective
from qdts.nets.gradients import cross_entropy_gradient, value_gradient
from qdts.nets.losses import Batch, child_loss, cross_entropy, policy_tensors, value_loss, value_tensors
from qdts.nets.model import Size
from qdts.nets.networks import Networks, Steps, run_fits
from qdts.nets.trunk import Mlp, Towers

WEIGHTS = {"value_loss": 0.7, "child_loss": 1.6}
SMALL, LARGE = 20, 10_000
"""Examples of a step: a few, and more than there are, so that each has a weight of its own."""


def by_autograd(networks: Networks, monkeypatch: pytest.MonkeyPatch) -> Networks:
    """A copy that takes all gradients from autograd."""
    slow = copy.deepcopy(networks)
    slow.restore(networks.tensors(), "the copy")
    monkeypatch.setattr(slow, "_in_closed_form", lambda _: False)
    return slow


def assert_close(fast: Networks, slow: Networks) -> None:
    """Equal up to rounding: weights, averages, and what the optimisers know."""
    one, other = fast.tensors(), slow.tensors()
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name].numpy(), other[name].numpy(), 2e-4, 2e-6, err_msg=name)


def steps_of(count: int, seed: int) -> Steps:
    return Steps(np.geomspace(0.003, 0.001, 12), count, np.random.default_rng(seed))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("count", [SMALL, LARGE])
@pytest.mark.parametrize("spec", SPECS)
def test_p_and_v(spec: str, count: int, layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second fit goes on from what the optimisers know after the first."""
    fast = Networks(load_game(spec), Size(8, layers, "mlp"), seed=5)
    policy, value = examples_of(spec, networks_of(fast.game))
    numbers = np.random.default_rng(1)
    value = value._replace(
        children=numbers.uniform(-1, 1, value.children.shape),
        has_children=numbers.integers(0, 2, value.queries.choices.shape).astype(float),
    )
    slow = by_autograd(fast, monkeypatch)
    for seed in (0, 1):
        found, expected = (x.fit(lambda: policy, lambda: value, steps_of(count, seed), WEIGHTS) for x in (fast, slow))
        assert found == pytest.approx(expected, rel=1e-4)
        assert set(found) == {"policy_loss", "value_loss", "child_loss"}
        assert_close(fast, slow)


@pytest.mark.parametrize("count", [SMALL, LARGE])
@pytest.mark.parametrize("spec", HIDDEN)
def test_h(spec: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = networks_of(load_game(spec))
    examples = belief_examples(fast.game, belief_targets(fast.game, explorers_moves(sample(spec, 12))))
    slow = by_autograd(fast, monkeypatch)
    for seed in (0, 1):
        found, expected = (run_fits([x.belief_fit(examples, steps_of(count, seed))]) for x in (fast, slow))
        assert found == pytest.approx(expected, rel=1e-4)
    run_fits([x.average_belief_fit(examples, steps_of(count, 2)) for x in (fast, slow)])
    assert_close(fast, slow)


def gradient_of(objective: PolicyObjective | ValueObjective, rows: Any, outputs: torch.Tensor) -> tuple[Reals32, Any]:
    """What a gradient writes over numbers that were there before, and its losses."""
    out, losses, given = (
        np.full(outputs.shape, 7.0, np.float32),
        np.zeros(len(objective.names)),
        outputs.detach().numpy(),
    )
    if isinstance(objective, PolicyObjective):
        cross_entropy_gradient(rows, given, out, losses, objective.targets)
    else:
        value_gradient(rows, given, out, losses, objective.targets, *objective.weights)
    return out, losses


def slope_of(outputs: torch.Tensor) -> Reals32:
    """What autograd found."""
    assert outputs.grad is not None
    slope: Reals32 = outputs.grad.numpy()
    return slope


@pytest.mark.parametrize("spec", SPECS)
def test_gradients_by_outputs(spec: str) -> None:
    """Each kernel alone, where outputs are far from 0 and examples have weights."""
    networks, numbers = networks_of(load_game(spec)), np.random.default_rng(2)
    policy, value = examples_of(spec, networks)
    rows = numbers.integers(len(policy.weight), size=50)
    logits = torch.tensor(numbers.normal(0, 4, (50, networks.shape.actions)), dtype=torch.float32, requires_grad=True)
    targets = policy_tensors(policy, networks.device, numbers.uniform(0.1, 3, len(policy.weight)))
    loss = cross_entropy(logits, targets.take(rows))
    loss.backward()  # type: ignore[no-untyped-call]
    found, losses = gradient_of(PolicyObjective("policy_loss", targets), rows, logits)
    np.testing.assert_allclose(found, slope_of(logits), rtol=1e-4, atol=1e-7)
    assert losses == pytest.approx([loss.item()], rel=1e-5)

    rows = numbers.integers(len(value.weight), size=50)
    width = networks.shape.outputs - networks.shape.actions
    outputs = torch.tensor(numbers.normal(0, 2, (50, width)), dtype=torch.float32, requires_grad=True)
    known = numbers.integers(0, 2, value.known.shape).astype(float)
    value = value._replace(known=known, has_children=numbers.integers(0, 2, value.has_children.shape).astype(float))
    weight = numbers.uniform(0.1, 3, len(value.weight))
    of_values = value_tensors(value, networks.shape, networks.device, weight)
    batch = Batch(of_values.take(rows), outputs)
    parts = [value_loss(batch), child_loss(batch)]
    (0.7 * parts[0] + 1.6 * parts[1]).backward()  # type: ignore[no-untyped-call]
    found, losses = gradient_of(ValueObjective(of_values, WEIGHTS), rows, outputs)
    np.testing.assert_allclose(found, slope_of(outputs), rtol=1e-4, atol=1e-7)
    assert losses == pytest.approx([part.item() for part in parts], rel=1e-5)


def test_a_model_is_as_it_was_until_its_fit_has_ended() -> None:
    """Ctrl-C in the middle of a fit leaves weights and optimiser as they were."""
    networks = networks_of(load_game("kuhn_poker"))
    policy, _ = examples_of("kuhn_poker", networks)
    before = networks.tensors()

    def interrupted(step: int) -> torch.Tensor:
        if step == TURN:
            raise KeyboardInterrupt
        return networks.inputs(policy.queries, np.tile(np.arange(5), TURN))

    body = networks.model.body
    assert isinstance(body, Towers)
    assert isinstance(body.policy, Mlp)
    descent = LayersDescent(body.policy, networks._adams["model"][0], 5)
    objective = PolicyObjective("policy_loss", policy_tensors(policy, networks.device))
    steps, first = 2 * TURN, descent.layers.weights.copy()
    with pytest.raises(KeyboardInterrupt):
        run_fits([descent.fit(interrupted, np.tile(np.arange(5), (steps, 1)), objective, np.full(steps, 0.01))])
    assert not np.array_equal(descent.layers.weights, first)
    after = networks.tensors()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)

"""Descent: the steps of a fit, down the gradient of some losses, by Adam.

Two ways lead down. `descend` takes gradients from autograd, for any model and any losses. `LayersDescent` has them in
closed form, for linear layers on the CPU (`layers.py`): a turn of steps is one call that leaves Python's lock alone, so
that fits side by side do not wait for each other. Both agree up to rounding (`tests/nets/test_descent.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from qdts.kernels import Ints, Reals, Reals32
from qdts.nets.gradients import PolicyTargets, ValueTargets
from qdts.nets.layers import MAX_GRADIENT_NORM, Layers, fit_policy, fit_values, make_layers
from qdts.nets.losses import PolicyTensors, ValueTensors
from qdts.nets.trunk import Mlp, flat

STATE = ("step", "exp_avg", "exp_avg_sq")
"""What the optimiser knows of each parameter."""
TURN = 10
"""Steps after which a fit makes way for another one."""

Fit = Generator[None, None, dict[str, float]]
"""A fit, which returns the means of its losses; it yields after every TURN steps (`qdts.parallel.in_turns`)."""

Losses = Callable[[int], dict[str, Tensor]]
"""From the number of a step to its losses, by name."""


def make_adam(module: nn.Module) -> torch.optim.Adam:
    """An optimiser of all parameters."""
    return torch.optim.Adam(module.parameters(), fused=True)


def parameters_of(adam: torch.optim.Adam) -> list[Tensor]:
    """What an optimiser fits."""
    return [p for group in adam.param_groups for p in group["params"]]


def descend(adam: torch.optim.Adam, losses: Losses, rates: Reals, weights: Mapping[str, float] | None = None) -> Fit:
    """Take a step of each rate down the weighted sum of losses, by autograd.

    Args:
        adam: The optimiser.
        losses: The losses of each step.
        rates: Learning rates, one for each step.
        weights: Of the losses, by name; 1 for one that is not named.
    """
    total: dict[str, Tensor] = {}
    weights = weights or {}
    for step, rate in enumerate(rates):
        found = losses(step)
        for group in adam.param_groups:
            group["lr"] = float(rate)
        adam.zero_grad()
        total_loss = torch.stack([weights.get(name, 1.0) * loss for name, loss in found.items()]).sum()
        total_loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters_of(adam), MAX_GRADIENT_NORM)
        adam.step()
        for name, loss in found.items():
            total[name] = total.get(name, 0.0) + loss.detach()
        if (step + 1) % TURN == 0:
            yield
    return {name: float(sum_) / len(rates) for name, sum_ in total.items()}


class Objective(Protocol):
    """What linear layers are fitted to: some losses, with the targets of all examples."""

    names: tuple[str, ...]
    """The losses."""

    def fit(self, layers: Layers, inputs: Reals32, rows: Ints, rates: Reals, taken: int, losses: Reals) -> None:
        """Take some steps, as `layers.fit_policy` does, and add the losses to those there are."""


class PolicyObjective:
    """The cross-entropy of P, or of H."""

    def __init__(self, name: str, targets: PolicyTensors) -> None:
        self.names: tuple[str, ...] = (name,)
        self.targets = PolicyTargets._make(column.numpy() for column in targets)

    def fit(self, layers: Layers, inputs: Reals32, rows: Ints, rates: Reals, taken: int, losses: Reals) -> None:
        """Take some steps."""
        fit_policy(layers, inputs, rows, rates, taken, losses, self.targets)


class ValueObjective:
    """The losses of V and V_c, by their weights."""

    names: tuple[str, ...] = ("value_loss", "child_loss")

    def __init__(self, targets: ValueTensors, weights: Mapping[str, float]) -> None:
        columns = (getattr(targets, name) for name in ValueTargets._fields)
        self.targets = ValueTargets._make(x.numpy() if isinstance(x, Tensor) else x for x in columns)
        self.weights = [weights.get(name, 1.0) for name in self.names]

    def fit(self, layers: Layers, inputs: Reals32, rows: Ints, rates: Reals, taken: int, losses: Reals) -> None:
        """Take some steps."""
        fit_values(layers, inputs, rows, rates, taken, losses, self.targets, *self.weights)


class LayersDescent:
    """Linear layers and their optimiser's state as flat arrays, while they are fitted.

    Args:
        model: What is fitted. It has new weights once `fit` has ended, not before.
        adam: Its optimiser, whose state moves along.
        count: Examples of a step.
    """

    def __init__(self, model: Mlp, adam: torch.optim.Adam, count: int) -> None:
        self._adam, self._parameters = adam, list(model.parameters())
        states = [adam.state.get(p, {}) for p in self._parameters]
        self._taken = int(states[0].get("step", 0))
        mean, square = (
            flat(s.get(key, torch.zeros_like(p)) for s, p in zip(states, self._parameters, strict=True))
            for key in STATE[1:]
        )
        self.layers = make_layers(model.sizes, flat(self._parameters), mean, square, count)

    def fit(self, inputs: Callable[[int], Tensor], rows: Ints, objective: Objective, rates: Reals) -> Fit:
        """Take a step of each rate.

        Args:
            inputs: Those of the steps of a turn, one step after the other, from the number of its first step.
            rows: The examples of each step. [steps, count]
            objective: What the model is fitted to.
            rates: Learning rates, one for each step.
        """
        losses = np.zeros(len(objective.names))
        for first in range(0, len(rates), TURN):
            turn = slice(first, first + TURN)
            objective.fit(self.layers, inputs(first).numpy(), rows[turn], rates[turn], self._taken, losses)
            self._taken += len(rates[turn])
            yield
        self._put_back()
        return {name: float(loss) / len(rates) for name, loss in zip(objective.names, losses, strict=True)}

    def _put_back(self) -> None:
        """Give the model and its optimiser what has become of them."""
        taken = torch.tensor(float(self._taken))
        pieces = map(self._pieces, (self.layers.weights, self.layers.mean, self.layers.square))
        for parameter, weights, mean, square in zip(self._parameters, *pieces, strict=True):
            with torch.no_grad():
                parameter.copy_(weights)
            self._adam.state[parameter] = dict(zip(STATE, (taken.clone(), mean, square), strict=True))

    def _pieces(self, numbers: Reals32) -> list[Tensor]:
        """The part of each parameter."""
        parts = torch.split(torch.from_numpy(numbers), [p.numel() for p in self._parameters])
        return [part.view_as(p).clone() for part, p in zip(parts, self._parameters, strict=True)]

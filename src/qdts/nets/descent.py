"""Descent: the steps of a fit, down the gradient of some losses, by Adam.

Two ways lead down. `descend` takes gradients from autograd, for any model and any losses. `LayersDescent` has them in
closed form, for linear layers on the CPU: with h the units of a layer and δ the gradient by its sums,

    h₀ = x,  h_l = max(0, W_l h_{l−1} + b_l),  outputs = W_L h_{L−1} + b_L
    δ_L = ∂loss/∂outputs,  ∂loss/∂W_l = δ_l h_{l−1}ᵀ,  ∂loss/∂b_l = δ_l,  δ_{l−1} = [h_{l−1} > 0] · W_lᵀ δ_l

summed over the batch. That is a handful of calls a step, each of which releases Python's lock while it works: with
autograd two fits side by side wait for the lock half of the time, and with small layers one fit alone mostly waits for
Python. Both agree up to rounding (`tests/nets/test_descent.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from qdts.kernels import Ints, Reals, Reals32
from qdts.nets.gradients import adam_step, cross_entropy_gradient, pass_rectifier, value_gradient
from qdts.nets.losses import PolicyTensors, ValueTensors
from qdts.nets.trunk import Mlp

MAX_GRADIENT_NORM = 1.0
"""Longer gradients are shortened to this."""
LEAST_NORM = 1e-6
"""What is added to the length of a gradient before it is divided by it."""
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


def descend(adam: torch.optim.Adam, losses: Losses, rates: Reals, weights: Mapping[str, float]) -> Fit:
    """Take a step of each rate down the weighted sum of losses, by autograd.

    Args:
        adam: The optimiser.
        losses: The losses of each step.
        rates: Learning rates, one for each step.
        weights: Of the losses, by name; 1 for one that is not named.
    """
    total: dict[str, Tensor] = {}
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


class Gradient(Protocol):
    """The gradient of some losses by a model's outputs."""

    names: tuple[str, ...]
    """The losses."""

    def write(self, rows: Ints, outputs: Reals32, gradient: Reals32, losses: Reals) -> None:
        """Write the gradient for a batch of examples, and add the losses to those there are."""


class PolicyGradient:
    """The gradient of the cross-entropy of P, or of H."""

    def __init__(self, name: str, targets: PolicyTensors) -> None:
        self.names: tuple[str, ...] = (name,)
        self._targets: Any = tuple(x.numpy() for x in targets)

    def write(self, rows: Ints, outputs: Reals32, gradient: Reals32, losses: Reals) -> None:
        """Write it for a batch."""
        cross_entropy_gradient(rows, outputs, gradient, losses, *self._targets)


class ValueGradient:
    """The gradient of the losses of V and V_c, by their weights."""

    names: tuple[str, ...] = ("value_loss", "child_loss")

    def __init__(self, targets: ValueTensors, weights: Mapping[str, float]) -> None:
        columns = (targets.target, targets.known, targets.children, targets.has_child, targets.columns, targets.weight)
        numbers = *(weights.get(name, 1.0) for name in self.names), targets.variance
        self._targets: Any = *numbers, *(x.numpy() for x in columns)

    def write(self, rows: Ints, outputs: Reals32, gradient: Reals32, losses: Reals) -> None:
        """Write it for a batch."""
        value_gradient(rows, outputs, gradient, losses, *self._targets)


class LayersDescent:
    """Linear layers and their optimiser's state as flat arrays, while they are fitted.

    Args:
        layers: The model. It has new weights once `fit` has ended, not before.
        adam: Its optimiser, whose state moves along.
        count: Examples of a step.
    """

    def __init__(self, layers: Mlp, adam: torch.optim.Adam, count: int) -> None:
        linear = [layer for layer in layers.layers if isinstance(layer, nn.Linear)]
        self._adam, self._parameters = adam, [p for layer in linear for p in (layer.weight, layer.bias)]
        of_parameters = [(adam.state.get(p, {}), p) for p in self._parameters]
        self._taken = int(of_parameters[0][0].get("step", 0))
        self._flat = torch.cat([p.detach().reshape(-1) for p in self._parameters])
        self._moments = [
            torch.cat([s.get(key, torch.zeros_like(p)).reshape(-1) for s, p in of_parameters]) for key in STATE[1:]
        ]
        self._gradient = torch.zeros_like(self._flat)
        self._weights, self._biases = self._cut(self._flat)
        self._by_weights, self._by_biases = self._cut(self._gradient)
        self._units = [torch.zeros((count, len(bias))) for bias in self._biases]
        """The units of each layer; those of the last are the outputs."""
        self._by_units = [torch.zeros_like(units) for units in self._units]
        layers_ = zip(self._units, self._by_units, self._by_biases, strict=True)
        self._of_rectifiers = [tuple(x.numpy() for x in of) for of in layers_]

    def fit(self, inputs: Callable[[int], Tensor], rows: Ints, gradient: Gradient, rates: Reals) -> Fit:
        """Take a step of each rate.

        Args:
            inputs: Those of each step.
            rows: The examples of each step. [steps, count]
            gradient: That of the losses.
            rates: Learning rates, one for each step.
        """
        losses = np.zeros(len(gradient.names))
        outputs, by_outputs = self._units[-1].numpy(), self._by_units[-1].numpy()
        for step, rate in enumerate(rates):
            x = inputs(step)
            self._forward(x)
            gradient.write(rows[step], outputs, by_outputs, losses)
            self._backward(x)
            self._step(float(rate))
            if (step + 1) % TURN == 0:
                yield
        self._put_back()
        return {name: float(loss) / len(rates) for name, loss in zip(gradient.names, losses, strict=True)}

    def _forward(self, x: Tensor) -> None:
        last = len(self._units) - 1
        for layer, (weight, bias, units) in enumerate(zip(self._weights, self._biases, self._units, strict=True)):
            torch.addmm(bias, x, weight.t(), out=units)
            x = units if layer == last else units.relu_()

    def _backward(self, x: Tensor) -> None:
        last = len(self._units) - 1
        for layer in range(last, -1, -1):
            if layer == last:
                torch.sum(self._by_units[layer], 0, out=self._by_biases[layer])
            else:
                pass_rectifier(*self._of_rectifiers[layer])
            before = self._units[layer - 1] if layer else x
            torch.mm(self._by_units[layer].t(), before, out=self._by_weights[layer])
            if layer:
                torch.mm(self._by_units[layer], self._weights[layer], out=self._by_units[layer - 1])

    def _step(self, rate: float) -> None:
        self._taken += 1
        length = float(torch.linalg.vector_norm(self._gradient))
        shorten = min(1.0, MAX_GRADIENT_NORM / (length + LEAST_NORM))
        flat, gradient, mean, square = (x.numpy() for x in (self._flat, self._gradient, *self._moments))
        adam_step(flat, gradient, mean, square, shorten, rate, self._taken)

    def _put_back(self) -> None:
        """Give the model and its optimiser what has become of them."""
        taken = torch.tensor(float(self._taken))
        cut = zip(self._parameters, *(self._pieces(x) for x in (self._flat, *self._moments)), strict=True)
        for parameter, weights, mean, square in cut:
            with torch.no_grad():
                parameter.copy_(weights)
            self._adam.state[parameter] = dict(zip(STATE, (taken.clone(), mean.clone(), square.clone()), strict=True))

    def _pieces(self, flat: Tensor) -> list[Tensor]:
        """The part of each parameter."""
        parts = torch.split(flat, [p.numel() for p in self._parameters])
        return [part.view_as(p) for part, p in zip(parts, self._parameters, strict=True)]

    def _cut(self, flat: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The parts of weights and those of biases, layer by layer."""
        pieces = self._pieces(flat)
        return pieces[::2], pieces[1::2]

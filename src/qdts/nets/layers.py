"""Linear layers in compiled code: outputs, gradients, and whole fits that leave Python's lock to others.

With h the units of a layer and δ the gradient of the loss by its sums, both summed over the batch,

    h₀ = x,  h_l = max(0, W_l h_{l−1} + b_l),  outputs = W_L h_{L−1} + b_L
    δ_L = ∂loss/∂outputs,  ∂loss/∂W_l = δ_l h_{l−1}ᵀ,  ∂loss/∂b_l = δ_l,  δ_{l−1} = [h_{l−1} > 0] · W_lᵀ δ_l

All weights are one flat array, and so are the units of all layers: a model of any size has the same type.

axis  counts
N     examples of a step
S     steps
I     inputs
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, types, void

from qdts.kernels import Ints, Reals, Reals32, declare, kernel
from qdts.nets.gradients import (
    PolicyTargets,
    PolicyTargetsType,
    ValueTargets,
    ValueTargetsType,
    cross_entropy_gradient,
    value_gradient,
)

MAX_GRADIENT_NORM = 1.0
"""Longer gradients are shortened to this."""
LEAST_NORM = 1e-6
"""What is added to the length of a gradient before it is divided by it."""
KEEP, KEEP_SQUARE, SMALL = 0.9, 0.999, 1e-8
"""β₁, β₂ and ε of Adam."""


class Layers(NamedTuple):
    """A model while it is fitted, with its optimiser and room for the units of one step."""

    sizes: Ints  # [L + 1] inputs, the units of each hidden layer, outputs
    weights: Reals32  # [W] of each layer: weights, row by row, one row for each unit; then biases
    gradient: Reals32  # [W] of the loss
    mean: Reals32  # [W] m of Adam
    square: Reals32  # [W] v of Adam
    units: Reals32  # [U] of each layer: N rows of its units
    by_units: Reals32  # [U] the gradient by them


LayersType = types.NamedTuple([int64[::1]] + [float32[::1]] * 6, Layers)
declare(Layers, LayersType)


@kernel()
def run(layers: Layers, x: Reals32) -> None:
    """Write the units of all layers for some inputs. [N, I]"""
    count, at, below, before = len(x), 0, 0, x
    last = len(layers.sizes) - 2
    for layer in range(last + 1):
        i, o = layers.sizes[layer], layers.sizes[layer + 1]
        weight, bias = layers.weights[at : at + o * i].reshape(o, i), layers.weights[at + o * i : at + o * (i + 1)]
        units = layers.units[below : below + count * o].reshape(count, o)
        np.dot(before, weight.T, units)
        for n in range(count):
            if layer == last:
                for k in range(o):
                    units[n, k] += bias[k]
            else:
                for k in range(o):
                    units[n, k] = max(np.float32(0.0), units[n, k] + bias[k])
        before = units
        at += o * (i + 1)
        below += count * o


@kernel()
def pass_back(layers: Layers, x: Reals32) -> None:
    """Write the gradient by all weights, from that by the outputs."""
    count, at, below = len(x), len(layers.weights), len(x) * layers.sizes[1:].sum()
    last = len(layers.sizes) - 2
    for layer in range(last, -1, -1):
        i, o = layers.sizes[layer], layers.sizes[layer + 1]
        at -= o * (i + 1)
        below -= count * o
        units = layers.units[below : below + count * o].reshape(count, o)
        by_units = layers.by_units[below : below + count * o].reshape(count, o)
        by_bias = layers.gradient[at + o * i : at + o * (i + 1)]
        by_bias[:] = np.float32(0.0)
        for n in range(count):
            for k in range(o):
                if layer < last and units[n, k] <= 0.0:
                    by_units[n, k] = 0.0
                by_bias[k] += by_units[n, k]
        by_weight = layers.gradient[at : at + o * i].reshape(o, i)
        if layer == 0:
            np.dot(by_units.T, x, by_weight)
        else:
            weight, first = layers.weights[at : at + o * i].reshape(o, i), below - count * i
            np.dot(by_units.T, layers.units[first:below].reshape(count, i), by_weight)
            np.dot(by_units, weight, layers.by_units[first:below].reshape(count, i))


@kernel()
def take_step(layers: Layers, rate: float, step: int) -> None:
    """Take a step of Adam (Kingma and Ba 2015) along the gradient g, shortened if it is long; `step` counts from 1.

    m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²,   weights ← weights − rate · m̂ / (√v̂ + ε)
    """
    norm = math.sqrt(np.dot(layers.gradient, layers.gradient))
    shorten = np.float32(min(1.0, MAX_GRADIENT_NORM / (norm + LEAST_NORM)))
    length = np.float32(rate / (1.0 - KEEP**step))
    root, small = np.float32(1.0 / math.sqrt(1.0 - KEEP_SQUARE**step)), np.float32(SMALL)
    a, b, c, d = np.float32(KEEP), np.float32(1.0 - KEEP), np.float32(KEEP_SQUARE), np.float32(1.0 - KEEP_SQUARE)
    weights, gradient, mean, square = layers.weights, layers.gradient, layers.mean, layers.square
    for i in range(len(weights)):
        g = shorten * gradient[i]
        mean[i] = a * mean[i] + b * g
        square[i] = c * square[i] + d * g * g
        weights[i] -= length * mean[i] / (np.sqrt(square[i]) * root + small)


@kernel()
def outputs_in(layers: Layers, units: Reals32, count: int) -> Reals32:
    """The outputs of `count` examples among the units of all layers, or the gradient by them. [N, outputs]"""
    end, size = count * layers.sizes[1:].sum(), layers.sizes[len(layers.sizes) - 1]
    return units[end - count * size : end].reshape(count, size)


@kernel(void(LayersType, float32[:, ::1], int64[:, ::1], float64[::1], int64, float64[::1], PolicyTargetsType))
def fit_policy(
    layers: Layers, inputs: Reals32, rows: Ints, rates: Reals, taken: int, losses: Reals, targets: PolicyTargets
) -> None:
    """Take a step of each rate down the cross-entropy of P, or of H.

    Args:
        layers: The model.
        inputs: Those of each step, one after the other. [S · N, I]
        rows: The examples of each step. [S, N]
        rates: Learning rates. [S]
        taken: Steps of the optimiser before these.
        losses: That of each step is added. [1]
        targets: Of all examples.
    """
    count = rows.shape[1]
    outputs, by_outputs = outputs_in(layers, layers.units, count), outputs_in(layers, layers.by_units, count)
    for s in range(len(rates)):
        x = inputs[s * count : (s + 1) * count]
        run(layers, x)
        cross_entropy_gradient(rows[s], outputs, by_outputs, losses, targets)
        pass_back(layers, x)
        take_step(layers, rates[s], taken + s + 1)


@kernel(
    void(
        LayersType, float32[:, ::1], int64[:, ::1], float64[::1], int64, float64[::1], ValueTargetsType,
        float64, float64,
    )
)  # fmt: skip
def fit_values(
    layers: Layers, inputs: Reals32, rows: Ints, rates: Reals, taken: int, losses: Reals, targets: ValueTargets,
    value_weight: float, child_weight: float,
) -> None:  # fmt: skip
    """Take a step of each rate down the losses of V and V_c, as `fit_policy` does; the last two are their weights."""
    count = rows.shape[1]
    outputs, by_outputs = outputs_in(layers, layers.units, count), outputs_in(layers, layers.by_units, count)
    for s in range(len(rates)):
        x = inputs[s * count : (s + 1) * count]
        run(layers, x)
        value_gradient(rows[s], outputs, by_outputs, losses, targets, value_weight, child_weight)
        pass_back(layers, x)
        take_step(layers, rates[s], taken + s + 1)


@kernel(void(LayersType, float32[:, ::1], int64, float32[:, ::1]))
def run_batches(layers: Layers, rows: Reals32, batch: int, out: Reals32) -> None:
    """Write the outputs for some inputs, of which `batch` run at once.

    Args:
        layers: The model, with room for a batch.
        rows: [N, I]
        batch: Their units stay in the caches of a core.
        out: Written. [N, outputs]
    """
    for at in range(0, len(rows), batch):
        x = rows[at : at + batch]
        run(layers, x)
        out[at : at + batch] = outputs_in(layers, layers.units, len(x))


def make_layers(sizes: Ints, weights: Reals32, mean: Reals32, square: Reals32, count: int) -> Layers:
    """Layers with room for so many examples at once. Without `mean` and `square` there is nothing to fit."""
    room: Any = np.zeros((2, count * int(sizes[1:].sum())), np.float32)
    return Layers(sizes, weights, np.zeros_like(mean), mean, square, *room)

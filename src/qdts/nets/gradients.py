"""Compiled gradients of the usual losses by a model's outputs, and what else a step needs besides matrix products.

They are those of `losses.py`, in closed form: what autograd finds, in a tenth of the calls. Each kernel is a part of a
step that runs without Python's lock, so that several models are fitted side by side.

axis  counts
M     examples
N     examples of the batch
B     choices of an example, at most
R     values that the model has for a node
O     outputs of the model
"""

from __future__ import annotations

import math

import numpy as np
from numba import float32, float64, int64, void

from qdts.kernels import Ints, Reals, Reals32, kernel

NO_CHOICE = -1e8
"""A logarithm of the rules' weight below this stands where there is no choice."""
TINY = 1e-6
"""What a sum of weights counts as at least."""
KEEP, KEEP_SQUARE, SMALL = 0.9, 0.999, 1e-8
"""β₁, β₂ and ε of Adam."""


@kernel(
    void(
        int64[::1], float32[:, ::1], float32[:, ::1], float64[::1],
        float32[:, ::1], int64[:, ::1], float32[:, ::1], float32[:, ::1],
    )
)  # fmt: skip
def cross_entropy_gradient(
    rows: Ints, logits: Reals32, gradient: Reals32, loss: Reals,
    prior: Reals32, choices: Ints, target: Reals32, weight: Reals32,
) -> None:  # fmt: skip
    """Write the gradient of the cross-entropy by the logits, and add the loss.

        ∂/∂z(a) = w / Σw · (p(a) Σ target − target(a)),      p ∝ prior · exp(z)

    Args:
        rows: The examples of the batch. [N]
        logits: z. [N, O]
        gradient: Written. [N, O]
        loss: Its first number grows. [1]
        prior: The logarithm of the rules' weights, or less than NO_CHOICE. [M, B]
        choices: Columns of the logits. [M, B]
        target: A distribution over the choices. [M, B]
        weight: w. [M, 1]
    """
    total = 0.0
    for i in range(len(rows)):
        total += weight[rows[i], 0]
    total = max(total, TINY)
    for i in range(len(rows)):
        e = rows[i]
        for column in range(gradient.shape[1]):
            gradient[i, column] = 0.0
        top = -np.inf
        for b in range(choices.shape[1]):
            if prior[e, b] > NO_CHOICE:
                top = max(top, logits[i, choices[e, b]] + prior[e, b])
        mass, aim = 0.0, 0.0
        for b in range(choices.shape[1]):
            if prior[e, b] > NO_CHOICE:
                p = math.exp(logits[i, choices[e, b]] + prior[e, b] - top)
                gradient[i, choices[e, b]] = p
                mass += p
                aim += target[e, b]
        share, log_mass = weight[e, 0] / total, math.log(mass) + top
        for b in range(choices.shape[1]):
            if prior[e, b] > NO_CHOICE:
                column = choices[e, b]
                loss[0] -= share * target[e, b] * (logits[i, column] + prior[e, b] - log_mass)
                gradient[i, column] = share * (gradient[i, column] / mass * aim - target[e, b])


@kernel(
    void(
        int64[::1], float32[:, ::1], float32[:, ::1], float64[::1], float64, float64, float64,
        float32[:, ::1], float32[:, ::1], float32[:, :, ::1], float32[:, :, ::1], int64[:, ::1], float32[:, ::1],
    )
)  # fmt: skip
def value_gradient(
    rows: Ints, values: Reals32, gradient: Reals32, losses: Reals, value_weight: float, child_weight: float,
    variance: float, target: Reals32, known: Reals32, children: Reals32, has_child: Reals32, columns: Ints,
    weight: Reals32,
) -> None:  # fmt: skip
    """Write the gradient of the losses of V and V_c, by their weights, and add the losses themselves.

        ∂/∂V = 2 w / Σw · (V − target) / variance

    Args:
        rows: The examples of the batch. [N]
        values: Outputs: V, then V_c. [N, O]
        gradient: Written. [N, O]
        losses: That of V and that of V_c grow. [2]
        value_weight: Of the loss of V.
        child_weight: Of the loss of V_c.
        variance: Of the targets of V.
        target: Of V. [M, R]
        known: 1 where V has one. [M, R]
        children: Targets of V_c. [M, B, R]
        has_child: 1 where V_c has one. [M, B, R]
        columns: Where V_c stands among the outputs. [M, B · R]
        weight: w. [M, 1]
    """
    width, returns = children.shape[1], target.shape[1]
    total, below = 0.0, 0.0
    for i in range(len(rows)):
        e = rows[i]
        for r in range(returns):
            total += weight[e, 0] * known[e, r]
            for b in range(width):
                below += weight[e, 0] * has_child[e, b, r]
    total, below = max(total, TINY) * variance, max(below, TINY) * variance
    for i in range(len(rows)):
        e = rows[i]
        for column in range(gradient.shape[1]):
            gradient[i, column] = 0.0
        for r in range(returns):
            share, off = weight[e, 0] * known[e, r] / total, values[i, r] - target[e, r]
            losses[0] += share * off * off
            gradient[i, r] += 2.0 * value_weight * share * off
            for b in range(width):
                if has_child[e, b, r] > 0.0:
                    column = columns[e, b * returns + r]
                    share, off = weight[e, 0] * has_child[e, b, r] / below, values[i, column] - children[e, b, r]
                    losses[1] += share * off * off
                    gradient[i, column] += 2.0 * child_weight * share * off


@kernel(void(float32[:, ::1], float32[:, ::1], float32[::1]))
def pass_rectifier(units: Reals32, gradient: Reals32, bias: Reals32) -> None:
    """Turn the gradient by max(0, x) into that by x, in place, and write that of the bias: its sum over the batch."""
    for column in range(bias.shape[0]):
        bias[column] = 0.0
    for i in range(units.shape[0]):
        for column in range(bias.shape[0]):
            passed = gradient[i, column] if units[i, column] > 0.0 else np.float32(0.0)
            gradient[i, column] = passed
            bias[column] += passed


@kernel(void(float32[::1], float32[::1], float32[::1], float32[::1], float64, float64, int64))
def adam_step(
    weights: Reals32, gradient: Reals32, mean: Reals32, square: Reals32, shorten: float, rate: float, step: int
) -> None:
    """Take a step of Adam (Kingma and Ba 2015), along the gradient times `shorten`; `step` counts from 1.

    m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²,   weights ← weights − rate · m̂ / (√v̂ + ε)
    """
    length = np.float32(rate / (1.0 - KEEP**step))
    root, small = np.float32(1.0 / math.sqrt(1.0 - KEEP_SQUARE**step)), np.float32(SMALL)
    a, b, c, d = np.float32(KEEP), np.float32(1.0 - KEEP), np.float32(KEEP_SQUARE), np.float32(1.0 - KEEP_SQUARE)
    s = np.float32(shorten)
    for i in range(weights.shape[0]):
        g = s * gradient[i]
        mean[i] = a * mean[i] + b * g
        square[i] = c * square[i] + d * g * g
        weights[i] -= length * mean[i] / (np.sqrt(square[i]) * root + small)

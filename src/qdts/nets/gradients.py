"""Compiled gradients of the usual losses by a model's outputs: those of `losses.py`, in closed form.

axis  counts
M     examples
N     examples of the batch
B     choices of an example, at most
R     values that the model has for a node
O     outputs of the model
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import float32, float64, int64, types

from qdts.kernels import Ints, Reals, Reals32, declare, kernel

NO_CHOICE = -1e8
"""A logarithm of the rules' weight below this stands where there is no choice."""
TINY = 1e-6
"""What a sum of weights counts as at least."""


class PolicyTargets(NamedTuple):
    """What P, or H, is to be for each example."""

    prior: Reals32  # [M, B] the logarithm of the rules' weights, or less than NO_CHOICE
    choices: Ints  # [M, B] columns of the logits
    target: Reals32  # [M, B] a distribution over the choices
    weight: Reals32  # [M, 1] w


class ValueTargets(NamedTuple):
    """What V and V_c are to be for each example."""

    target: Reals32  # [M, R] of V
    known: Reals32  # [M, R] 1 where V has one
    children: Reals32  # [M, B, R] of V_c
    has_child: Reals32  # [M, B, R] 1 where V_c has one
    columns: Ints  # [M, B · R] where V_c stands among the outputs
    weight: Reals32  # [M, 1] w
    variance: float
    """Of the targets of V."""


PolicyTargetsType = types.NamedTuple([float32[:, ::1], int64[:, ::1], float32[:, ::1], float32[:, ::1]], PolicyTargets)
ValueTargetsType = types.NamedTuple(
    [*[float32[:, ::1]] * 2, *[float32[:, :, ::1]] * 2, int64[:, ::1], float32[:, ::1], float64], ValueTargets
)
declare(PolicyTargets, PolicyTargetsType)
declare(ValueTargets, ValueTargetsType)


@kernel()
def cross_entropy_gradient(rows: Ints, logits: Reals32, gradient: Reals32, loss: Reals, targets: PolicyTargets) -> None:
    """Write the gradient of the cross-entropy by the logits, and add the loss.

        ∂/∂z(a) = w / Σw · (p(a) Σ target − target(a)),      p ∝ prior · exp(z)

    Args:
        rows: The examples of the batch. [N]
        logits: z. [N, O]
        gradient: Written. [N, O]
        loss: Its first number grows. [1]
        targets: Of all examples.
    """
    prior, choices, target, weight = targets
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


@kernel()
def value_gradient(
    rows: Ints, values: Reals32, gradient: Reals32, losses: Reals, targets: ValueTargets, value_weight: float,
    child_weight: float,
) -> None:  # fmt: skip
    """Write the gradient of the losses of V and V_c, by their weights, and add the losses themselves.

        ∂/∂V = 2 w / Σw · (V − target) / variance

    Args:
        rows: The examples of the batch. [N]
        values: Outputs: V, then V_c. [N, O]
        gradient: Written. [N, O]
        losses: That of V and that of V_c grow. [2]
        targets: Of all examples.
        value_weight: Of the loss of V.
        child_weight: Of the loss of V_c.
    """
    target, known, children, has_child, columns, weight, variance = targets
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

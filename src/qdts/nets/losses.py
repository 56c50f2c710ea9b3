"""Losses. That of P is the cross-entropy; those of V and V_c are functions of a training batch, and entries of LOSSES.

    policy_loss         − Σ_a target(a) · log P(a), over the legal actions
    value_loss          (target − V)² / variance
    child_loss          (target − V_c)² / variance
    consistency_loss    (V − Σ_c D(c) V_c)² / variance, D being P or the rules of chance (CV, idea 5)
    best_child_loss     (V − max_c V_c)² / variance at ACT nodes (CV, idea 6)

Each is a mean over the batch, by weight where the batch is all examples. `variance` is that of V's targets over all
examples, so that a loss weighs the same in games with large and small returns. H has the loss of P, over the values of
a hole instead of actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from qdts.kernels import Ints, Reals
from qdts.nets.encoding import Shape, as_outputs, child_columns, in_seats, offered
from qdts.nets.examples import PolicyExamples, ValueExamples
from qdts.nets.gradients import TINY
from qdts.search.evaluation.evaluator import ACT

SMALLEST_VARIANCE = 1e-6
"""What the variance of targets counts as at least, in units of S²."""


class PolicyTensors(NamedTuple):
    """Policy examples as tensors; M counts examples."""

    prior: Tensor  # [M, B] log of the rules' weights, 0 without them; −10⁹ where there is no choice
    choices: Tensor  # [M, B] columns of the output
    target: Tensor  # [M, B]
    weight: Tensor  # [M, 1]

    def take(self, rows: Ints) -> PolicyTensors:
        """Some of them."""
        at = torch.from_numpy(rows).to(self.target.device)
        return PolicyTensors._make(column[at] for column in self)


class ValueTensors(NamedTuple):
    """Value examples as tensors; R is the number of values that the model has for a node."""

    target: Tensor  # [M, R]
    known: Tensor  # [M, R] 1 where there is a target
    children: Tensor  # [M, B, R]
    has_child: Tensor  # [M, B, R] 1 where there is a target
    columns: Tensor  # [M, B · R] where V_c stands in the output of the value head
    prior: Tensor  # [M, B] D; 0 where it is not known
    acts: Tensor  # [M, B] 1 at the actions of ACT nodes
    weight: Tensor  # [M, 1]
    variance: float
    """Of the targets of all examples."""

    def take(self, rows: Ints) -> ValueTensors:
        """Some of them."""
        at = torch.from_numpy(rows).to(self.target.device)
        return self._replace(**{name: getattr(self, name)[at] for name in self._fields if name != "variance"})


class Batch(NamedTuple):
    """What a step of V and V_c learns from: the model's outputs with their targets."""

    value: ValueTensors
    values: Tensor  # [M, R (1 + …)] V, then V_c

    @property
    def children(self) -> Tensor:
        """V_c of the choices of each value example. [M, B, R]"""
        return self.values.gather(1, self.value.columns).view_as(self.value.children)


def policy_tensors(
    examples: PolicyExamples, device: torch.device, in_batch: Reals | None = None, *, weighted: bool = False
) -> PolicyTensors:
    """The tensors of policy examples; `weighted` where the rules' weights are part of the distribution, as in H.

    `in_batch` is the weight of each example in a batch, 1 without it.
    """
    there = offered(examples.queries)
    weights = np.where(there, examples.queries.weights if weighted else 1.0, 0.0)
    with np.errstate(divide="ignore"):
        prior = torch.tensor(np.maximum(np.log(weights), -1e9), dtype=torch.float32, device=device)
    choices = torch.tensor(np.where(there, examples.queries.choices, 0), device=device)
    target = torch.tensor(examples.target, dtype=torch.float32, device=device)
    return PolicyTensors(prior, choices, target, _weights(len(target), in_batch, device))


def value_tensors(
    examples: ValueExamples, shape: Shape, device: torch.device, in_batch: Reals | None = None
) -> ValueTensors:
    """The tensors of value examples, laid out as the columns of a model's output; `in_batch` as for P."""
    queries = examples.queries
    target, children = (in_seats(shape, queries, as_outputs(shape, x)) for x in (examples.target, examples.children))
    known = in_seats(shape, queries, examples.known)
    there = offered(queries)[..., None]
    there = there & bool(shape.child_values)
    columns = np.where(there, child_columns(shape, queries) - shape.actions, 0)
    has_child = np.broadcast_to(there * examples.has_children[..., None], columns.shape)
    acts = there[..., 0] & (queries.kind == ACT)[:, None]
    weight = examples.weight[:, None] * known + 1e-12
    variance = np.average((target - np.average(target, weights=weight)) ** 2, weights=weight)
    target_, known_, children_, has_child_, prior, acts_ = (
        torch.tensor(x, dtype=torch.float32, device=device)
        for x in (target, known, children, has_child, examples.prior * there[..., 0], acts)
    )
    return ValueTensors(
        target_, known_, children_, has_child_,
        torch.tensor(columns.reshape(len(columns), -1), device=device), prior, acts_,
        _weights(len(target), in_batch, device),
        max(SMALLEST_VARIANCE, float(variance)),
    )  # fmt: skip


def _weights(count: int, weights: Reals | None, device: torch.device) -> Tensor:
    """Weights as a column; 1 without any. [M, 1]"""
    return torch.tensor(np.ones(count) if weights is None else weights, dtype=torch.float32, device=device)[:, None]


def cross_entropy(logits: Tensor, targets: PolicyTensors) -> Tensor:
    """− Σ_a target(a) · log p(a), p ∝ prior · exp(logit) over the choices of each example; the mean."""
    chosen = logits.gather(1, targets.choices) + targets.prior
    loss = -(targets.target * functional.log_softmax(chosen, 1)).sum(1, keepdim=True)
    return (targets.weight * loss).sum() / targets.weight.sum().clamp(min=TINY)


def value_loss(batch: Batch) -> Tensor:
    """The mean square of target − V, where there is a target, in units of the targets' variance."""
    target, known = batch.value.target, batch.value.weight * batch.value.known
    square = (known * (batch.values[:, : target.shape[1]] - target) ** 2).sum() / known.sum().clamp(min=TINY)
    return square / batch.value.variance


def child_loss(batch: Batch) -> Tensor:
    """The mean square of target − V_c, where there is a target, in units of the variance of V's targets."""
    target, there = batch.value.children, batch.value.weight[..., None] * batch.value.has_child
    square = (there * (batch.children - target) ** 2).sum() / there.sum().clamp(min=TINY)
    return square / batch.value.variance


def consistency_loss(batch: Batch) -> Tensor:
    """The mean square of V − Σ_c D(c) V_c where D is known, in units of the variance of V's targets."""
    prior = batch.value.prior
    known = batch.value.weight * (prior.sum(1, keepdim=True) > 0.0)
    expected = (prior[..., None] * batch.children).sum(1)
    square = (known * (batch.values[:, : expected.shape[1]] - expected) ** 2).sum()
    return square / (known.sum() * expected.shape[1]).clamp(min=TINY) / batch.value.variance


def best_child_loss(batch: Batch) -> Tensor:
    """The mean square of V − max_c V_c of the player to move at ACT nodes, in units of the same variance."""
    acts = batch.value.acts
    own, known = batch.children[..., 0], batch.value.weight[:, 0] * (acts.sum(1) > 0.0)
    best = torch.where(acts > 0.0, own, -torch.inf).amax(1).nan_to_num(neginf=0.0)
    return (known * (batch.values[:, 0] - best) ** 2).sum() / known.sum().clamp(min=TINY) / batch.value.variance


LOSSES: Mapping[str, Callable[[Batch], Tensor]] = {
    "value_loss": value_loss,
    "child_loss": child_loss,
    "consistency_loss": consistency_loss,
    "best_child_loss": best_child_loss,
}
"""The losses of V and V_c by the names of their metrics; the model is fitted to their weighted sum and that of P."""
OPTIONAL = {"consistency_loss", "best_child_loss"}
"""Those that are only computed where they have a weight."""

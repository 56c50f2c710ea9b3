"""Losses on examples that were held out: those of training, with averaged weights; nothing learns from them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from qdts.kernels import Ints
from qdts.nets.encoding import encode
from qdts.nets.examples import PolicyExamples, ValueExamples, sample_examples
from qdts.nets.losses import Batch, cross_entropy, policy_loss, policy_tensors, value_loss, value_tensors
from qdts.nets.networks import Networks
from qdts.search.evaluation.evaluator import Queries

MOST = 16
"""Batches that a loss is the mean of, at most."""


def held_out_losses(
    networks: Networks, policy: PolicyExamples, value: ValueExamples, belief: PolicyExamples | None, rows: int
) -> dict[str, float]:
    """The losses of P, V and H by the names of their metrics; that of H only with examples of it.

    Examples are sampled by their weights, always the same ones, `rows` at a time.
    """
    device, shape = networks.device, networks.shape
    p_targets, v_targets = policy_tensors(policy, device), value_tensors(value, shape, device)
    found: dict[str, list[float]] = {}
    with torch.inference_mode():
        for p_rows, v_rows in zip(_rows(policy, rows), _rows(value, rows), strict=False):
            inputs = torch.cat([_inputs(networks, policy.queries, p_rows), _inputs(networks, value.queries, v_rows)])
            heads = networks.average.heads(inputs.to(device), len(p_rows))
            batch = Batch(p_targets.take(p_rows), v_targets.take(v_rows), *heads)
            found.setdefault("policy_loss", []).append(policy_loss(batch).item())
            found.setdefault("value_loss", []).append(value_loss(batch).item())
        if belief is not None and len(belief.weight):
            targets = policy_tensors(belief, device, weighted=True)
            for some in _rows(belief, rows):
                logits = networks.belief(_inputs(networks, belief.queries, some, of_belief=True).to(device))
                found.setdefault("belief_loss", []).append(cross_entropy(logits, targets.take(some)).item())
    return {name: float(np.mean(losses)) for name, losses in found.items()}


def _rows(examples: PolicyExamples | ValueExamples, rows: int) -> Ints:
    """The examples of each batch."""
    steps = min(MOST, max(1, -(-len(examples.weight) // rows)))
    return sample_examples(examples.weight, steps, rows, np.random.default_rng(0))


def _inputs(networks: Networks, queries: Queries, rows: Ints, *, of_belief: bool = False) -> Tensor:
    """What a model sees of some queries."""
    shape, game = networks.shape, networks.game
    inputs, beliefs = (torch.zeros((len(rows), width)) for width in (shape.inputs, shape.belief_inputs))
    encode(game.kernels.features, game.rules, shape, queries, rows, len(rows), inputs.numpy(), beliefs.numpy())
    return beliefs if of_belief else inputs

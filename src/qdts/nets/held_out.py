"""Losses on examples that were held out: those of training, with averaged weights; nothing learns from them."""

from __future__ import annotations

import numpy as np
import torch

from qdts.kernels import Ints
from qdts.nets.examples import PolicyExamples, ValueExamples, sample_examples
from qdts.nets.losses import Batch, cross_entropy, policy_tensors, value_loss, value_tensors
from qdts.nets.networks import Networks

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
            inputs = networks.inputs(policy.queries, p_rows), networks.inputs(value.queries, v_rows)
            logits, values = networks.average.heads(torch.cat(inputs), len(p_rows))
            found.setdefault("policy_loss", []).append(cross_entropy(logits, p_targets.take(p_rows)).item())
            found.setdefault("value_loss", []).append(value_loss(Batch(v_targets.take(v_rows), values)).item())
        if belief is not None and len(belief.weight):
            targets = policy_tensors(belief, device, weighted=True)
            for some in _rows(belief, rows):
                logits = networks.belief(networks.inputs(belief.queries, some, belief=True))
                found.setdefault("belief_loss", []).append(cross_entropy(logits, targets.take(some)).item())
    return {name: float(np.mean(losses)) for name, losses in found.items()}


def _rows(examples: PolicyExamples | ValueExamples, rows: int) -> Ints:
    """The examples of each batch."""
    steps = min(MOST, max(1, -(-len(examples.weight) // rows)))
    return sample_examples(examples.weight, steps, rows, np.random.default_rng(0))

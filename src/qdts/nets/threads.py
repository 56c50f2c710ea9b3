"""How many threads of torch fit a model fastest."""

from __future__ import annotations

import time

import torch

from qdts.nets.model import PolicyValue

TRIES = 3
"""Steps with each number of threads, of which the fastest counts."""


def fastest_threads(model: PolicyValue, rows: int, most: int) -> int:
    """The number of threads, up to `most`, with which gradients of so many rows take the least time.

    Threads have to wait for each other at every layer. With small layers, on few rows or on a busy machine, more of
    them are slower. The numbers 1, 2, 4, … and `most` are tried; torch is left with the last of them.
    """
    inputs = torch.zeros((rows, model.shape.inputs), device=next(model.parameters()).device)
    numbers = sorted({most, *(1 << k for k in range(most.bit_length()))})
    return min(numbers, key=lambda threads: _seconds(model, inputs, threads))


def _seconds(model: PolicyValue, inputs: torch.Tensor, threads: int) -> float:
    torch.set_num_threads(threads)
    taken = []
    for _ in range(TRIES):
        began = time.perf_counter()
        torch.autograd.grad(model(inputs).sum(), list(model.parameters()))
        taken.append(time.perf_counter() - began)
    return min(taken)

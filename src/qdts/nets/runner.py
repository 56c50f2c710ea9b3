"""Runners: a trunk on many rows, batch by batch, by torch or in compiled code."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from qdts.kernels import Reals32
from qdts.nets.layers import make_layers, run_batches
from qdts.nets.threads import one_blas_thread
from qdts.nets.trunk import Mlp, flat

NO_WEIGHTS = np.zeros(0, np.float32)


class Runner(Protocol):
    """A trunk with the weights that it had when the runner was made."""

    def run(self, rows: Tensor, count: int) -> Reals32:
        """The outputs of the first `count` rows, and perhaps of some after them."""


class TorchRunner:
    """Any trunk on any device. Padded batches have `batch` rows each, however few are wanted."""

    def __init__(self, trunk: nn.Module, batch: int, *, padded: bool, device: torch.device) -> None:
        self._trunk, self._batch, self._padded, self._device = trunk, batch, padded, device

    def run(self, rows: Tensor, count: int) -> Reals32:
        """The outputs of the first rows."""
        end = len(rows) if self._padded else count
        with torch.inference_mode():
            parts = [
                self._trunk(rows[at : min(at + self._batch, end)].to(self._device, non_blocking=True))
                for at in range(0, count, self._batch)
            ]
            if not parts:
                return np.zeros((0, 1), np.float32)
            whole = parts[0] if len(parts) == 1 else torch.cat(parts)
            out: Reals32 = whole.float().cpu().numpy()
            return out


class LayersRunner:
    """Linear layers on the CPU, in one call that leaves Python's lock alone.

    A row's outputs depend on its place in a batch, by their rounding.
    """

    def __init__(self, trunk: Mlp, batch: int) -> None:
        self._batch = batch
        self._layers = make_layers(trunk.sizes, flat(trunk.parameters()), NO_WEIGHTS, NO_WEIGHTS, batch)

    def run(self, rows: Tensor, count: int) -> Reals32:
        """The outputs of the first rows."""
        out = np.empty((count, self._layers.sizes[-1]), np.float32)
        with one_blas_thread():
            run_batches(self._layers, rows.numpy()[:count], self._batch, out)
        return out


def runner_of(trunk: nn.Module, batch: int, *, padded: bool, device: torch.device) -> Runner:
    """The fastest runner of a trunk. Where batches are padded, a row's outputs are the same wherever it stands."""
    if isinstance(trunk, Mlp) and device.type == "cpu" and not padded:
        return LayersRunner(trunk, batch)
    return TorchRunner(trunk, batch, padded=padded, device=device)

"""Threads of the libraries that multiply matrices: torch, and the BLAS that compiled kernels call."""

from __future__ import annotations

import importlib
import time
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from threading import Lock

import torch
from threadpoolctl import ThreadpoolController

from qdts.nets.model import PolicyValue

TRIES = 3
"""Steps with each number of threads, of which the fastest counts."""


BLAS = "scipy.linalg.cython_blas"
"""Where numba finds it."""


class _OneThread:
    """Holds BLAS to one thread from the first that enters until the last one leaves, in whatever threads they are."""

    def __init__(self) -> None:
        self._within, self._guard, self._limit = 0, Lock(), ExitStack()

    def __enter__(self) -> None:
        with self._guard:
            if not self._within:
                self._limit.enter_context(_blas().limit(limits=1, user_api="blas"))
            self._within += 1

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._within -= 1
            if not self._within:
                self._limit.close()


_one_thread = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Within it, matrix products of kernels stay in the thread that runs the kernel.

    Small products are not faster on several threads, and on a busy machine these wait for each other for milliseconds.
    Within another one it costs next to nothing.
    """
    return _one_thread


@cache
def _blas() -> ThreadpoolController:
    importlib.import_module(BLAS)  # it finds what is loaded
    return ThreadpoolController()


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

"""The random stream, in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from qdts.rng import GOLDEN, State, fraction, mixed


def plain(function: Any) -> Any:
    """A helper of kernels as Python calls it; with the compiler switched off it is plain already."""
    return getattr(function, "py_func", function)


def number(state: State) -> float:
    """What `qdts.rng.uniform` gives; the state moves on."""
    with np.errstate(over="ignore"):  # it multiplies modulo 2^64
        state[0] += GOLDEN
        return float(plain(fraction)(plain(mixed)(state[0])))

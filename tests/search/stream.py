"""The random stream, drawn from in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from qdts.rng import State, uniform

plain: Any = getattr(uniform, "py_func", uniform)  # with the compiler switched off it is plain already


def number(state: State) -> float:
    """What `qdts.rng.uniform` gives; the state moves on."""
    with np.errstate(over="ignore"):  # it multiplies modulo 2^64
        return float(plain(state))

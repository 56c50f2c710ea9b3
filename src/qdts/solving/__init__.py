"""Exact solving and measuring: solvers for whole games, policies as tables and files, best responses and NashConv.

A caller needs the names exported here; the folders are for the rest of the package. Imports from `games` and the
foundation alone.
"""

from __future__ import annotations

import warnings
from typing import Any

from qdts.solving.measure import Measurement, best_response, expected_values, measure_policy, nash_conv
from qdts.solving.policy.files import load_policy, save_policy
from qdts.solving.policy.function import uniform_probabilities
from qdts.solving.policy.table import Policy
from qdts.solving.solver import Solution, solve
from qdts.solving.uniform import uniform_policy

__all__ = [
    "Measurement",
    "Policy",
    "Solution",
    "best_response",
    "expected_values",
    "load_policy",
    "measure_policy",
    "nash_conv",
    "save_policy",
    "solve",
    "uniform_policy",
    "uniform_probabilities",
]


def __getattr__(name: str) -> Any:
    if name != "uniform_rows":
        raise AttributeError(f"module 'qdts.solving' has no attribute '{name}'")
    message = "uniform_rows is now called uniform_probabilities; the next version will drop the old name"
    warnings.warn(message, FutureWarning, stacklevel=2)
    return uniform_probabilities

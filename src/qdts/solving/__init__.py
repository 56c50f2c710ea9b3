"""The enumerated game, exact values, best response, NashConv, the CFR family, min-max, alpha-beta, the LP."""

from qdts.solving.best_response import best_response
from qdts.solving.measure import Measurement, measure_policy
from qdts.solving.policy import Policy, load_policy, save_policy, uniform_policy
from qdts.solving.rows import uniform_rows
from qdts.solving.solver import Solution, nash_conv, solve
from qdts.solving.values import expected_values

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
    "uniform_rows",
]

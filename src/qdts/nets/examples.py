"""Training examples: queries with the targets that models learn for them.

N counts examples, B the choices of a query, at most, and K the values of a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numba import float64, int64, void

from qdts.errors import InputError
from qdts.kernels import Ints, Reals, kernel
from qdts.nets.encoding import offered
from qdts.search.evaluation.evaluator import Queries


class PolicyExamples(NamedTuple):
    """Queries with a distribution over their choices: P at ACT nodes, H at SAMPLE nodes."""

    queries: Queries
    target: Reals  # [N, B] sums to 1
    weight: Reals  # [N] examples are sampled in proportion to it

    @property
    def entropy(self) -> float:
        """The mean entropy of the targets by weight, in nats."""
        entropy = -(self.target * np.log(np.maximum(self.target, 1e-12))).sum(1)
        return float((self.weight * entropy).sum() / self.weight.sum())


class ValueExamples(NamedTuple):
    """Queries with their values and those of their choices."""

    queries: Queries
    target: Reals  # [N, K] of V
    known: Reals  # [N, K] 1 where there is a target
    children: Reals  # [N, B, K] targets of V_c
    has_children: Reals  # [N, B] 1 where V_c has a target
    weight: Reals  # [N] examples are sampled in proportion to it
    prior: Reals  # [N, B] the probability of each choice, P or the rules'; 0 at nodes where it is not known


Examples = TypeVar("Examples", PolicyExamples, ValueExamples)


def joined(parts: Sequence[Examples]) -> Examples:
    """The examples of all parts, in order."""
    queries = Queries._make(np.concatenate(column) for column in zip(*(x.queries for x in parts), strict=True))
    others: list[Reals] = [np.concatenate(column) for column in zip(*(tuple(x)[1:] for x in parts), strict=True)]
    return type(parts[0])._make([queries, *others])


def padded(queries: Queries, values: Reals) -> Reals:
    """Numbers of all choices, those of one query in a row, as an array with 0 where a query has no choice. [N, B]"""
    out = np.zeros(queries.choices.shape)
    out[offered(queries)] = values
    return out


def sample_examples(weight: Reals, steps: int, count: int, stream: np.random.Generator) -> Ints:
    """For each step the numbers of `count` examples, each drawn in proportion to its weight. int64[steps, count]

    Raises:
        InputError: The weights have no positive sum, as where networks have learned to say nothing but NaN.
    """
    ends, found = np.cumsum(weight), np.empty((steps, count), np.int64)
    if not 0.0 < ends[-1] < np.inf:
        raise InputError(
            f"weights of examples sum to {ends[-1]}, expected a positive number: smaller learning rates help"
        )
    find_above(ends, (stream.random((steps, count)) * ends[-1]).ravel(), np.empty(len(ends), np.int64), found.ravel())
    return found


@kernel(void(float64[::1], float64[::1], int64[::1], int64[::1]))
def find_above(ends: Reals, goals: Reals, guide: Ints, found: Ints) -> None:
    """Write the first position of rising `ends` whose number is above each goal, or the last one.

    A guide table makes a search a few steps long, however many ends there are (Chen and Asau 1974).

    Args:
        ends: They rise to a positive number.
        goals: From 0 up to the last of the ends.
        guide: Written: no goal of the k-th of N equal parts has an earlier position. [N], as many as there are ends
        found: Written.
    """
    last = len(ends) - 1
    parts = (last + 1) / ends[last]
    at = 0
    for k in range(last + 1):
        while at < last and int(ends[at] * parts) < k:
            at += 1
        guide[k] = at
    for i in range(len(goals)):
        at = guide[min(int(goals[i] * parts), last)]
        while at < last and ends[at] <= goals[i]:
            at += 1
        found[i] = at


def choose(weight: Reals, most: int, stream: np.random.Generator) -> tuple[Ints, Reals]:
    """All of some candidates, or `most` of them drawn in proportion to their weights, with the weights they have then.

    No step can learn from more examples than it samples. So candidates are chosen before they become examples, which
    take more memory.
    """
    if len(weight) <= most:
        return np.arange(len(weight)), weight
    rows, times = np.unique(sample_examples(weight, 1, most, stream), return_counts=True)
    return rows, times.astype(np.float64)

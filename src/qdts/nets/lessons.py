"""What models are taught: queries with targets, laid out as the columns of a model's output.

axis  counts
N     rows
B     choices of a row, at most
K     values of a node          R     values that the model has for it (`rows.Shape.returns`)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qdts.kernels import Ints, Reals
from qdts.nets.rows import Shape
from qdts.search.evaluation.evaluator import CHANCE, SAMPLE, Queries

Flags = NDArray[np.bool_]


class PolicyLesson(NamedTuple):
    """Distributions over the choices of each query: P at ACT, H at SAMPLE."""

    queries: Queries
    target: Reals  # [N, B] sums to 1
    weight: Reals  # [N]


class ValueLesson(NamedTuple):
    """Values of each query and of its choices."""

    queries: Queries
    target: Reals  # [N, K] V
    known: Reals  # [N, K] 1 where there is a target
    children: Reals  # [N, B, K] V_c
    taught: Reals  # [N] 1 where V_c has targets
    weight: Reals  # [N]


Lesson = TypeVar("Lesson", PolicyLesson, ValueLesson)


def joined(lessons: Sequence[Lesson]) -> Lesson:
    """Several lessons as one."""
    queries = Queries._make(np.concatenate(column) for column in zip(*(x.queries for x in lessons), strict=True))
    others: list[Reals] = [np.concatenate(column) for column in zip(*(tuple(x)[1:] for x in lessons), strict=True)]
    return type(lessons[0])._make([queries, *others])


def padded(queries: Queries, values: Reals) -> Reals:
    """Numbers of all choices, those of one query being neighbours, as a row for each query."""
    out = np.zeros(queries.choices.shape)
    out[offered(queries)] = values
    return out


def offered(queries: Queries) -> Flags:
    """Which places of `choices` hold one. bool[N, B]"""
    there: Flags = np.arange(queries.choices.shape[1]) < queries.degree[:, None]
    return there


def in_seats(shape: Shape, queries: Queries, values: Reals) -> Reals:
    """Values of all players, on the last axis, as the model tells them: to the player who asks, his own first."""
    if shape.hidden:
        return values
    seat = (queries.player[:, None] + np.arange(shape.returns)) % shape.players
    seat = seat.reshape(len(seat), *[1] * (values.ndim - 2), -1)
    return np.take_along_axis(values, np.broadcast_to(seat, (*values.shape[:-1], shape.returns)), -1)


def as_numbers(shape: Shape, values: Reals) -> Reals:
    """Returns as numbers of the network."""
    return (values - shape.middle) / shape.scale


def child_columns(shape: Shape, queries: Queries) -> Ints:
    """Which outputs of the model are V_c of each choice. int64[N, B, R]"""
    before = np.select(
        [queries.kind == CHANCE, queries.kind == SAMPLE], [shape.actions, shape.actions + shape.outcomes], 0
    )
    first = shape.actions + shape.returns * (1 + before[:, None] + queries.choices)
    return first[..., None] + np.arange(shape.returns)

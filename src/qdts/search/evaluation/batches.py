"""Batches of queries and evaluations as arrays: made from single queries, taken apart, and checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import int64, uint64

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.rng import State
from qdts.search.evaluation.evaluator import (
    ACT,
    KINDS,
    SAMPLE,
    Evaluations,
    EvaluationsType,
    Evaluator,
    Queries,
    QueriesType,
    Query,
)

SUM_TOLERANCE = 1e-6
"""By how much the sum of a prior may differ from 1."""
ALL_WELL = -1
"""`accept`: every evaluation is valid."""


def empty_queries(game: Game, rows: int) -> Queries:
    """Room for some queries."""
    lane, kind, player, pending, hole, degree = np.zeros((6, rows), np.int64)
    vector, choices = np.zeros((rows, game.world_size), np.int64), np.zeros((rows, game.max_choices), np.int64)
    weights, state = np.zeros((rows, game.max_choices)), np.zeros((rows, 1), np.uint64)
    return Queries(lane, kind, vector, player, pending, hole, degree, choices, weights, state)


def empty_evaluations(game: Game, rows: int) -> Evaluations:
    """Room for some evaluations."""
    b, k = game.max_choices, 1 if game.hidden else game.players
    return Evaluations(np.zeros((rows, k)), np.zeros((rows, b, k)), np.zeros((rows, b)))


def sample_query(game: Game, vector: Ints, player: int, pending: int) -> Query:
    """The query for H of the next hole of a player's view, some holes of which may be filled."""
    hole = game.hole(vector)
    values = game.values(vector, hole)
    choices, weights = np.array([x for x, _ in values], np.int64), np.array([p for _, p in values])
    return Query(SAMPLE, vector, player, pending, hole, choices, weights)


def as_queries(game: Game, given: Sequence[Query], state: State) -> Queries:
    """Queries as rows, all with the same random stream."""
    queries = empty_queries(game, len(given))
    for row, query in enumerate(given):
        count = len(query.choices)
        queries.kind[row], queries.vector[row], queries.player[row] = query.kind, query.vector, query.player
        queries.pending[row], queries.hole[row], queries.degree[row] = query.pending, query.hole, count
        queries.choices[row, :count], queries.weights[row, :count] = query.choices, query.weights
        queries.state[row] = state
    return queries


class OneByOne:
    """A batch evaluator that hands queries one by one to another."""

    def __init__(self, game: Game, inner: Evaluator) -> None:
        self.game = game
        self.inner = inner

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Evaluate every query."""
        for row in range(len(queries.kind)):
            query = query_of(queries, row)
            evaluation = self.inner.evaluate(query, queries.state[row])
            count = len(query.choices)
            shapes = tuple(np.shape(x) for x in evaluation)
            expected = (evaluations.value.shape[1:], (count, *evaluations.value.shape[1:]), (count,))
            if shapes != expected:
                where = place(self.game, query)
                raise InputError(f"the evaluation at {where} has shapes {shapes}, expected {expected}")
            evaluations.value[row] = evaluation.value
            evaluations.children[row, :count] = evaluation.child_values
            evaluations.prior[row, :count] = evaluation.prior


def query_of(queries: Queries, row: int) -> Query:
    """One of many queries."""
    count = int(queries.degree[row])
    return Query(
        kind=int(queries.kind[row]),
        vector=queries.vector[row].copy(),
        player=int(queries.player[row]),
        pending=int(queries.pending[row]),
        hole=int(queries.hole[row]),
        choices=queries.choices[row, :count].copy(),
        weights=queries.weights[row, :count].copy(),
    )


def place(game: Game, query: Query) -> str:
    """The node of a query, in words."""
    return f"the {KINDS[query.kind]} node {game.layout.write(query.vector)}"


@kernel(inline=True)
def are_finite(numbers: Reals, count: int) -> bool:
    """Whether all of some numbers are finite."""
    sound = True
    for i in range(count):
        sound &= numbers[i] - numbers[i] == 0.0
    return sound


@kernel(inline=True)
def is_evaluation(queries: Queries, evaluations: Evaluations, row: int) -> bool:
    """Whether all numbers of an evaluation are finite, and its prior is a distribution where one is read."""
    count, (_, width, values) = queries.degree[row], evaluations.children.shape
    prior, total, least = element(evaluations.prior, row * width), 0.0, 0.0
    for i in range(count):
        total += prior[i]
        least = min(least, prior[i])
    sound = are_finite(element(evaluations.value, row * values), values)
    sound &= are_finite(element(evaluations.children, row * width * values), count * values)
    unread = queries.kind[row] != ACT and queries.kind[row] != SAMPLE
    return sound and np.isfinite(total) and (unread or (least >= 0.0 and abs(total - 1.0) <= SUM_TOLERANCE))


@kernel(int64(QueriesType, EvaluationsType, uint64[:, :]))
def accept(queries: Queries, evaluations: Evaluations, state: State) -> int:
    """Hand the advanced random streams back to their lanes, ALL_WELL; or do nothing: the first row that is invalid."""
    for row in range(len(queries.kind)):
        if not is_evaluation(queries, evaluations, row):
            return row
    for row in range(len(queries.kind)):
        state[queries.lane[row], 0] = queries.state[row, 0]
    return ALL_WELL

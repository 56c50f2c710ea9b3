"""What parked searches ask, as arrays, and how they get their evaluations."""

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
"""`accept`: every answer is one."""


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
    """What is asked of a player's view, some holes of which are filled: H of the next one."""
    hole = game.hole(vector)
    values = game.values(vector, hole)
    choices, weights = np.array([x for x, _ in values], np.int64), np.array([p for _, p in values])
    return Query(SAMPLE, vector, player, pending, hole, choices, weights)


def as_queries(game: Game, asked: Sequence[Query], state: State) -> Queries:
    """Queries as rows, all with the same random stream."""
    queries = empty_queries(game, len(asked))
    for row, query in enumerate(asked):
        count = len(query.choices)
        queries.kind[row], queries.vector[row], queries.player[row] = query.kind, query.vector, query.player
        queries.pending[row], queries.hole[row], queries.degree[row] = query.pending, query.hole, count
        queries.choices[row, :count], queries.weights[row, :count] = query.choices, query.weights
        queries.state[row] = state
    return queries


class OneByOne:
    """An evaluator that answers one query at a time, asked row by row."""

    def __init__(self, game: Game, inner: Evaluator) -> None:
        self.game = game
        self.inner = inner

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the answer to every query."""
        for row in range(len(queries.kind)):
            query = query_of(queries, row)
            evaluation = self.inner.evaluate(query, queries.state[row])
            count = len(query.choices)
            shapes = tuple(np.shape(x) for x in evaluation)
            expected = (evaluations.value.shape[1:], (count, *evaluations.value.shape[1:]), (count,))
            if shapes != expected:
                where = place(self.game, query)
                raise InputError(f"the evaluator's answer at {where} has shapes {shapes}, expected {expected}")
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
    """Where a query is asked, in words."""
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
    """Whether all numbers of an answer are finite, and its prior is a distribution."""
    count, (_, width, values) = queries.degree[row], evaluations.children.shape
    prior, total, least = element(evaluations.prior, row * width), 0.0, 0.0
    for i in range(count):
        total += prior[i]
        least = min(least, prior[i])
    sound = are_finite(element(evaluations.value, row * values), values)
    sound &= are_finite(element(evaluations.children, row * width * values), count * values)
    asked = queries.kind[row] == ACT or queries.kind[row] == SAMPLE
    return sound and np.isfinite(total) and (not asked or (least >= 0.0 and abs(total - 1.0) <= SUM_TOLERANCE))


@kernel(int64(QueriesType, EvaluationsType, uint64[:, :]))
def accept(queries: Queries, evaluations: Evaluations, state: State) -> int:
    """Let the random streams of those who asked go on: ALL_WELL. Or nothing, and the first row that is no answer."""
    for row in range(len(queries.kind)):
        if not is_evaluation(queries, evaluations, row):
            return row
    for row in range(len(queries.kind)):
        state[queries.lane[row], 0] = queries.state[row, 0]
    return ALL_WELL

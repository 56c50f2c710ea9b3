"""What parked searches ask, as arrays, and how they get their answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import int64, uint64

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.rng import State
from qdts.search.evaluator import (
    ACT,
    KINDS,
    SAMPLE,
    Answers,
    AnswersType,
    BatchEvaluator,
    Evaluator,
    Queries,
    QueriesType,
    Query,
)
from qdts.search.forest import ROW, Forest, width

SUM_TOLERANCE = 1e-6
"""By how much the sum of a prior may differ from 1."""
ALL_WELL = -1
"""`accept`: every answer is one."""


class Requests:
    """What the slots from `first` up to `last` ask, in the order of slots, and the answers."""

    def __init__(self, game: Game, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.queries = empty_queries(game, last - first)
        self.answers = empty_answers(game, last - first)
        self.count = 0
        """How many queries there are: as many rows, from the first on."""
        self._game = game

    def close_ranks(self, forest: Forest, slots: Sequence[int], counts: Sequence[int]) -> None:
        """There are so many queries from the row of each of some slots on: let them follow each other."""
        self.count = 0
        for slot, count in zip(slots, counts, strict=True):
            start = slot - self.first
            if start > self.count:
                for x in self.queries:
                    x[self.count : self.count + count] = x[start : start + count]
                moved = self.queries.slot[self.count : self.count + count]
                forest.registers[moved, ROW] -= start - self.count
            self.count += count

    def answer(self, forest: Forest, evaluator: BatchEvaluator | OneByOne) -> None:
        """Have all queries answered; raise an InputError if one of the answers is none."""
        if self.count == 0:
            return
        queries, answers = self.queries, self.answers
        if self.count < len(queries.kind):
            queries = Queries._make([x[: self.count] for x in queries])
            answers = Answers._make([x[: self.count] for x in answers])
        evaluator.answer_batch(queries, answers)
        bad = int(accept(queries, answers, forest.state))
        if bad != ALL_WELL:
            raise self._no_answer(query_of(queries, bad), answers, bad)

    def _no_answer(self, query: Query, answers: Answers, row: int) -> InputError:
        count, where = len(query.choices), place(self._game, query)
        told = (answers.value[row], answers.children[row, :count], answers.prior[row, :count])
        if not all(np.isfinite(x).all() for x in told):
            return InputError(f"the evaluator's answer at {where} holds a number that is not finite: {told}")
        return InputError(f"the evaluator's distribution at {where} is {told[2]}, expected one that sums to 1")


def empty_queries(game: Game, rows: int) -> Queries:
    """Room for some queries."""
    slot, kind, player, pending, hole, degree = np.zeros((6, rows), np.int64)
    vector, choices = np.zeros((rows, game.world_size), np.int64), np.zeros((rows, width(game)), np.int64)
    weights, state = np.zeros((rows, width(game))), np.zeros((rows, 1), np.uint64)
    return Queries(slot, kind, vector, player, pending, hole, degree, choices, weights, state)


def empty_answers(game: Game, rows: int) -> Answers:
    """Room for some answers."""
    b, k = width(game), 1 if game.hidden else game.players
    return Answers(np.zeros((rows, k)), np.zeros((rows, b, k)), np.zeros((rows, b)))


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

    def answer_batch(self, queries: Queries, answers: Answers) -> None:
        """Write the answer to every query."""
        for row in range(len(queries.kind)):
            query = query_of(queries, row)
            answer = self.inner.answer(query, queries.state[row])
            count = len(query.choices)
            shapes = tuple(np.shape(x) for x in answer)
            expected = (answers.value.shape[1:], (count, *answers.value.shape[1:]), (count,))
            if shapes != expected:
                where = place(self.game, query)
                raise InputError(f"the evaluator's answer at {where} has shapes {shapes}, expected {expected}")
            answers.value[row] = answer.value
            answers.children[row, :count] = answer.child_values
            answers.prior[row, :count] = answer.prior


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
def is_answer(queries: Queries, answers: Answers, row: int) -> bool:
    """Whether all numbers of an answer are finite, and its prior is a distribution."""
    count, (_, width, values) = queries.degree[row], answers.children.shape
    prior, total, least = element(answers.prior, row * width), 0.0, 0.0
    for i in range(count):
        total += prior[i]
        least = min(least, prior[i])
    sound = are_finite(element(answers.value, row * values), values)
    sound &= are_finite(element(answers.children, row * width * values), count * values)
    asked = queries.kind[row] == ACT or queries.kind[row] == SAMPLE
    return sound and np.isfinite(total) and (not asked or (least >= 0.0 and abs(total - 1.0) <= SUM_TOLERANCE))


@kernel(int64(QueriesType, AnswersType, uint64[:, :]))
def accept(queries: Queries, answers: Answers, state: State) -> int:
    """Let the random streams of those who asked go on: ALL_WELL. Or nothing, and the first row that is no answer."""
    for row in range(len(queries.kind)):
        if not is_answer(queries, answers, row):
            return row
    for row in range(len(queries.kind)):
        state[queries.slot[row], 0] = queries.state[row, 0]
    return ALL_WELL

"""What parked searches ask, as arrays, and how they get their answers."""

from __future__ import annotations

import numpy as np
from numba import int64

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.rng import State
from qdts.search.evaluator import ACT, KINDS, SAMPLE, Answers, AnswersType, Evaluator, Queries, QueriesType, Query
from qdts.search.forest import CURRENT, STATUS, Forest, WhereType, slot_of, width
from qdts.search.machine import GO_ON, PARKED, asker
from qdts.search.settings import Settings, SettingsType

SUM_TOLERANCE = 1e-6
"""By how much the sum of a prior may differ from 1."""
ALL_WELL = -1
"""`scatter`: every answer is one."""


class Requests:
    """The queries of the slots from `first` up to `last`, and the answers."""

    def __init__(self, game: Game, first: int, last: int) -> None:
        self.first = first
        self.last = last
        slots = last - first
        self._queries = empty_queries(game, slots)
        self._answers = empty_answers(game, slots)
        self._game = game
        self.count = 0
        """How many queries there are."""

    @property
    def queries(self) -> Queries:
        """What is asked."""
        return Queries._make(x[: self.count] for x in self._queries)

    @property
    def answers(self) -> Answers:
        """What was answered."""
        return Answers._make(x[: self.count] for x in self._answers)

    def gather(self, forest: Forest, settings: Settings) -> None:
        """Take over what those of them that are parked ask."""
        self.count = int(gather(forest.where, settings, self.first, self.last, self._queries))

    def scatter(self, forest: Forest) -> None:
        """Give every slot its answer; raise an InputError, and give none, if one of them is no answer."""
        bad = int(scatter(forest.where, self._queries, self._answers, self.count))
        if bad != ALL_WELL:
            raise self._no_answer(bad)

    def _no_answer(self, row: int) -> InputError:
        count, where = int(self._queries.degree[row]), place(self._game, query_of(self._queries, row))
        prior = self._answers.prior[row, :count]
        told = (self._answers.value[row], self._answers.children[row, :count], prior)
        if not all(np.isfinite(x).all() for x in told):
            return InputError(f"the evaluator's answer at {where} holds a number that is not finite: {told}")
        return InputError(f"the evaluator's distribution at {where} is {prior}, expected one that sums to 1")


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


def as_queries(game: Game, query: Query, state: State) -> Queries:
    """One query as the only row of many."""
    queries, count = empty_queries(game, 1), len(query.choices)
    queries.kind[0], queries.vector[0], queries.player[0] = query.kind, query.vector, query.player
    queries.pending[0], queries.hole[0], queries.degree[0] = query.pending, query.hole, count
    queries.choices[0, :count], queries.weights[0, :count] = query.choices, query.weights
    queries.state[0] = state
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


@kernel(int64(WhereType, SettingsType, int64, int64, QueriesType))
def gather(where: Ints, settings: Settings, first: int, last: int, queries: Queries) -> int:
    """Write down what the parked ones among some slots ask; say how many there are."""
    row = 0
    for s in range(first, last):
        slot = slot_of(where, s, s)
        if slot.registers[STATUS] != PARKED:
            continue
        node = slot.registers[CURRENT]
        queries.slot[row] = s
        queries.kind[row] = slot.kind[node]
        for i in range(slot.size):
            queries.vector[row, i] = slot.vector[node * slot.size + i]
        queries.player[row] = asker(slot, settings, node)
        queries.pending[row] = slot.pending[node]
        queries.hole[row] = slot.hole[node]
        queries.degree[row] = slot.degree[node]
        for i in range(slot.degree[node]):
            queries.choices[row, i] = slot.choice[slot.first[node] + i]
            queries.weights[row, i] = slot.answer_prior[i]
        queries.state[row, 0] = slot.state[0]
        row += 1
    return row


@kernel(inline=True)
def children_of(answers: Answers, row: int) -> Reals:
    """V_c of an answer, a choice after the other."""
    return element(answers.children, row * answers.children.shape[1] * answers.children.shape[2])


@kernel(inline=True)
def is_answer(queries: Queries, answers: Answers, row: int) -> bool:
    """Whether all numbers of an answer are finite, and its prior is a distribution."""
    total, least, sound = 0.0, 0.0, True
    count, values, children = queries.degree[row], answers.value.shape[1], children_of(answers, row)
    for k in range(values):
        sound &= np.isfinite(answers.value[row, k])
    for i in range(count):
        total += answers.prior[row, i]
        least = min(least, answers.prior[row, i])
    for i in range(count * values):
        sound &= np.isfinite(children[i])
    asked = queries.kind[row] == ACT or queries.kind[row] == SAMPLE
    return sound and np.isfinite(total) and (not asked or (least >= 0.0 and abs(total - 1.0) <= SUM_TOLERANCE))


@kernel(int64(WhereType, QueriesType, AnswersType, int64))
def scatter(where: Ints, queries: Queries, answers: Answers, count: int) -> int:
    """Write the answers to where the machine takes them in: ALL_WELL, or the first row that is no answer."""
    for row in range(count):
        if not is_answer(queries, answers, row):
            return row
    for row in range(count):
        slot = slot_of(where, queries.slot[row], queries.slot[row])
        slot.registers[STATUS] = GO_ON
        slot.state[0] = queries.state[row, 0]
        count, children = queries.degree[row], children_of(answers, row)
        for k in range(slot.values):
            slot.answer_value[k] = answers.value[row, k]
        if queries.kind[row] == ACT or queries.kind[row] == SAMPLE:
            for i in range(count):
                slot.answer_prior[i] = answers.prior[row, i]
        for i in range(count * slot.values):
            slot.answer_children[i] = children[i]
    return ALL_WELL

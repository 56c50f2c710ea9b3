"""The evaluators that are compiled into the machine, so that a search with them never stops for an evaluation.

UNIFORM     P uniform, H as the rules' weights say, every value that of a game about which nothing is known
PLAYOUTS    the same P and H; V is the return of one random game from there, V_c is V
ROLLOUTS    the same with a game that a policy plays
TABLE       everything exactly, from a policy (a `PolicyTable`)
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import int64

from qdts.fields import tuple_type
from qdts.games.interface import NO_HOLE, KernelsType, RulesType
from qdts.games.playouts import PlayoutType
from qdts.kernels import Ints, kernel
from qdts.pointers import element, pointers_to
from qdts.rng import sample_by_weight
from qdts.search.evaluation.evaluator import (
    ACT,
    NOTHING,
    SAMPLE,
    Evaluations,
    EvaluationsType,
    Queries,
    QueriesType,
)
from qdts.search.evaluation.lookup import EVALUATED, look_up_act, look_up_sample, look_up_world
from qdts.search.evaluation.packed import PackedEvaluation, PackedQuery, Workspace
from qdts.search.evaluation.policy_table import H_UNIFORM, PolicyTable, PolicyTableType
from qdts.search.evaluation.rollouts import roll_out
from qdts.search.options.packed import PackedOptions, PackedOptionsType

OUTSIDE, UNIFORM, PLAYOUTS, TABLE, ROLLOUTS = range(5)
"""Evaluators by number; OUTSIDE: one that is not compiled into the machine."""


class Model(NamedTuple):
    """A game with a compiled evaluator and the options of a search; in kernels pointers to the arrays."""

    number: int
    """UNIFORM and so on."""
    game: Annotated[Any, KernelsType]
    rules: Annotated[Ints, RulesType]
    playout: Annotated[Any, PlayoutType]
    packed: Annotated[PackedOptions, PackedOptionsType]
    table: Annotated[PolicyTable, PolicyTableType]


ModelType = tuple_type(Model)


@kernel()
def play_out(model: Model, query: PackedQuery, out: PackedEvaluation, work: Workspace) -> None:
    """V of one game: holes are filled by the rules' weights, then the pending action, then a playout."""
    game, rules, world = model.game, model.rules, work.world
    for i in range(query.size):
        world[i] = query.vector[i]
    hole = game.hole(rules, world) if model.packed.hidden else NO_HOLE
    while hole != NO_HOLE:
        count = game.values(rules, world, hole, work.moves, work.chances)
        game.fill(rules, world, hole, work.moves[sample_by_weight(work.chances, count, query.state)])
        hole = game.hole(rules, world)
    if query.pending != NOTHING:
        game.step(rules, world, query.pending)
    if model.number == ROLLOUTS:
        roll_out(game, rules, model.table, query.size, work, query.state)
    else:
        model.playout(rules, world, work.moves, work.chances, query.state, work.utilities)
    for k in range(out.values):
        out.value[k] = work.utilities[query.player if model.packed.hidden else k]


@kernel()
def evaluate(model: Model, query: PackedQuery, out: PackedEvaluation, work: Workspace) -> int:
    """Evaluate a query by any evaluator but OUTSIDE; EVALUATED or NO_ENTRY."""
    if model.number == TABLE:
        if query.kind == ACT:
            return look_up_act(model.table, query, out)
        if query.kind == SAMPLE:
            return look_up_sample(model.game, model.rules, model.table, query, out, work)
        return look_up_world(model.table, query, out)
    for k in range(out.values):
        out.value[k] = model.packed.neutral
    if model.number in (PLAYOUTS, ROLLOUTS):
        play_out(model, query, out, work)
    for i in range(query.degree):
        for k in range(out.values):
            out.children[i * out.values + k] = out.value[k]
        if query.kind == SAMPLE and model.table.h == H_UNIFORM:
            out.prior[i] = 1.0 / query.degree
    return EVALUATED


@kernel(int64(ModelType, QueriesType, EvaluationsType))
def evaluate_rows(model: Model, queries: Queries, evaluations: Evaluations) -> int:
    """`evaluate` for Python, for each row in turn; EVALUATED, or NO_ENTRY at the first row without one."""
    size, width, values = queries.vector.shape[1], queries.choices.shape[1], evaluations.value.shape[1]
    vectors, moves, chances = np.empty(2 * size, np.int64), np.empty(width, np.int64), np.empty(width)
    work = Workspace(
        world=element(vectors, 0),
        seen=element(vectors, size),
        moves=element(moves, 0),
        chances=element(chances, 0),
        utilities=element(chances, 0),
    )
    for row in range(len(queries.kind)):
        evaluations.prior[row] = queries.weights[row]
        query = PackedQuery(
            kind=queries.kind[row],
            vector=element(queries.vector, row * size),
            size=size,
            player=queries.player[row],
            pending=queries.pending[row],
            hole=queries.hole[row],
            choices=element(queries.choices, row * width),
            degree=queries.degree[row],
            state=element(queries.state, row),
        )
        out = PackedEvaluation(
            value=element(evaluations.value, row * values),
            children=element(evaluations.children, row * width * values),
            prior=element(evaluations.prior, row * width),
            values=values,
        )
        status = evaluate(pointers_to(model), query, out, work)
        if status != EVALUATED:
            return status
    return EVALUATED

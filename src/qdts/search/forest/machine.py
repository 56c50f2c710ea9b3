"""The machine that runs visits: all of its state is in a lane, so it can stop wherever it needs something.

`phases` has the diagram of its phases and the reasons for which it stops.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import int64

from qdts.fields import tuple_type
from qdts.kernels import Ints, kernel
from qdts.pointers import pointers_to
from qdts.search.beliefs.root import RootBeliefs, RootBeliefsType
from qdts.search.evaluation.compiled import OUTSIDE, Model, ModelType
from qdts.search.evaluation.evaluator import Evaluations, EvaluationsType, Queries, QueriesType
from qdts.search.forest.lanes.lane import CURRENT, PHASE, ROOT, STATUS, TARGET, VISITS, Lane
from qdts.search.forest.lanes.layout import WhereType, lane_of
from qdts.search.forest.lanes.prefetch import fetch_ahead
from qdts.search.forest.visit.expansion import absorb, evaluate_node, rest, widen
from qdts.search.forest.visit.path import arrive_at, back, choose, descend, return_to_opponent
from qdts.search.forest.visit.phases import (
    ABSORB,
    ARRIVE,
    BEGIN,
    CHOOSE,
    DESCEND,
    DONE,
    EVALUATE,
    GO_ON,
    PARKED,
    PAUSED,
    REST,
    RETURN,
    WIDEN,
)
from qdts.search.forest.visit.queries import put_query, take_evaluation


class Turn(NamedTuple):
    """Which lanes run, and for how long."""

    first: int
    last: int
    """The lanes from `first` up to `last`, which is not among them."""
    row: int
    """The row of their first query."""
    quota: int
    """The most visits that a lane makes."""


TurnType = tuple_type(Turn)


@kernel(inline=True)
def run(lane: Lane, model: Model, beliefs: RootBeliefs, s: int, quota: int) -> int:
    """Run one lane until it stops; the reason why."""
    game, rules, packed, r = model.game, model.rules, model.packed, lane.registers
    pause = r[VISITS] + quota
    status = GO_ON
    while status == GO_ON:
        phase = r[PHASE]
        if phase == BEGIN:
            if r[VISITS] >= r[TARGET]:
                return DONE
            if r[VISITS] >= pause:
                return PAUSED
            r[CURRENT] = ROOT
            r[PHASE] = ARRIVE
        elif phase == ARRIVE:
            arrive_at(lane, packed)
        elif phase == EVALUATE:
            status = evaluate_node(lane, model)
        elif phase == ABSORB:
            absorb(lane, model, beliefs, s)
        elif phase == WIDEN:
            status = widen(game, rules, lane, packed)
        elif phase == REST:
            rest(lane, packed)
        elif phase == CHOOSE:
            status = choose(game, rules, lane, packed)
        elif phase == RETURN:
            return_to_opponent(lane, packed)
        elif phase == DESCEND:
            status = descend(game, rules, lane, packed)
        else:
            back(lane, packed)
    return status


@kernel(int64(WhereType, ModelType, RootBeliefsType, QueriesType, EvaluationsType, TurnType))
def advance(
    where: Ints, model: Model, beliefs: RootBeliefs, queries: Queries, evaluations: Evaluations, turn: Turn
) -> int:
    """Run lanes, each until it stops.

    Lanes that were parked take their evaluations. Those that park write their queries, one row after another.

    Returns how many queries there are.
    """
    known, believed, row = pointers_to(model), pointers_to(beliefs), turn.row
    written, read = pointers_to(queries), pointers_to(evaluations)
    for s in range(turn.first, turn.last):
        lane = lane_of(where, s, turn.first)
        if model.number == OUTSIDE:
            fetch_ahead(where, s, turn.last)
            if lane.registers[STATUS] == PARKED:
                take_evaluation(lane, read)
        status = run(lane, known, believed, s, turn.quota)
        if status == PARKED:
            put_query(lane, model.packed, s, written, row)
            row += 1
        lane.registers[STATUS] = status
    return row - turn.row

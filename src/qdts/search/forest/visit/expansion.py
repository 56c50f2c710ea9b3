"""New nodes: their evaluation, what is taken over from it, and the evaluation of their children ahead of time."""

from __future__ import annotations

from typing import Any

from qdts.kernels import Ints, kernel
from qdts.pointers import entry, moved
from qdts.search.beliefs.root import RootBeliefs
from qdts.search.evaluation.compiled import OUTSIDE, Model, evaluate
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE, TERMINAL
from qdts.search.evaluation.lookup import EVALUATED
from qdts.search.evaluation.packed import PackedEvaluation, PackedQuery, Workspace
from qdts.search.forest.lanes.lane import (
    CURRENT,
    EVALUATIONS,
    NONE,
    PHASE,
    ROOT,
    STOPS,
    WIDE_EDGE,
    WIDE_NODE,
    Lane,
    vector_of,
)
from qdts.search.forest.lanes.scratch import RULES, scratch
from qdts.search.forest.values.backup import back_up
from qdts.search.forest.visit.growth import CAPPED, LISTED, NO_ROOM, child_of, list_choices, spawned_root
from qdts.search.forest.visit.path import stop_at, wants_only_prior
from qdts.search.forest.visit.phases import (
    ABSORB,
    CHOOSE,
    EVALUATE,
    FAULTY,
    GO_ON,
    GROW,
    LOST,
    PARKED,
    REST,
    RETURN,
    WIDEN,
)
from qdts.search.forest.visit.queries import point_of_view
from qdts.search.forest.visit.root_belief import refine
from qdts.search.forest.visit.selection import guide_root
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import FPU


@kernel(inline=True)
def evaluate_node(lane: Lane, model: Model) -> int:
    """List the choices of the node at hand and evaluate it, or park where the evaluator is not compiled in."""
    r = lane.registers
    node = r[CURRENT]
    listed = list_choices(model.game, model.rules, lane, node)
    if listed != LISTED:
        return GROW if listed == NO_ROOM else FAULTY
    r[EVALUATIONS] += 1
    r[PHASE] = ABSORB
    if model.number == OUTSIDE:
        return PARKED
    query = PackedQuery(
        kind=lane.kind[node],
        vector=vector_of(lane, node),
        size=lane.size,
        player=point_of_view(lane, model.packed, node),
        pending=lane.pending[node],
        hole=lane.hole[node],
        choices=lane.choices,
        degree=lane.degree[node],
        state=lane.state,
    )
    out = PackedEvaluation(lane.evaluation_value, lane.evaluation_children, lane.evaluation_prior, lane.values)
    reals = scratch(lane, RULES)
    work = Workspace(lane.vector_a, lane.trail, lane.moves, reals, reals)
    return GO_ON if evaluate(model, query, out, work) == EVALUATED else LOST


@kernel(inline=True)
def absorb(lane: Lane, model: Model, beliefs: RootBeliefs, s: int) -> None:
    """Take over the evaluation of the node at hand: V, V_c, the prior, and its first Q."""
    r, packed = lane.registers, model.packed
    node = r[CURRENT]
    first, count = lane.first[node], lane.degree[node]
    if lane.kind[node] == SAMPLE:
        refine(model.game, model.rules, lane, beliefs, s, node)
    if lane.kind[node] != CHANCE:
        for i in range(count):
            lane.prior[first + i] = 0.0 if lane.kind[node] == OPPONENT else lane.evaluation_prior[i]
    if lane.kind[node] != ACT or packed.unvisited != FPU:  # else it is never read
        vc = moved(lane.vc, first * lane.values)
        for i in range(count * lane.values):
            vc[i] = lane.evaluation_children[i]
    for k in range(lane.values):
        entry(lane.v, node)[k] = lane.evaluation_value[k]
        entry(lane.lo, node)[k] = lane.evaluation_value[k]
        entry(lane.hi, node)[k] = lane.evaluation_value[k]
    lane.evaluated[node] = 1
    if lane.kind[node] == SAMPLE or lane.kind[node] == CHANCE:
        back_up(lane, packed, node)
    if node == ROOT and lane.guide[0] >= 0.0:
        guide_root(lane, packed)
    if r[WIDE_NODE] != NONE:
        r[PHASE] = WIDEN
    elif packed.widen and packed.hidden and lane.kind[node] == ACT:
        r[WIDE_NODE] = node
        r[WIDE_EDGE] = 0
        r[PHASE] = WIDEN
    else:
        r[PHASE] = REST


@kernel()
def widen(game: Any, rules: Ints, lane: Lane, packed: PackedOptions) -> int:
    """Have the next child of a new ACT node evaluated, and its spawned root if it is an OPPONENT node."""
    r = lane.registers
    node = r[WIDE_NODE]
    if r[WIDE_EDGE] == lane.degree[node]:
        r[WIDE_NODE] = NONE
        r[CURRENT] = node
        r[PHASE] = REST
        return GO_ON
    child = child_of(game, rules, lane, packed, node, r[WIDE_EDGE])
    if child == NO_ROOM:
        return GROW
    if child != CAPPED and lane.kind[child] != TERMINAL:
        if lane.evaluated[child] == 0:
            r[CURRENT] = child
            r[PHASE] = EVALUATE
            return GO_ON
        if lane.kind[child] == OPPONENT and lane.total[child] == 0:
            root = spawned_root(game, rules, lane, packed, child)
            if root == NO_ROOM:
                return GROW
            if root != CAPPED and lane.evaluated[root] == 0:
                r[CURRENT] = root
                r[PHASE] = EVALUATE
                return GO_ON
            back_up(lane, packed, child)
    r[WIDE_EDGE] += 1
    return GO_ON


@kernel(inline=True)
def rest(lane: Lane, packed: PackedOptions) -> None:
    """Stop the visit at the node at hand, which has just been evaluated, unless it is a root or inside a chain."""
    r = lane.registers
    node = r[CURRENT]
    if wants_only_prior(lane, packed):
        r[PHASE] = RETURN
    elif lane.tree[node] == node or lane.passing[node] != STOPS:
        r[PHASE] = CHOOSE
    else:
        lane.stopped[node] = 1
        stop_at(lane, node)

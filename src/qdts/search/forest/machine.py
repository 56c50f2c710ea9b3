"""The machine that runs visits: all of its state is in a lane, so it can stop wherever it needs something.

    BEGIN ──► ARRIVE ──► ASK ──► ABSORB ──► (WIDEN ⇄ ASK) ──► REST ──┐
                │ evaluated: ▼                                   │   │ new: the visit stops here
                ├─────────► CHOOSE ◄─────────────────────────────┘   │
                │ over       │ edge       OPPONENT: ARRIVE at the spawned root, and then RETURN
                ▼            ▼                                       ▼
              BACK ◄───── DESCEND ──► ARRIVE                        BACK ──► … ──► BEGIN

It stops with DONE (the visits that were asked for are made), PAUSED (as many as one call may make), PARKED (the node
at hand is to be evaluated outside), GROW (the arrays are full), LOST (the book has no such node)
or FAULTY (the rules give the node no choice, or more than the game has).
"""

from __future__ import annotations

from typing import Any

from numba import int64

from qdts.games.interface import KernelsType, RulesType
from qdts.games.playouts import PlayoutType
from qdts.kernels import Ints, kernel
from qdts.pointers import element, entry, moved
from qdts.rng import sample_by_weight
from qdts.search.beliefs.root import RootBeliefs, RootBeliefsType
from qdts.search.evaluation.compiled import ASK as OUTSIDE
from qdts.search.evaluation.compiled import EVALUATED, evaluate
from qdts.search.evaluation.evaluator import (
    ACT,
    CHANCE,
    OPPONENT,
    SAMPLE,
    TERMINAL,
    Evaluations,
    EvaluationsType,
    Queries,
    QueriesType,
)
from qdts.search.evaluation.policy_table import PolicyTable, PolicyTablePointers, PolicyTableType, table_pointers
from qdts.search.forest.backup import back_up, is_running
from qdts.search.forest.edge_values import write_q
from qdts.search.forest.growth import CAPPED, LISTED, NO_ROOM, child_of, list_choices, spawned_root
from qdts.search.forest.layout import (
    CURRENT,
    DEPTH,
    EVALUATIONS,
    NONE,
    PHASE,
    ROOT,
    STATUS,
    STOPS,
    TARGET,
    TOUCHED,
    VISITS,
    WAITING,
    WIDE_EDGE,
    WIDE_NODE,
    Lane,
    WhereType,
    lane_of,
    scratch,
    vector_of,
)
from qdts.search.forest.luck import take_off, write_act_luck, write_opponent_luck, write_route_luck, write_sample_luck
from qdts.search.forest.opponent_estimate import write_estimate
from qdts.search.forest.prefetch import fetch_ahead
from qdts.search.forest.queries import asker, evaluation_pointers, put_query, query_pointers, take_evaluation
from qdts.search.forest.root_belief import belief_pointers, refine
from qdts.search.forest.selection import select
from qdts.search.forest.terms import DRAWN, HIGH, LOW
from qdts.search.options.packed import PackedOptions, PackedOptionsType
from qdts.search.options.variants import FPU, MIRROR_ESTIMATE, ROUTE, RUNNING, RUNNING_BACKUP

BEGIN, ARRIVE, ASK, ABSORB, WIDEN, REST, CHOOSE, RETURN, DESCEND, BACK = range(10)
"""Phases."""
DONE, PAUSED, PARKED, GROW, LOST, FAULTY, GO_ON = range(7)
"""Why a lane stopped; GO_ON: it did not."""


@kernel(inline=True)
def is_only_asked(lane: Lane, packed: PackedOptions) -> bool:
    """Whether the node at hand is a spawned root of which only P is wanted: mirror with step 0."""
    depth = lane.registers[DEPTH]
    return (
        packed.estimate == MIRROR_ESTIMATE and packed.step == 0.0 and depth > 0 and lane.stack[2 * depth - 1] == WAITING
    )


@kernel(inline=True)
def stop_at(lane: Lane, node: int) -> None:
    """A visit stops at a node: Q of it is what it carries back."""
    for k in range(lane.values):
        lane.carried[k] = entry(lane.lo, node)[k]
        lane.carried[lane.values + k] = entry(lane.hi, node)[k]
    lane.registers[PHASE] = BACK


@kernel()
def stop_at_edge(lane: Lane, packed: PackedOptions, node: int, edge: int) -> None:
    """A visit stops at an edge whose child can't be made: it carries V_c back, from an ACT node Q of the edge."""
    low, high = scratch(lane, LOW), scratch(lane, HIGH)
    for k in range(lane.values):
        if lane.kind[node] == ACT:
            write_q(lane, packed, node, k, low, high)
        else:
            low[edge] = lane.vc[(lane.first[node] + edge) * lane.values + k]
            high[edge] = low[edge]
        lane.carried[k] = low[edge]
        lane.carried[lane.values + k] = high[edge]
    lane.registers[PHASE] = BACK


@kernel(inline=True)
def arrive_at(lane: Lane, packed: PackedOptions) -> None:
    """A visit comes to the node at hand."""
    r = lane.registers
    node = r[CURRENT]
    only_asked = is_only_asked(lane, packed)
    r[TOUCHED] += not only_asked
    if lane.kind[node] == TERMINAL:
        stop_at(lane, node)
    elif lane.evaluated[node] == 0:
        r[PHASE] = ASK
    elif only_asked:
        r[PHASE] = RETURN
    else:
        r[PHASE] = CHOOSE


@kernel(inline=True)
def ask(
    game: Any, playout: Any, rules: Ints, lane: Lane, packed: PackedOptions, table: PolicyTablePointers, evaluator: int
) -> int:
    """List the choices of the node at hand and have it evaluated."""
    r = lane.registers
    node = r[CURRENT]
    listed = list_choices(game, rules, lane, node)
    if listed != LISTED:
        return GROW if listed == NO_ROOM else FAULTY
    r[EVALUATIONS] += 1
    r[PHASE] = ABSORB
    if evaluator == OUTSIDE:
        return PARKED
    player = asker(lane, packed, node)
    status = evaluate(
        game,
        playout,
        rules,
        packed,
        table,
        evaluator,
        lane.kind[node],
        vector_of(lane, node),
        lane.size,
        player,
        lane.pending[node],
        lane.hole[node],
        lane.choices,
        lane.degree[node],
        lane.state,
        lane.values,
        lane.evaluation_value,
        lane.evaluation_children,
        lane.evaluation_prior,
        lane.vector_a,
        lane.moves,
        lane.reals,
    )
    return GO_ON if status == EVALUATED else LOST


@kernel(inline=True)
def absorb(game: Any, rules: Ints, lane: Lane, packed: PackedOptions, beliefs: RootBeliefs, s: int) -> None:
    """Take in the answer for the node at hand: V, V_c, the prior, and its first Q."""
    r = lane.registers
    node = r[CURRENT]
    first, count = lane.first[node], lane.degree[node]
    if lane.kind[node] == SAMPLE:
        refine(game, rules, lane, beliefs, s, node)
    if lane.kind[node] != CHANCE:
        for i in range(count):
            lane.prior[first + i] = 0.0 if lane.kind[node] == OPPONENT else lane.evaluation_prior[i]
    if lane.kind[node] != ACT or packed.unvisited != FPU:  # else nobody reads it
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
def guide_root(lane: Lane, packed: PackedOptions) -> None:
    """P' of the root: its prior with a temperature, mixed with the noise that `guide` holds."""
    first, count = lane.first[ROOT], lane.degree[ROOT]
    top, total = 0.0, 0.0
    for i in range(count):
        top = max(top, lane.prior[first + i])
    for i in range(count):
        total += (lane.prior[first + i] / top) ** (1.0 / packed.prior_temperature)  # no power of all is 0
    for i in range(count):
        p = (lane.prior[first + i] / top) ** (1.0 / packed.prior_temperature) / total
        lane.guide[i] = (1.0 - packed.noise) * p + packed.noise * lane.guide[i]


@kernel()
def widen(game: Any, rules: Ints, lane: Lane, packed: PackedOptions) -> int:
    """See to the next child of a new ACT node: have it evaluated, and its spawned root if it is an OPPONENT node."""
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
            r[PHASE] = ASK
            return GO_ON
        if lane.kind[child] == OPPONENT and lane.total[child] == 0:
            root = spawned_root(game, rules, lane, packed, child)
            if root == NO_ROOM:
                return GROW
            if root != CAPPED and lane.evaluated[root] == 0:
                r[CURRENT] = root
                r[PHASE] = ASK
                return GO_ON
            back_up(lane, packed, child)
    r[WIDE_EDGE] += 1
    return GO_ON


@kernel(inline=True)
def rest(lane: Lane, packed: PackedOptions) -> None:
    """The node at hand has just been evaluated: a visit stops there, unless it is a root or inside a chain."""
    r = lane.registers
    node = r[CURRENT]
    if is_only_asked(lane, packed):
        r[PHASE] = RETURN
    elif lane.tree[node] == node or lane.passing[node] != STOPS:
        r[PHASE] = CHOOSE
    else:
        lane.stopped[node] = 1
        stop_at(lane, node)


@kernel(inline=True)
def count_choice(lane: Lane, node: int, edge: int) -> None:
    """N(e) ← N(e) + 1."""
    lane.n[lane.first[node] + edge] += 1
    lane.total[node] += 1


@kernel(inline=True)
def push(lane: Lane, node: int, edge: int) -> None:
    """Put a node and its edge on the stack, and count the choice."""
    r = lane.registers
    lane.stack[2 * r[DEPTH]] = node
    lane.stack[2 * r[DEPTH] + 1] = edge
    r[DEPTH] += 1
    if edge != WAITING:
        count_choice(lane, node, edge)


@kernel(inline=True)
def choose(game: Any, rules: Ints, lane: Lane, packed: PackedOptions) -> int:
    """Choose an edge at the node at hand; at OPPONENT nodes the spawned tree is visited first."""
    r = lane.registers
    node = r[CURRENT]
    if r[DEPTH] == lane.depth_room:
        return GROW
    kind = lane.kind[node]
    if kind == OPPONENT:
        root = spawned_root(game, rules, lane, packed, node)
        if root == NO_ROOM:
            return GROW
        if root == CAPPED:
            stop_at(lane, node)
        else:
            push(lane, node, WAITING)
            r[CURRENT] = root
            r[PHASE] = ARRIVE
        return GO_ON
    at = r[DEPTH]
    if kind == ACT:
        edge = select(lane, packed, node)
        if packed.backup == RUNNING_BACKUP:
            write_act_luck(lane, packed, node, edge, at)
        waits = at > 0 and lane.stack[2 * at - 1] == WAITING
        if waits and packed.opponent_q == RUNNING and packed.estimate != MIRROR_ESTIMATE:
            write_opponent_luck(lane, packed, lane.stack[2 * at - 2], edge, at - 1)
    else:
        first = lane.first[node]
        edge = sample_by_weight(moved(lane.prior, first), lane.degree[node], lane.state)
        if packed.sample_q == RUNNING:
            write_sample_luck(lane, packed, node, edge, at)
    push(lane, node, edge)
    r[PHASE] = DESCEND
    return GO_ON


@kernel(inline=True)
def choose_for(lane: Lane, edge: int) -> None:
    """Give the waiting OPPONENT node on top of the stack its edge."""
    r = lane.registers
    lane.stack[2 * r[DEPTH] - 1] = edge
    count_choice(lane, lane.stack[2 * r[DEPTH] - 2], edge)
    r[PHASE] = DESCEND


@kernel()
def come_back(lane: Lane, packed: PackedOptions) -> None:
    """The spawned root has P̂ to draw from (mirror): the OPPONENT node on top of the stack gets its edge."""
    top = lane.registers[DEPTH] - 1
    node = lane.stack[2 * top]
    estimate = scratch(lane, DRAWN)
    write_estimate(lane, packed, lane.spawned[node], estimate)
    edge = sample_by_weight(estimate, lane.degree[node], lane.state)
    if packed.opponent_q == RUNNING:
        write_opponent_luck(lane, packed, node, edge, top)
    choose_for(lane, edge)


@kernel(inline=True)
def descend(game: Any, rules: Ints, lane: Lane, packed: PackedOptions) -> int:
    """Go to the child of the edge on top of the stack."""
    r = lane.registers
    top = r[DEPTH] - 1
    node, edge = lane.stack[2 * top], lane.stack[2 * top + 1]
    fresh = lane.child[lane.first[node] + edge] == NONE
    child = child_of(game, rules, lane, packed, node, edge)
    if child == NO_ROOM:
        return GROW
    complete = lane.kind[node] == SAMPLE and (child == CAPPED or lane.kind[child] != SAMPLE)
    if complete and packed.ball == ROUTE and packed.sample_q == RUNNING:
        write_route_luck(lane, packed, top, fresh)
    r[CURRENT] = child
    r[PHASE] = ARRIVE
    if child == CAPPED:
        stop_at_edge(lane, packed, node, edge)
    return GO_ON


@kernel(inline=True)
def back(lane: Lane, packed: PackedOptions) -> None:
    """Take the last node off the path and recompute its Q.

    At a spawned root the visit of its tree is over, and its edge is the action that comes back.
    """
    r = lane.registers
    if r[DEPTH] == 0:
        r[VISITS] += 1
        r[PHASE] = BEGIN
        return
    r[DEPTH] -= 1
    top = r[DEPTH]
    node = lane.stack[2 * top]
    if is_running(lane, packed, node):
        take_off(lane, packed, node, top)
    else:
        back_up(lane, packed, node)
    if top > 0 and lane.stack[2 * top - 1] == WAITING:
        if packed.estimate == MIRROR_ESTIMATE:
            r[PHASE] = RETURN
        else:
            choose_for(lane, lane.stack[2 * top + 1])


@kernel(inline=True)
def run(
    game: Any,
    playout: Any,
    rules: Ints,
    lane: Lane,
    packed: PackedOptions,
    table: PolicyTablePointers,
    evaluator: int,
    beliefs: RootBeliefs,
    s: int,
    quota: int,
) -> int:
    """Run one lane until it stops; say why."""
    r = lane.registers
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
        elif phase == ASK:
            status = ask(game, playout, rules, lane, packed, table, evaluator)
        elif phase == ABSORB:
            absorb(game, rules, lane, packed, beliefs, s)
        elif phase == WIDEN:
            status = widen(game, rules, lane, packed)
        elif phase == REST:
            rest(lane, packed)
        elif phase == CHOOSE:
            status = choose(game, rules, lane, packed)
        elif phase == RETURN:
            come_back(lane, packed)
        elif phase == DESCEND:
            status = descend(game, rules, lane, packed)
        else:
            back(lane, packed)
    return status


@kernel(
    int64(
        KernelsType,
        PlayoutType,
        RulesType,
        WhereType,
        PackedOptionsType,
        PolicyTableType,
        int64,
        RootBeliefsType,
        int64,
        int64,
        int64,
        QueriesType,
        EvaluationsType,
        int64,
    )
)
def advance(
    game: Any,
    playout: Any,
    rules: Ints,
    where: Ints,
    packed: PackedOptions,
    table: PolicyTable,
    evaluator: int,
    beliefs: RootBeliefs,
    first: int,
    last: int,
    quota: int,
    queries: Queries,
    evaluations: Evaluations,
    row: int,
) -> int:
    """Run the lanes from `first` up to `last`, each until it stops; `quota` is the most visits that one makes.

    Lanes that were parked take their evaluations. Those that park write their queries, from a row on.

    Returns how many queries there are.
    """
    opened, asked, told, start = table_pointers(table), query_pointers(queries), evaluation_pointers(evaluations), row
    believed = belief_pointers(beliefs)
    for s in range(first, last):
        lane = lane_of(where, s, first)
        if evaluator == OUTSIDE:
            fetch_ahead(where, s, last)
            if lane.registers[STATUS] == PARKED:
                take_evaluation(lane, told)
        status = run(game, playout, element(rules, 0), lane, packed, opened, evaluator, believed, s, quota)
        if status == PARKED:
            put_query(lane, packed, s, asked, row)
            row += 1
        lane.registers[STATUS] = status
    return row - start

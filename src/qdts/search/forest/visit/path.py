"""The path of a visit: down from the root, through spawned trees, and back up again."""

from __future__ import annotations

from typing import Any

from qdts.kernels import Ints, kernel
from qdts.pointers import entry, moved
from qdts.rng import sample_by_weight
from qdts.search.evaluation.evaluator import ACT, OPPONENT, SAMPLE, TERMINAL
from qdts.search.forest.lanes.lane import CURRENT, DEPTH, NONE, PHASE, TOUCHED, VISITS, WAITING, Lane
from qdts.search.forest.lanes.scratch import HIGH, LOW, SAMPLED_FROM, scratch
from qdts.search.forest.values.backup import back_up, is_running
from qdts.search.forest.values.edge_values import write_q
from qdts.search.forest.values.luck import (
    take_off,
    write_act_luck,
    write_opponent_luck,
    write_route_luck,
    write_sample_luck,
)
from qdts.search.forest.values.opponent_estimate import write_estimate
from qdts.search.forest.visit.growth import CAPPED, NO_ROOM, child_of, spawned_root
from qdts.search.forest.visit.phases import ARRIVE, BACK, BEGIN, CHOOSE, DESCEND, EVALUATE, GO_ON, GROW, RETURN
from qdts.search.forest.visit.selection import select
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import MIRROR_ESTIMATE, ROUTE, RUNNING, RUNNING_BACKUP


@kernel(inline=True)
def wants_only_prior(lane: Lane, packed: PackedOptions) -> bool:
    """Whether the node at hand is a spawned root of which only P is wanted: mirror with step 0."""
    depth = lane.registers[DEPTH]
    return (
        packed.estimate == MIRROR_ESTIMATE and packed.step == 0.0 and depth > 0 and lane.stack[2 * depth - 1] == WAITING
    )


@kernel(inline=True)
def stop_at(lane: Lane, node: int) -> None:
    """Stop the visit at a node, whose Q it carries back."""
    for k in range(lane.values):
        lane.carried[k] = entry(lane.lo, node)[k]
        lane.carried[lane.values + k] = entry(lane.hi, node)[k]
    lane.registers[PHASE] = BACK


@kernel()
def stop_at_edge(lane: Lane, packed: PackedOptions, node: int, edge: int) -> None:
    """Stop the visit at an edge whose child can't be made: it carries V_c back, from an ACT node Q of the edge."""
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
    """Come to the node at hand."""
    r = lane.registers
    node = r[CURRENT]
    only_prior = wants_only_prior(lane, packed)
    r[TOUCHED] += not only_prior
    if lane.kind[node] == TERMINAL:
        stop_at(lane, node)
    elif lane.evaluated[node] == 0:
        r[PHASE] = EVALUATE
    elif only_prior:
        r[PHASE] = RETURN
    else:
        r[PHASE] = CHOOSE


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
def return_to_opponent(lane: Lane, packed: PackedOptions) -> None:
    """Sample the edge of the OPPONENT node on top of the stack from P̂ of its spawned root (mirror)."""
    top = lane.registers[DEPTH] - 1
    node = lane.stack[2 * top]
    estimate = scratch(lane, SAMPLED_FROM)
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

    At a spawned root the visit of its tree is over, and its edge is the action that the OPPONENT node gets.
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

"""Φ, the luck of a sampled choice: what running averages take off the value that a visit carries back.

    same    Φ = ∪ { R(c) − E_{e ~ D'}[R(e)] : D' ∈ B_eps(D) }       QDTS, SAMPLE nodes; Child-value targets, idea 3
    mu      Φ = ∪ { R(c) − E_{e ~ D'}[V_c(e)] : D' ∈ B_eps(D) }     idea 3
    v, q    Φ = R(c) − V(n), R(c) − Q(n)                            idea 3
    none    Φ = 0

c is the term that was sampled, R a term's Q, V* or V_c. What idea 3 adds to a value, mu − V_c(c), is −Φ.
"""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import entry
from qdts.search.evaluation.evaluator import SAMPLE
from qdts.search.forest.lanes.lane import HEAD, Lane
from qdts.search.forest.lanes.scratch import CHILD_VALUE, FREE, HIGH, LOW, PROBABILITY, SAMPLED_FROM, STATIC, scratch
from qdts.search.forest.values.edge_values import write_q
from qdts.search.forest.values.intervals import expectation_range, luck_range
from qdts.search.forest.values.terms import radius, write_routes, write_terms, write_values
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import BASE_MU, BASE_NONE, BASE_Q, BASE_SAME, CHILD_V, CHILD_VC, ROUTE


@kernel()
def set_luck(lane: Lane, at: int, k: int, lo: float, hi: float) -> None:
    """Set Φ of the choice at a height of the stack."""
    lane.luck[(2 * at) * lane.values + k] = lo
    lane.luck[(2 * at + 1) * lane.values + k] = hi


@kernel()
def write_sample_luck(lane: Lane, packed: PackedOptions, node: int, chosen: int, at: int) -> None:
    """Write Φ of the edge sampled at a SAMPLE or CHANCE node. The head of a chain waits for the whole route."""
    waits = packed.ball == ROUTE and lane.passing[node] == HEAD
    for k in range(lane.values):
        if waits:
            set_luck(lane, at, k, 0.0, 0.0)
        else:
            count = write_terms(lane, packed, node, k)
            _measure(lane, packed, node, count, chosen, k, at)


@kernel()
def write_route_luck(lane: Lane, packed: PackedOptions, top: int, fresh: bool) -> None:
    """Write Φ of the head of the chain whose last edge is on top of the stack; `fresh`: it had no child until now."""
    last = lane.first[lane.stack[2 * top]] + lane.stack[2 * top + 1]
    at = top
    while lane.passing[lane.stack[2 * at]] != HEAD:
        at -= 1
    head = lane.stack[2 * at]
    for k in range(lane.values):
        count, chosen = write_routes(lane, head, k, last)
        if fresh:
            vc = scratch(lane, CHILD_VALUE)[chosen]
            scratch(lane, STATIC)[chosen], scratch(lane, LOW)[chosen], scratch(lane, HIGH)[chosen] = vc, vc, vc
        _measure(lane, packed, head, count, chosen, k, at)


@kernel()
def _measure(lane: Lane, packed: PackedOptions, node: int, count: int, chosen: int, k: int, at: int) -> None:
    """Write Φ of one of the terms at hand."""
    base, eps, free = packed.luck_base, radius(lane, packed, node), scratch(lane, FREE)
    low, high = scratch(lane, LOW), scratch(lane, HIGH)
    if packed.luck_child == CHILD_V:
        low, high = scratch(lane, STATIC), scratch(lane, STATIC)
    elif packed.luck_child == CHILD_VC:
        low, high = scratch(lane, CHILD_VALUE), scratch(lane, CHILD_VALUE)
    lo, hi = 0.0, 0.0
    if base == BASE_SAME:
        lo, hi = luck_range(low, high, scratch(lane, PROBABILITY), count, chosen, eps, free)
    elif base != BASE_NONE:
        base_lo = base_hi = entry(lane.v, node)[k]
        if base == BASE_MU:
            base_lo, base_hi = expectation_range(
                scratch(lane, CHILD_VALUE), scratch(lane, PROBABILITY), count, eps, free
            )
        elif base == BASE_Q:
            base_lo, base_hi = entry(lane.lo, node)[k], entry(lane.hi, node)[k]
        lo, hi = low[chosen] - base_hi, high[chosen] - base_lo
    set_luck(lane, at, k, lo, hi)


@kernel()
def write_act_luck(lane: Lane, packed: PackedOptions, node: int, chosen: int, at: int) -> None:
    """Write Φ of an ACT node's choice, which SAMPLED_FROM is the distribution of; zero if that is a point."""
    low, high = scratch(lane, LOW), scratch(lane, HIGH)
    for k in range(lane.values):
        write_q(lane, packed, node, k, low, high)
        _measure_choice(lane, packed, node, chosen, 0.0, k, at)


@kernel()
def write_opponent_luck(lane: Lane, packed: PackedOptions, node: int, chosen: int, at: int) -> None:
    """Write Φ of an OPPONENT node's choice, which SAMPLED_FROM is the distribution of in the spawned tree."""
    for k in range(lane.values):
        for i in range(lane.degree[node]):
            write_values(lane, lane.first[node] + i, k, i)
        _measure_choice(lane, packed, node, chosen, packed.eps_opponent, k, at)


@kernel()
def _measure_choice(lane: Lane, packed: PackedOptions, node: int, chosen: int, eps: float, k: int, at: int) -> None:
    lo, hi = 0.0, 0.0
    if packed.luck_base != BASE_NONE:
        lo, hi = luck_range(
            scratch(lane, LOW), scratch(lane, HIGH), scratch(lane, SAMPLED_FROM), lane.degree[node], chosen, eps,
            scratch(lane, FREE),
        )  # fmt: skip
    set_luck(lane, at, k, lo, hi)


@kernel()
def take_off(lane: Lane, packed: PackedOptions, node: int, at: int) -> None:
    """Back up a running average: x − Φ, and Q(n) ← Q(n) + (x − Q(n)) / m.

    From inside a chain with a ball over whole routes x is passed on unchanged: the head takes off all of its luck.
    """
    m = lane.total[node] + lane.stopped[node]
    passes_on = packed.ball == ROUTE and lane.kind[node] == SAMPLE and lane.passing[node] != HEAD
    q_lo, q_hi = entry(lane.lo, node), entry(lane.hi, node)
    for k in range(lane.values):
        lo = lane.carried[k] - lane.luck[(2 * at + 1) * lane.values + k]
        hi = lane.carried[lane.values + k] - lane.luck[(2 * at) * lane.values + k]
        q_lo[k] += (lo - q_lo[k]) / m
        q_hi[k] += (hi - q_hi[k]) / m
        if not passes_on:
            lane.carried[k] = lo
            lane.carried[lane.values + k] = hi

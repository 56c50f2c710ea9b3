"""Φ, the luck of a choice that was drawn: what running averages take off the value that a visit carries back.

    same    Φ = ∪ { R(c) − E_{e ~ D'}[R(e)] : D' ∈ B_eps(D) }       QDTS, SAMPLE nodes; Child-value targets, idea 3
    mu      Φ = ∪ { R(c) − E_{e ~ D'}[V_c(e)] : D' ∈ B_eps(D) }     idea 3
    v, q    Φ = R(c) − V(n), R(c) − Q(n)                            idea 3
    none    Φ = 0

c is the item that was drawn, R an item's Q, V* or V_c. What idea 3 adds to a value, mu − V_c(c), is −Φ.
"""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import entry
from qdts.search.evaluation.evaluator import SAMPLE
from qdts.search.forest.edge_values import write_q
from qdts.search.forest.intervals import expectation_range, luck_range
from qdts.search.forest.layout import HEAD, Lane, scratch
from qdts.search.forest.terms import (
    CHILD_VALUE,
    DRAWN,
    FREE,
    HIGH,
    LOW,
    PROBABILITY,
    STATIC,
    radius,
    write_items,
    write_routes,
    write_values,
)
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import BASE_MU, BASE_NONE, BASE_Q, BASE_SAME, CHILD_V, CHILD_VC, ROUTE


@kernel()
def set_luck(lane: Lane, at: int, k: int, lo: float, hi: float) -> None:
    """Write down Φ for the choice at a height of the stack."""
    lane.luck[(2 * at) * lane.values + k] = lo
    lane.luck[(2 * at + 1) * lane.values + k] = hi


@kernel()
def write_sample_luck(lane: Lane, packed: PackedOptions, node: int, drawn: int, at: int) -> None:
    """Φ of the e-th edge's draw at a SAMPLE or CHANCE node. The head of a chain waits for the whole route."""
    waits = packed.ball == ROUTE and lane.passing[node] == HEAD
    for k in range(lane.values):
        if waits:
            set_luck(lane, at, k, 0.0, 0.0)
        else:
            count = write_items(lane, packed, node, k)
            _measure(lane, packed, node, count, drawn, k, at)


@kernel()
def write_route_luck(lane: Lane, packed: PackedOptions, top: int, fresh: bool) -> None:
    """Φ of the head of the chain whose last edge is on top of the stack; `fresh`: it had no child until now."""
    last = lane.first[lane.stack[2 * top]] + lane.stack[2 * top + 1]
    at = top
    while lane.passing[lane.stack[2 * at]] != HEAD:
        at -= 1
    head = lane.stack[2 * at]
    for k in range(lane.values):
        count, drawn = write_routes(lane, head, k, last)
        if fresh:
            vc = scratch(lane, CHILD_VALUE)[drawn]
            scratch(lane, STATIC)[drawn], scratch(lane, LOW)[drawn], scratch(lane, HIGH)[drawn] = vc, vc, vc
        _measure(lane, packed, head, count, drawn, k, at)


@kernel()
def _measure(lane: Lane, packed: PackedOptions, node: int, count: int, drawn: int, k: int, at: int) -> None:
    """Φ from the items at hand."""
    base, eps, free = packed.luck_base, radius(lane, packed, node), scratch(lane, FREE)
    low, high = scratch(lane, LOW), scratch(lane, HIGH)
    if packed.luck_child == CHILD_V:
        low, high = scratch(lane, STATIC), scratch(lane, STATIC)
    elif packed.luck_child == CHILD_VC:
        low, high = scratch(lane, CHILD_VALUE), scratch(lane, CHILD_VALUE)
    lo, hi = 0.0, 0.0
    if base == BASE_SAME:
        lo, hi = luck_range(low, high, scratch(lane, PROBABILITY), count, drawn, eps, free)
    elif base != BASE_NONE:
        base_lo = base_hi = entry(lane.v, node)[k]
        if base == BASE_MU:
            base_lo, base_hi = expectation_range(
                scratch(lane, CHILD_VALUE), scratch(lane, PROBABILITY), count, eps, free
            )
        elif base == BASE_Q:
            base_lo, base_hi = entry(lane.lo, node)[k], entry(lane.hi, node)[k]
        lo, hi = low[drawn] - base_hi, high[drawn] - base_lo
    set_luck(lane, at, k, lo, hi)


@kernel()
def write_act_luck(lane: Lane, packed: PackedOptions, node: int, drawn: int, at: int) -> None:
    """Φ of an ACT node's choice, DRAWN being what it was drawn from; zero if it was not drawn."""
    low, high = scratch(lane, LOW), scratch(lane, HIGH)
    for k in range(lane.values):
        write_q(lane, packed, node, k, low, high)
        _measure_drawn(lane, packed, node, drawn, 0.0, k, at)


@kernel()
def write_opponent_luck(lane: Lane, packed: PackedOptions, node: int, drawn: int, at: int) -> None:
    """Φ of an OPPONENT node's choice, DRAWN being what it was drawn from in the spawned tree."""
    for k in range(lane.values):
        for i in range(lane.degree[node]):
            write_values(lane, lane.first[node] + i, k, i)
        _measure_drawn(lane, packed, node, drawn, packed.eps_opponent, k, at)


@kernel()
def _measure_drawn(lane: Lane, packed: PackedOptions, node: int, drawn: int, eps: float, k: int, at: int) -> None:
    lo, hi = 0.0, 0.0
    if packed.luck_base != BASE_NONE:
        lo, hi = luck_range(
            scratch(lane, LOW), scratch(lane, HIGH), scratch(lane, DRAWN), lane.degree[node], drawn, eps,
            scratch(lane, FREE),
        )  # fmt: skip
    set_luck(lane, at, k, lo, hi)


@kernel()
def take_off(lane: Lane, packed: PackedOptions, node: int, at: int) -> None:
    """Back up a running average: x − Φ, and Q(n) ← Q(n) + (x − Q(n)) / m.

    From inside a chain with a ball over whole routes, x goes on as it came: the head takes off all of its luck.
    """
    m = lane.total[node] + lane.stopped[node]
    goes_on = packed.ball == ROUTE and lane.kind[node] == SAMPLE and lane.passing[node] != HEAD
    q_lo, q_hi = entry(lane.lo, node), entry(lane.hi, node)
    for k in range(lane.values):
        lo = lane.carried[k] - lane.luck[(2 * at + 1) * lane.values + k]
        hi = lane.carried[lane.values + k] - lane.luck[(2 * at) * lane.values + k]
        q_lo[k] += (lo - q_lo[k]) / m
        q_hi[k] += (hi - q_hi[k]) / m
        if not goes_on:
            lane.carried[k] = lo
            lane.carried[lane.values + k] = hi

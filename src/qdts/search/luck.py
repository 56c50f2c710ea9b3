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
from qdts.search.choices import BASE_MU, BASE_NONE, BASE_Q, BASE_SAME, CHILD_V, CHILD_VC, ROUTE
from qdts.search.edges import write_q
from qdts.search.evaluator import SAMPLE
from qdts.search.forest import HEAD, Slot, scratch
from qdts.search.interval import expectation_range, luck_range
from qdts.search.items import (
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
from qdts.search.settings import Settings


@kernel()
def set_luck(slot: Slot, at: int, k: int, lo: float, hi: float) -> None:
    """Write down Φ for the choice at a height of the stack."""
    slot.luck[(2 * at) * slot.values + k] = lo
    slot.luck[(2 * at + 1) * slot.values + k] = hi


@kernel()
def write_sample_luck(slot: Slot, settings: Settings, node: int, drawn: int, at: int) -> None:
    """Φ of the e-th edge's draw at a SAMPLE or CHANCE node. The head of a chain waits for the whole route."""
    waits = settings.ball == ROUTE and slot.passing[node] == HEAD
    for k in range(slot.values):
        if waits:
            set_luck(slot, at, k, 0.0, 0.0)
        else:
            count = write_items(slot, settings, node, k)
            _measure(slot, settings, node, count, drawn, k, at)


@kernel()
def write_route_luck(slot: Slot, settings: Settings, top: int, fresh: bool) -> None:
    """Φ of the head of the chain whose last edge is on top of the stack; `fresh`: it had no child until now."""
    last = slot.first[slot.stack[2 * top]] + slot.stack[2 * top + 1]
    at = top
    while slot.passing[slot.stack[2 * at]] != HEAD:
        at -= 1
    head = slot.stack[2 * at]
    for k in range(slot.values):
        count, drawn = write_routes(slot, head, k, last)
        if fresh:
            vc = scratch(slot, CHILD_VALUE)[drawn]
            scratch(slot, STATIC)[drawn], scratch(slot, LOW)[drawn], scratch(slot, HIGH)[drawn] = vc, vc, vc
        _measure(slot, settings, head, count, drawn, k, at)


@kernel()
def _measure(slot: Slot, settings: Settings, node: int, count: int, drawn: int, k: int, at: int) -> None:
    """Φ from the items at hand."""
    base, eps, free = settings.luck_base, radius(slot, settings, node), scratch(slot, FREE)
    low, high = scratch(slot, LOW), scratch(slot, HIGH)
    if settings.luck_child == CHILD_V:
        low, high = scratch(slot, STATIC), scratch(slot, STATIC)
    elif settings.luck_child == CHILD_VC:
        low, high = scratch(slot, CHILD_VALUE), scratch(slot, CHILD_VALUE)
    lo, hi = 0.0, 0.0
    if base == BASE_SAME:
        lo, hi = luck_range(low, high, scratch(slot, PROBABILITY), count, drawn, eps, free)
    elif base != BASE_NONE:
        base_lo = base_hi = entry(slot.v, node)[k]
        if base == BASE_MU:
            base_lo, base_hi = expectation_range(
                scratch(slot, CHILD_VALUE), scratch(slot, PROBABILITY), count, eps, free
            )
        elif base == BASE_Q:
            base_lo, base_hi = entry(slot.lo, node)[k], entry(slot.hi, node)[k]
        lo, hi = low[drawn] - base_hi, high[drawn] - base_lo
    set_luck(slot, at, k, lo, hi)


@kernel()
def write_act_luck(slot: Slot, settings: Settings, node: int, drawn: int, at: int) -> None:
    """Φ of an ACT node's choice, DRAWN being what it was drawn from; zero if it was not drawn."""
    low, high = scratch(slot, LOW), scratch(slot, HIGH)
    for k in range(slot.values):
        write_q(slot, settings, node, k, low, high)
        _measure_drawn(slot, settings, node, drawn, 0.0, k, at)


@kernel()
def write_opponent_luck(slot: Slot, settings: Settings, node: int, drawn: int, at: int) -> None:
    """Φ of an OPPONENT node's choice, DRAWN being what it was drawn from in the spawned tree."""
    for k in range(slot.values):
        for i in range(slot.degree[node]):
            write_values(slot, slot.first[node] + i, k, i)
        _measure_drawn(slot, settings, node, drawn, settings.eps_opponent, k, at)


@kernel()
def _measure_drawn(slot: Slot, settings: Settings, node: int, drawn: int, eps: float, k: int, at: int) -> None:
    lo, hi = 0.0, 0.0
    if settings.luck_base != BASE_NONE:
        lo, hi = luck_range(
            scratch(slot, LOW), scratch(slot, HIGH), scratch(slot, DRAWN), slot.degree[node], drawn, eps,
            scratch(slot, FREE),
        )  # fmt: skip
    set_luck(slot, at, k, lo, hi)


@kernel()
def take_off(slot: Slot, settings: Settings, node: int, at: int) -> None:
    """Back up a running average: x − Φ, and Q(n) ← Q(n) + (x − Q(n)) / m.

    From inside a chain with a ball over whole routes, x goes on as it came: the head takes off all of its luck.
    """
    m = slot.total[node] + slot.stopped[node]
    goes_on = settings.ball == ROUTE and slot.kind[node] == SAMPLE and slot.passing[node] != HEAD
    q_lo, q_hi = entry(slot.lo, node), entry(slot.hi, node)
    for k in range(slot.values):
        lo = slot.carried[k] - slot.luck[(2 * at + 1) * slot.values + k]
        hi = slot.carried[slot.values + k] - slot.luck[(2 * at) * slot.values + k]
        q_lo[k] += (lo - q_lo[k]) / m
        q_hi[k] += (hi - q_hi[k]) / m
        if not goes_on:
            slot.carried[k] = lo
            slot.carried[slot.values + k] = hi

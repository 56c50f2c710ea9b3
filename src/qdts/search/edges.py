"""What an edge is worth, and drawing one."""

from __future__ import annotations

from qdts.kernels import Reals, kernel
from qdts.pointers import entry
from qdts.rng import State, uniform
from qdts.search.choices import FPU
from qdts.search.evaluator import TERMINAL
from qdts.search.forest import NONE, Slot
from qdts.search.settings import Settings


@kernel(inline=True)
def known(slot: Slot, node: int) -> bool:
    """Whether a child is there and has a value of its own."""
    return node != NONE and (slot.evaluated[node] != 0 or slot.kind[node] == TERMINAL)


@kernel(inline=True)
def edge_q(slot: Slot, settings: Settings, node: int, edge: int, k: int) -> tuple[float, float]:
    """Q(e) of an edge of an ACT node, component k: the child's, or by `unvisited` if it is not evaluated."""
    child = slot.child[edge]
    some = max(child, 0)  # whatever it is, it is read: a branch could not be foreseen
    there = (child != NONE) & ((slot.evaluated[some] != 0) | (slot.kind[some] == TERMINAL))
    lo, hi, q = entry(slot.lo, some)[k], entry(slot.hi, some)[k], entry(slot.v, node)[k] - settings.fpu
    if settings.unvisited != FPU:
        q = slot.vc[edge * slot.values + k]
    return lo if there else q, hi if there else q


@kernel(inline=True)
def write_q(slot: Slot, settings: Settings, node: int, k: int, lo: Reals, hi: Reals) -> None:
    """Q(e) of every edge of an ACT node, component k."""
    first = slot.first[node]
    for i in range(slot.degree[node]):
        lo[i], hi[i] = edge_q(slot, settings, node, first + i, k)


@kernel()
def drawn(weights: Reals, count: int, state: State) -> int:
    """One of the first `count` choices in proportion to its weight, by one number of the stream."""
    total = 0.0
    for i in range(count):
        total += weights[i]
    u = uniform(state) * total
    last = 0
    for i in range(count):
        if weights[i] > 0.0:
            u -= weights[i]
            last = i
            if u < 0.0:
                break
    return last

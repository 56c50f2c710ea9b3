"""Q of edges."""

from __future__ import annotations

from qdts.kernels import Reals, kernel
from qdts.pointers import entry
from qdts.search.evaluation.evaluator import TERMINAL
from qdts.search.forest.lanes.lane import NONE, Lane
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import FPU


@kernel(inline=True)
def known(lane: Lane, node: int) -> bool:
    """Whether a child exists and has a value of its own."""
    return node != NONE and (lane.evaluated[node] != 0 or lane.kind[node] == TERMINAL)


@kernel(inline=True)
def edge_q(lane: Lane, packed: PackedOptions, node: int, edge: int, k: int) -> tuple[float, float]:
    """Q(e) of an edge of an ACT node, component k: the child's, or by `unvisited` if it is not evaluated."""
    child = lane.child[edge]
    some = max(child, 0)  # always read: a branch could not be predicted
    there = (child != NONE) & ((lane.evaluated[some] != 0) | (lane.kind[some] == TERMINAL))
    lo, hi, q = entry(lane.lo, some)[k], entry(lane.hi, some)[k], entry(lane.v, node)[k] - packed.fpu
    if packed.unvisited != FPU:
        q = lane.vc[edge * lane.values + k]
    return lo if there else q, hi if there else q


@kernel(inline=True)
def write_q(lane: Lane, packed: PackedOptions, node: int, k: int, lo: Reals, hi: Reals) -> None:
    """Q(e) of every edge of an ACT node, component k."""
    first = lane.first[node]
    for i in range(lane.degree[node]):
        lo[i], hi[i] = edge_q(lane, packed, node, first + i, k)

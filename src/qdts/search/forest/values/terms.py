"""The terms of Q of a SAMPLE, OPPONENT or CHANCE node: its edges, or the ends of the routes through a chain.

    row               of a term
    PROBABILITY       D: H, P̂ or the rules' distribution
    STATIC            V*: V of the child if it has been evaluated, else V_c (Luck Adjustments)
    LOW, HIGH         Q: the child's, or V* where it has none
    CHILD_VALUE       V_c
    COUNT             N

Each is a row of `scratch`.
"""

from __future__ import annotations

from qdts.kernels import Reals, kernel
from qdts.pointers import entry
from qdts.search.evaluation.evaluator import OPPONENT, SAMPLE
from qdts.search.forest.lanes.lane import HEAD, NONE, Lane
from qdts.search.forest.lanes.scratch import CHILD_VALUE, COUNT, HIGH, LOW, PROBABILITY, STATIC, scratch
from qdts.search.forest.values.edge_values import known
from qdts.search.forest.values.opponent_estimate import write_estimate
from qdts.search.options.packed import PackedOptions
from qdts.search.options.variants import MIRROR_ESTIMATE, ROUTE


@kernel(inline=True)
def radius(lane: Lane, packed: PackedOptions, node: int) -> float:
    """Eps of a node; a ball over whole routes is the head's alone."""
    kind = lane.kind[node]
    if kind == OPPONENT:
        return packed.eps_opponent
    if kind != SAMPLE or (packed.ball == ROUTE and lane.passing[node] != HEAD):
        return 0.0
    return packed.eps_sample


@kernel(inline=True)
def counts_of(lane: Lane, packed: PackedOptions, node: int) -> int:
    """The node whose edges hold N: the spawned root for an OPPONENT node, unless P̂ is `mirror`."""
    return lane.spawned[node] if lane.kind[node] == OPPONENT and packed.estimate != MIRROR_ESTIMATE else node


@kernel(inline=True)
def write_values(lane: Lane, edge: int, k: int, term: int) -> None:
    """Write V*, Q and V_c of a term, from its edge."""
    child, vc = lane.child[edge], lane.vc[edge * lane.values + k]
    static, lo, hi = vc, vc, vc
    if known(lane, child):
        static, lo, hi = entry(lane.v, child)[k], entry(lane.lo, child)[k], entry(lane.hi, child)[k]
    scratch(lane, STATIC)[term] = static
    scratch(lane, LOW)[term] = lo
    scratch(lane, HIGH)[term] = hi
    scratch(lane, CHILD_VALUE)[term] = vc


@kernel(inline=True)
def write_distribution(lane: Lane, packed: PackedOptions, node: int, out: Reals) -> None:
    """Write D over the edges of a node."""
    if lane.kind[node] == OPPONENT:
        write_estimate(lane, packed, lane.spawned[node], out)
    else:
        for i in range(lane.degree[node]):
            out[i] = lane.prior[lane.first[node] + i]


@kernel(inline=True)
def write_terms(lane: Lane, packed: PackedOptions, node: int, k: int) -> int:
    """Write all rows for a node, component k; how many terms there are. An OPPONENT node must have a spawned root."""
    if packed.ball == ROUTE and lane.passing[node] == HEAD:
        return write_routes(lane, node, k, NONE)[0]
    first, degree = lane.first[node], lane.degree[node]
    times = scratch(lane, COUNT)
    write_distribution(lane, packed, node, scratch(lane, PROBABILITY))
    base = lane.first[counts_of(lane, packed, node)]
    for i in range(degree):
        write_values(lane, first + i, k, i)
        times[i] = lane.n[base + i]
    return degree


@kernel()
def write_routes(lane: Lane, head: int, k: int, last: int) -> tuple[int, int]:
    """Write the ends of all routes from the head of a chain, depth first; how many, and which one ends with `last`."""
    distribution, times = scratch(lane, PROBABILITY), scratch(lane, COUNT)
    trail, shares = lane.trail, lane.trail_reals
    depth, count, found = 0, 0, 0
    trail[0], trail[1], shares[0] = head, 0, 1.0
    while depth >= 0:
        node, i = trail[2 * depth], trail[2 * depth + 1]
        if i == lane.degree[node]:
            depth -= 1
            continue
        trail[2 * depth + 1] = i + 1
        edge = lane.first[node] + i
        p = shares[depth] * lane.prior[edge]
        child = lane.child[edge]
        if child != NONE and lane.kind[child] == SAMPLE and lane.evaluated[child] != 0:
            depth += 1
            trail[2 * depth], trail[2 * depth + 1], shares[depth] = child, 0, p
            continue
        if edge == last:
            found = count
        write_values(lane, edge, k, count)
        distribution[count] = p
        times[count] = lane.n[edge]
        count += 1
    return count, found

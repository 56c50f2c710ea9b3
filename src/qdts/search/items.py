"""What Q of a SAMPLE, OPPONENT or CHANCE node is made of: its edges, or the ends of the routes through a chain.

    row               of an item
    PROBABILITY       D: H, P̂ or the rules' distribution
    STATIC            V*: V of the child if it has been evaluated, else V_c (Luck Adjustments)
    LOW, HIGH         Q: the child's, or V* where it has none
    CHILD_VALUE       V_c
    COUNT             N

Each is a row of scratch. Rows 2 to 4 are free for what is computed from them.
"""

from __future__ import annotations

from qdts.kernels import Reals, kernel
from qdts.pointers import entry
from qdts.search.choices import MIRROR_ESTIMATE, ROUTE
from qdts.search.edges import known
from qdts.search.estimate import write_estimate
from qdts.search.evaluator import OPPONENT, SAMPLE
from qdts.search.forest import HEAD, NONE, Slot, scratch
from qdts.search.settings import Settings

PROBABILITY, STATIC, FREE = 0, 1, 2
LOW, HIGH, CHILD_VALUE, COUNT, DRAWN = range(5, 10)
"""Rows; DRAWN is the distribution that an ACT node's choice was drawn from."""


@kernel(inline=True)
def radius(slot: Slot, settings: Settings, node: int) -> float:
    """Eps of a node; a ball over whole routes is the head's alone."""
    kind = slot.kind[node]
    if kind == OPPONENT:
        return settings.eps_opponent
    if kind != SAMPLE or (settings.ball == ROUTE and slot.passing[node] != HEAD):
        return 0.0
    return settings.eps_sample


@kernel(inline=True)
def counts_of(slot: Slot, settings: Settings, node: int) -> int:
    """The node whose edges hold N: the spawned root for an OPPONENT node, unless P̂ is `mirror`."""
    return slot.spawned[node] if slot.kind[node] == OPPONENT and settings.estimate != MIRROR_ESTIMATE else node


@kernel(inline=True)
def write_values(slot: Slot, edge: int, k: int, item: int) -> None:
    """V*, Q and V_c of an item, from its edge."""
    child, vc = slot.child[edge], slot.vc[edge * slot.values + k]
    static, lo, hi = vc, vc, vc
    if known(slot, child):
        static, lo, hi = entry(slot.v, child)[k], entry(slot.lo, child)[k], entry(slot.hi, child)[k]
    scratch(slot, STATIC)[item] = static
    scratch(slot, LOW)[item] = lo
    scratch(slot, HIGH)[item] = hi
    scratch(slot, CHILD_VALUE)[item] = vc


@kernel(inline=True)
def write_distribution(slot: Slot, settings: Settings, node: int, out: Reals) -> None:
    """D over the edges of a node."""
    if slot.kind[node] == OPPONENT:
        write_estimate(slot, settings, slot.spawned[node], out)
    else:
        for i in range(slot.degree[node]):
            out[i] = slot.prior[slot.first[node] + i]


@kernel(inline=True)
def write_items(slot: Slot, settings: Settings, node: int, k: int) -> int:
    """Write all rows for a node, component k; how many items there are. An OPPONENT node must have a spawned root."""
    if settings.ball == ROUTE and slot.passing[node] == HEAD:
        return write_routes(slot, node, k, NONE)[0]
    first, degree = slot.first[node], slot.degree[node]
    times = scratch(slot, COUNT)
    write_distribution(slot, settings, node, scratch(slot, PROBABILITY))
    base = slot.first[counts_of(slot, settings, node)]
    for i in range(degree):
        write_values(slot, first + i, k, i)
        times[i] = slot.n[base + i]
    return degree


@kernel()
def write_routes(slot: Slot, head: int, k: int, last: int) -> tuple[int, int]:
    """Write the ends of all routes from the head of a chain, depth first; how many, and which one ends with `last`."""
    distribution, times = scratch(slot, PROBABILITY), scratch(slot, COUNT)
    trail, shares = slot.trail, slot.trail_reals
    depth, count, found = 0, 0, 0
    trail[0], trail[1], shares[0] = head, 0, 1.0
    while depth >= 0:
        node, i = trail[2 * depth], trail[2 * depth + 1]
        if i == slot.degree[node]:
            depth -= 1
            continue
        trail[2 * depth + 1] = i + 1
        edge = slot.first[node] + i
        p = shares[depth] * slot.prior[edge]
        child = slot.child[edge]
        if child != NONE and slot.kind[child] == SAMPLE and slot.evaluated[child] != 0:
            depth += 1
            trail[2 * depth], trail[2 * depth + 1], shares[depth] = child, 0, p
            continue
        if edge == last:
            found = count
        write_values(slot, edge, k, count)
        distribution[count] = p
        times[count] = slot.n[edge]
        count += 1
    return count, found

"""The ACT nodes of a lane by view: a hash table of its own in each lane."""

from __future__ import annotations

from qdts.hashing import hash_vector
from qdts.kernels import Ints, kernel
from qdts.search.evaluation.evaluator import ACT
from qdts.search.forest.lanes.lane import NONE, Lane, vector_of


def table_size(nodes: int) -> int:
    """A power of two, at least four times the number of nodes: a node may stand in the table twice."""
    return 1 << max(4, (4 * nodes - 1).bit_length())


@kernel()
def empty_table(lane: Lane) -> None:
    """Forget every node's view."""
    for i in range(lane.places):
        lane.table[i] = 0


@kernel()
def place_of(lane: Lane, view: Ints, tree: int) -> int:
    """Where an ACT node of a tree stands in the hash table, or the free place where it belongs.

    A tree is named by its root's number; −1 − j stands for the roots of player j, whatever their tree.
    """
    place = hash_vector(view, lane.size, tree + 65) & (lane.places - 1)
    while lane.table[place] != 0:
        node = lane.table[place] - 1
        fits = lane.tree[node] == tree if tree >= 0 else (lane.tree[node] == node and lane.owner[node] == -1 - tree)
        if fits:
            known = vector_of(lane, node)
            for i in range(lane.size):
                fits &= known[i] == view[i]
        if fits:
            break
        place = (place + 1) & (lane.places - 1)
    return place


@kernel()
def find_act(lane: Lane, view: Ints, tree: int) -> int:
    """The ACT node with a view in a tree, named as in `place_of`, or NONE."""
    return lane.table[place_of(lane, view, tree)] - 1


@kernel()
def enter_table(lane: Lane, node: int) -> None:
    """Enter a node by its view, if it is an ACT node of a tree with an owner; a root also as a root."""
    if lane.kind[node] != ACT or lane.owner[node] == NONE:
        return
    lane.table[place_of(lane, vector_of(lane, node), lane.tree[node])] = node + 1
    if lane.tree[node] == node:
        lane.table[place_of(lane, vector_of(lane, node), -1 - lane.owner[node])] = node + 1

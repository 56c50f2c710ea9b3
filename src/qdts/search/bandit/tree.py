"""The trees of the bandit machine: nodes keyed by what is seen, and edges with counts.

    axis  counts
    N     places for nodes; the first stays empty, and the root is the second
    E     edges there is room for; those of one node are neighbours, by ascending action
    W     components of a world
    T     places of the hash table, a power of two

A node gets its edges when it is first passed. In the tree of one observer another player's actions may depend on what
is hidden; a block of edges that grows out of its room moves to the end, and its old place stays unused.

In the observer's tree a node hangs at an edge and is keyed by that edge, their view and the mover. Those of many trees
are keyed by the mover and the mover's own view, wherever a path comes from: they hang at NO_NODE.

Kernels get the arrays as raw pointers (`pointers_to`): counting references to arrays took most of a simulation's time.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from qdts.fields import empty_arrays, tuple_type
from qdts.games.game import Game
from qdts.hashing import hash_vector
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element, pointers_to

Bytes = NDArray[np.int8]
Ints32 = NDArray[np.int32]

NO_NODE, ROOT = 0, 1
"""No child yet, a free place of the table, or what the root hangs at; and the root."""

NODES, EDGES, HEIGHT, CAPPED, NODE_ROOM, EDGE_ROOM, MASK, SIZE, ACTIONS, PLAYERS = range(10)
"""Registers: places of nodes and edges in use, the longest path so far, whether a node was not made for want of room;
and N, E, the length of the table less one, W, the numbers of a game's actions and of its players."""


class Tree(NamedTuple):
    """One tree; in kernels pointers to the arrays."""

    views: Annotated[Ints, "N W"]  # what the observer sees, or the mover; where nothing is hidden, the position
    mover: Annotated[Bytes, "N"]  # the player to move
    parent: Annotated[Ints32, "N"]  # the node and the action that it hangs at
    action: Annotated[Ints32, "N"]
    sure: Annotated[Bytes, "N"]  # 1 if that edge always leads here: nothing is hidden, and chance doesn't move between
    passes: Annotated[Ints32, "N"]  # how many simulations have come here
    first: Annotated[Ints32, "N"]  # its edges are E[first : first + width]
    width: Annotated[Ints32, "N"]
    room: Annotated[Ints32, "N"]  # how many fit there
    edge_action: Annotated[Ints32, "E"]
    missed: Annotated[Ints32, "E"]  # in how many passes the action was not legal: passes - N_avail
    visits: Annotated[Ints32, "E"]  # N
    total: Annotated[Reals, "E"]  # W
    mean: Annotated[Reals, "E"]  # W / N, once it was visited
    child: Annotated[Ints32, "E"]  # the child that was met last, or NO_NODE
    table: Annotated[Ints32, "T"]  # hash table of the nodes that are not sure
    registers: Annotated[Ints, "10"]


TreeType = tuple_type(Tree)


def make_tree(game: Game, nodes: int, edges: int) -> Tree:
    """Room for a tree with so many places for nodes, at least two."""
    places = 1 << (2 * nodes).bit_length()
    registers = [0, 0, 0, 0, nodes, edges, places - 1, game.world_size, game.num_actions, game.players]
    return empty_arrays(
        Tree,
        {"N": nodes, "E": edges, "W": game.world_size},
        table=np.zeros(places, np.int32),
        registers=np.array(registers, np.int64),
    )


def enlarged(game: Game, tree: Tree, nodes: int, edges: int) -> Tree:
    """The same tree with more room."""
    larger = make_tree(game, nodes, edges)
    for name in set(Tree._fields) - {"table", "registers"}:
        old = getattr(tree, name)
        getattr(larger, name)[: len(old)] = old
    larger.registers[:NODE_ROOM] = tree.registers[:NODE_ROOM]
    _index(larger)
    return larger


@kernel()
def plant(tree: Tree, view: Ints, mover: int) -> None:
    """Begin a new tree with a root."""
    if tree.registers[NODES] > 1:
        for place in range(tree.registers[MASK] + 1):
            tree.table[place] = NO_NODE
    for k in range(NODE_ROOM):
        tree.registers[k] = 0
    tree.sure[NO_NODE] = 0
    tree.registers[NODES] = ROOT
    tree.table[place_of(tree, NO_NODE, 0, mover, view)] = add_node(tree, NO_NODE, 0, False, mover, view)


@kernel()
def add_node(tree: Tree, parent: int, action: int, sure: bool, mover: int, view: Ints) -> int:
    """Make a node without edges; its number."""
    node, size = tree.registers[NODES], tree.registers[SIZE]
    tree.registers[NODES] += 1
    for i in range(size):
        tree.views[node * size + i] = view[i]
    tree.mover[node] = mover
    tree.parent[node] = parent
    tree.action[node] = action
    tree.sure[node] = sure
    tree.passes[node] = 0
    tree.first[node] = 0
    tree.width[node] = 0
    tree.room[node] = 0
    return node


@kernel(inline=True)
def is_node(tree: Tree, node: int, mover: int, view: Ints) -> bool:
    """Whether a node has this key, given that it hangs at the right edge.

    Compared one component at a time: the processor has to wait where it reads several at once that were written singly.
    """
    size = tree.registers[SIZE]
    i = 0
    while i < size and tree.views[node * size + i] == view[i]:
        i += 1
    return bool(i == size and tree.mover[node] == mover)


@kernel()
def place_of(tree: Tree, parent: int, action: int, mover: int, view: Ints) -> int:
    """The place of a key in the table: where its node stands, or the free place where it belongs."""
    mask = tree.registers[MASK]
    place = hash_vector(view, tree.registers[SIZE], parent * tree.registers[ACTIONS] + action) & mask
    while tree.table[place] != NO_NODE:
        node = tree.table[place]
        if tree.parent[node] == parent and tree.action[node] == action and is_node(tree, node, mover, view):
            break
        place = (place + 1) & mask
    return place


@kernel(types.void(TreeType))
def _index(arrays: Tree) -> None:
    """Put every node that is not sure into the table."""
    tree = pointers_to(arrays)
    for node in range(ROOT, tree.registers[NODES]):
        if not tree.sure[node]:
            view = element(arrays.views, node * arrays.views.shape[1])
            tree.table[place_of(tree, tree.parent[node], tree.action[node], tree.mover[node], view)] = node


@kernel()
def _make_edge(tree: Tree, edge: int, action: int, passes: int) -> None:
    tree.edge_action[edge] = action
    tree.missed[edge] = passes
    tree.visits[edge] = 0
    tree.total[edge] = 0.0
    tree.mean[edge] = 0.0
    tree.child[edge] = NO_NODE


@kernel()
def _move_edge(tree: Tree, edge: int, to: int) -> None:
    tree.edge_action[to] = tree.edge_action[edge]
    tree.missed[to] = tree.missed[edge]
    tree.visits[to] = tree.visits[edge]
    tree.total[to] = tree.total[edge]
    tree.mean[to] = tree.mean[edge]
    tree.child[to] = tree.child[edge]


@kernel()
def meet_actions(tree: Tree, node: int, legal: Ints, m: int) -> None:
    """Make edges for those of m actions, ascending, that a node does not have yet."""
    first, width = int(tree.first[node]), int(tree.width[node])
    known, k = 0, 0
    for j in range(m):
        while k < width and tree.edge_action[first + k] < legal[j]:
            k += 1
        known += k < width and tree.edge_action[first + k] == legal[j]
    if known == m:
        return
    total, to = width + m - known, first
    if total > tree.room[node]:
        tree.room[node] = max(total, min(2 * tree.room[node], tree.registers[ACTIONS]))
        to = tree.registers[EDGES]
        tree.registers[EDGES] += tree.room[node]
    tree.first[node] = to
    tree.width[node] = total
    i, j = width - 1, m - 1
    for e in range(to + total - 1, to - 1, -1):  # from the last one down, so that `to` may be `first`
        if i >= 0 and (j < 0 or tree.edge_action[first + i] >= legal[j]):
            if j >= 0 and tree.edge_action[first + i] == legal[j]:
                j -= 1
            _move_edge(tree, first + i, e)
            i -= 1
        else:
            _make_edge(tree, e, legal[j], tree.passes[node])
            j -= 1

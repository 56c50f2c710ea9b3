"""The trees of many searches as arrays: one row (slot) a search, nothing shared between rows.

    axis  counts
    S     slots: searches that advance side by side
    C     nodes that a slot has room for; a node is its number there, the root of the search is 0
    E     edges that a slot has room for; the edges of a node are neighbours
    W     slots of a world
    K     values of a node: one for each player in an open game, else one, the owner's
    B     the most choices that a node can have
    D     entries that a slot's stack has room for
    T     places of a slot's hash table, a power of two
    R     items that Q of a node can be made of: B, or E where balls are over whole routes

A node takes 8 W + 24 K + 42 bytes, an edge 8 K + 28, and each node has 4 places of 4 bytes in the hash table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int8, int32, int64, types, uint64
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints, Reals, declare, kernel
from qdts.pointers import element, moved
from qdts.search.index import hashed

Bytes = NDArray[np.int8]
Ints32 = NDArray[np.int32]

ROOT = 0
"""The root of the search."""
NONE = -1
"""No node, no hole, no action."""
WAITING = -2
"""The edge on the stack of an OPPONENT node whose spawned tree is being visited."""
STOPS, GOES_ON, HEAD = range(3)
"""What a visit does at a new node that is no root; HEAD: it goes on, at the first SAMPLE node of a chain."""

(
    PHASE,
    STATUS,
    CURRENT,
    DEPTH,
    NODES,
    EDGES,
    VISITS,
    TARGET,
    WIDE_NODE,
    WIDE_EDGE,
    EVALUATIONS,
    TOUCHED,
    FULL,
    DEEPEST,
) = range(14)
"""Registers of a slot: where its machine is and what it last said; the node at hand; the height of the stack; nodes and
edges in use; visits made and wanted; the ACT node that is being widened and its next edge; nodes evaluated and nodes
arrived at since the search began; whether `max_nodes` was met; how many spawned trees were inside each other."""
REGISTERS = 14


class Forest(NamedTuple):
    """All slots."""

    vector: Ints  # [S, C, W] the view or world of a node
    kind: Bytes  # [S, C] ACT, SAMPLE, OPPONENT, CHANCE or TERMINAL
    owner: Bytes  # [S, C] the owner of its tree; in an open game NONE
    actor: Bytes  # [S, C] the player who moves there, NONE where nobody does
    passing: Bytes  # [S, C] STOPS, GOES_ON or HEAD
    evaluated: Bytes  # [S, C] 1 once it has choices and values
    stopped: Bytes  # [S, C] s: 1 if a visit stopped there because it was new
    tree: Ints32  # [S, C] the root of its tree
    level: Ints32  # [S, C] how many spawned trees its tree is inside of
    pending: Ints32  # [S, C] SAMPLE: the action decided on
    hole: Ints32  # [S, C] SAMPLE: the hole that its choices fill
    first: Ints32  # [S, C] its first edge
    degree: Ints32  # [S, C] how many edges it has
    total: Ints32  # [S, C] ΣN over its edges
    mixed: Ints32  # [S, C] n_mixed
    spawned: Ints32  # [S, C] OPPONENT: the root of its spawned tree
    v: Reals  # [S, C, K] V
    lo: Reals  # [S, C, K]
    hi: Reals  # [S, C, K] Q
    choice: Ints32  # [S, E] an action, a value of a hole, or an outcome
    child: Ints32  # [S, E]
    n: Ints32  # [S, E] N
    prior: Reals  # [S, E] P, H or the rules' probability
    w: Reals  # [S, E] W: how often it was chosen, mixed choices counting by their probability
    vc: Reals  # [S, E, K] V_c
    table: Ints32  # [S, T] ACT nodes by view
    stack: Ints32  # [S, D, 2] node and edge
    luck: Reals  # [S, D, 2, K] Φ of the choices on the stack, its two ends
    carried: Reals  # [S, 2, K] x: the value that a visit carries back, its two ends
    registers: Ints  # [S, REGISTERS]
    state: NDArray[np.uint64]  # [S, 1] of the random stream
    guide: Reals  # [S, B] P' of the root, negative where it is P
    answer_value: Reals  # [S, K] what the evaluator said
    answer_children: Reals  # [S, B, K]
    answer_prior: Reals  # [S, B] and, before it is asked, what the rules say
    vector_a: Ints  # [S, W] scratch
    choices: Ints  # [S, B] scratch
    moves: Ints  # [S, B] scratch
    reals: Reals  # [S, ROWS, R] scratch
    trail: Ints  # [S, 2 W] scratch: the way into a chain
    trail_reals: Reals  # [S, W] scratch: its probability


class Slot(NamedTuple):
    """One slot: pointers to its part of each array of `Forest`, the last axis running fastest, and all lengths."""

    vector: Ints
    kind: Bytes
    owner: Bytes
    actor: Bytes
    passing: Bytes
    evaluated: Bytes
    stopped: Bytes
    tree: Ints32
    level: Ints32
    pending: Ints32
    hole: Ints32
    first: Ints32
    degree: Ints32
    total: Ints32
    mixed: Ints32
    spawned: Ints32
    v: Reals
    lo: Reals
    hi: Reals
    choice: Ints32
    child: Ints32
    n: Ints32
    prior: Reals
    w: Reals
    vc: Reals
    table: Ints32
    stack: Ints32
    luck: Reals
    carried: Reals
    registers: Ints
    state: NDArray[np.uint64]
    guide: Reals
    answer_value: Reals
    answer_children: Reals
    answer_prior: Reals
    vector_a: Ints
    choices: Ints
    moves: Ints
    reals: Reals
    trail: Ints
    trail_reals: Reals
    room: int  # C
    edge_room: int  # E
    size: int  # W
    values: int  # K
    width: int  # B
    row: int  # R
    depth_room: int  # D
    mask: int  # T - 1


_FIELDS = (
    [(int64, 3)] + [(int8, 2)] * 6 + [(int32, 2)] * 9 + [(float64, 3)] * 3
    + [(int32, 2)] * 3 + [(float64, 2)] * 2 + [(float64, 3)]
    + [(int32, 2), (int32, 3), (float64, 4), (float64, 3), (int64, 2), (uint64, 2), (float64, 2), (float64, 2)]
    + [(float64, 3), (float64, 2)] + [(int64, 2)] * 3 + [(float64, 3), (int64, 2), (float64, 2)]
)  # fmt: skip
ForestType = types.NamedTuple([types.Array(t, d, "C") for t, d in _FIELDS], Forest)
declare(Forest, ForestType)

PER_NODE = (
    "vector", "kind", "owner", "actor", "passing", "evaluated", "stopped", "tree", "level", "pending", "hole", "first",
    "degree", "total", "mixed", "spawned", "v", "lo", "hi",
)  # fmt: skip
PER_EDGE = ("choice", "child", "n", "prior", "w", "vc")
ROWS = 10
"""Rows of scratch."""


def width(game: Game) -> int:
    """B: the most choices that a node of a game can have, and no less than its players."""
    return max(game.max_branching, game.num_values, game.players)


def allocate(game: Game, slots: int, nodes: int, edges: int, depth: int = 64, *, routes: bool = False) -> Forest:
    """Empty trees, with room for so many nodes, edges and stack entries in each slot, and for whole routes as items."""
    kinds: dict[str, type] = {
        "vector": np.int64,
        "registers": np.int64,
        "state": np.uint64,
        "choices": np.int64,
        "moves": np.int64,
    }
    kinds |= dict.fromkeys(("vector_a", "trail"), np.int64)
    kinds |= dict.fromkeys(PER_NODE[1:7], np.int8)
    kinds |= dict.fromkeys((*PER_NODE[7:16], *PER_EDGE[:3], "table", "stack"), np.int32)
    k, b = (1 if game.hidden else game.players), width(game)
    tails: dict[str, tuple[int, ...]] = {
        "table": (table_size(nodes),),
        "stack": (depth, 2),
        "luck": (depth, 2, k),
        "carried": (2, k),
        "registers": (REGISTERS,),
        "state": (1,),
        "guide": (b,),
        "answer_value": (k,),
        "answer_children": (b, k),
        "answer_prior": (b,),
        "vector_a": (game.world_size,),
        "choices": (b,),
        "moves": (b,),
        "reals": (ROWS, edges if routes else b),
        "trail": (2 * game.world_size,),
        "trail_reals": (game.world_size,),
    }
    tails |= dict.fromkeys(PER_NODE, (nodes,)) | dict.fromkeys(PER_EDGE, (edges,))
    tails |= {"vector": (nodes, game.world_size), "v": (nodes, k), "lo": (nodes, k), "hi": (nodes, k), "vc": (edges, k)}
    return Forest(*(np.zeros((slots, *tails[f]), kinds.get(f, np.float64)) for f in Forest._fields))


def carry_over(forest: Forest, into: Forest, first: int, last: int) -> None:
    """Copy the trees of some slots to where there is more room."""
    for name in Forest._fields:
        old, new = getattr(forest, name)[first:last], getattr(into, name)[first:last]
        if name != "table":
            new[tuple(slice(n) for n in old.shape)] = old
    rehash(into, first, last)


def table_size(nodes: int) -> int:
    """A power of two, at least four times the number of nodes: a node may stand in the table twice."""
    return 1 << max(4, (4 * nodes - 1).bit_length())


@kernel(inline=True)
def slot_of(f: Forest, s: int, t: int) -> Slot:
    """The part of slot s, with the scratch of slot t: what is only used between two stops may be shared."""
    c, size, k = f.vector.shape[1], f.vector.shape[2], f.v.shape[2]
    e, b, d, row = f.choice.shape[1], f.guide.shape[1], f.stack.shape[1], f.reals.shape[2]
    places = f.table.shape[1]
    return Slot(
        element(f.vector, s * c * size), element(f.kind, s * c), element(f.owner, s * c), element(f.actor, s * c),
        element(f.passing, s * c), element(f.evaluated, s * c), element(f.stopped, s * c),
        element(f.tree, s * c), element(f.level, s * c),
        element(f.pending, s * c), element(f.hole, s * c), element(f.first, s * c), element(f.degree, s * c),
        element(f.total, s * c), element(f.mixed, s * c), element(f.spawned, s * c), element(f.v, s * c * k),
        element(f.lo, s * c * k), element(f.hi, s * c * k), element(f.choice, s * e), element(f.child, s * e),
        element(f.n, s * e), element(f.prior, s * e), element(f.w, s * e), element(f.vc, s * e * k),
        element(f.table, s * places), element(f.stack, s * d * 2), element(f.luck, s * d * 2 * k),
        element(f.carried, s * 2 * k), element(f.registers, s * REGISTERS), element(f.state, s),
        element(f.guide, s * b), element(f.answer_value, s * k), element(f.answer_children, s * b * k),
        element(f.answer_prior, s * b), element(f.vector_a, t * size),
        element(f.choices, t * b), element(f.moves, t * b), element(f.reals, t * ROWS * row),
        element(f.trail, t * 2 * size), element(f.trail_reals, t * size), c, e, size, k, b, row, d, places - 1,
    )  # fmt: skip


@kernel()
def vector_of(slot: Slot, node: int) -> Ints:
    """The vector of a node."""
    return moved(slot.vector, node * slot.size)


@kernel()
def scratch(slot: Slot, row: int) -> Reals:
    """One of the rows of R numbers."""
    return moved(slot.reals, row * slot.row)


@kernel()
def place_of(slot: Slot, view: Ints, tree: int) -> int:
    """Where an ACT node of a tree stands in the hash table, or the free place where it belongs.

    A tree is named by its root's number; −1 − j stands for the roots of player j, whatever their tree.
    """
    place = hashed(view, slot.size, tree + 65) & slot.mask
    while slot.table[place] != 0:
        node = slot.table[place] - 1
        fits = slot.tree[node] == tree if tree >= 0 else (slot.tree[node] == node and slot.owner[node] == -1 - tree)
        if fits:
            known = vector_of(slot, node)
            for i in range(slot.size):
                fits &= known[i] == view[i]
        if fits:
            break
        place = (place + 1) & slot.mask
    return place


@kernel()
def enter_table(slot: Slot, node: int) -> None:
    """Make a node known by its view, if it is an ACT node of a tree with an owner; a root also as a root."""
    if slot.kind[node] != 0 or slot.owner[node] == NONE:
        return
    slot.table[place_of(slot, vector_of(slot, node), slot.tree[node])] = node + 1
    if slot.tree[node] == node:
        slot.table[place_of(slot, vector_of(slot, node), -1 - slot.owner[node])] = node + 1


@kernel(types.void(ForestType, int64, int64))
def rehash(forest: Forest, first: int, last: int) -> None:
    """Fill the empty hash tables of some slots with the nodes that there are."""
    for s in range(first, last):
        slot = slot_of(forest, s, s)
        for node in range(slot.registers[NODES]):
            enter_table(slot, node)


def bytes_a_node(forest: Forest) -> int:
    """Memory of a node, with its places in the hash table."""
    return 8 * forest.vector.shape[2] + 24 * forest.v.shape[2] + 42 + 16


def bytes_an_edge(forest: Forest) -> int:
    """Memory of an edge."""
    return 8 * forest.v.shape[2] + 28


def bytes_used(forest: Forest) -> int:
    """Memory of all nodes and edges that there are."""
    nodes, edges = int(forest.registers[:, NODES].sum()), int(forest.registers[:, EDGES].sum())
    return nodes * bytes_a_node(forest) + edges * bytes_an_edge(forest)

"""The trees of many searches as arrays: one row (lane) a search, nothing shared between rows.

    axis  counts
    S     lanes: searches that advance side by side
    C     nodes that a lane has room for; a node is its number there, the root of the search is 0
    E     edges that a lane has room for; the edges of a node are neighbours
    W     components of a world
    K     values of a node: one for each player in an open game, else one, the owner's
    B     the most choices that a node can have
    D     entries that a lane's stack has room for
    T     places of a lane's hash table, a power of two
    R     items that Q of a node can be made of: B, or E where balls are over whole routes

What is known of a node lies together, as a record of 8 W + 24 K + 48 bytes rounded up to whole lines of the processor's
cache, and so does what is known of an edge, in 32 bytes, but for V_c: trees are read here and there, much of each place
at a time. An edge takes 8 K bytes more, and each node has 4 places of 4 bytes in the hash table.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import float64, int8, int32, int64, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.hashing import hash_vector
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import Column, entry, moved
from qdts.search.forest.memory import LINE, Bytes, pool

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
    ROW,
) = range(15)
"""Registers of a lane: where its machine is and what it last said; the node at hand; the height of the stack; nodes and
edges in use; visits made and wanted; the ACT node that is being widened and its next edge; nodes evaluated and nodes
arrived at since the search began; whether `max_nodes` was met; how many spawned trees were inside each other; where its
query is."""
REGISTERS = 15
ROWS = 10
"""Rows of scratch."""


class Forest(NamedTuple):
    """All lanes."""

    kind: Bytes  # [S, C] ACT, SAMPLE, OPPONENT, CHANCE or TERMINAL
    owner: Bytes  # [S, C] the owner of its tree; in an open game NONE
    actor: Bytes  # [S, C] the player who moves there, NONE where nobody does
    passing: Bytes  # [S, C] STOPS, GOES_ON or HEAD
    evaluated: Bytes  # [S, C] 1 once it has choices and values
    stopped: Bytes  # [S, C] s: 1 if a visit stopped there because it was new
    tree: Ints32  # [S, C] the root of its tree
    first: Ints32  # [S, C] its first edge
    degree: Ints32  # [S, C] how many edges it has
    total: Ints32  # [S, C] ΣN over its edges
    mixed: Ints32  # [S, C] n_mixed
    spawned: Ints32  # [S, C] OPPONENT: the root of its spawned tree
    lo: Reals  # [S, C, K]
    hi: Reals  # [S, C, K] Q
    v: Reals  # [S, C, K] V
    level: Ints32  # [S, C] how many spawned trees its tree is inside of
    pending: Ints32  # [S, C] SAMPLE: the action decided on
    hole: Ints32  # [S, C] SAMPLE: the hole that its choices fill
    vector: Ints  # [S, C, W] the view or world of a node
    choice: Ints32  # [S, E] an action, a value of a hole, or an outcome
    child: Ints32  # [S, E]
    n: Ints32  # [S, E] N
    prior: Reals  # [S, E] P, H or the rules' probability
    w: Reals  # [S, E] W: how often it was chosen, mixed choices counting by their probability
    vc: Reals  # [S, E, K] V_c; of ACT nodes unless `unvisited` is `fpu`
    table: Ints32  # [S, T] ACT nodes by view
    stack: Ints32  # [S, D, 2] node and edge
    luck: Reals  # [S, D, 2, K] Φ of the choices on the stack, its two ends
    registers: Ints  # [S, REGISTERS]
    state: NDArray[np.uint64]  # [S, 1] of the random stream
    guide: Reals  # [S, B] P' of the root, negative where it is P
    carried: Reals  # [S, 2, K] scratch: x, the value that a visit carries back, its two ends
    evaluation_value: Reals  # [S, K] scratch: what the evaluator said
    evaluation_children: Reals  # [S, B, K] scratch
    evaluation_prior: Reals  # [S, B] scratch: and, before it is asked, what the rules say
    vector_a: Ints  # [S, W] scratch
    choices: Ints  # [S, B] scratch
    moves: Ints  # [S, B] scratch
    reals: Reals  # [S, ROWS, R] scratch
    trail: Ints  # [S, 2, W] scratch: the way into a chain
    trail_reals: Reals  # [S, W] scratch: its probability
    node: NDArray[Any]  # [S, C] the records of nodes
    edge: NDArray[Any]  # [S, E] the records of edges
    where: Ints  # all that kernels are given: the addresses of lane 0 and the lengths, as in `Lane`


class Lane(NamedTuple):
    """One lane: pointers to its part of each array of `Forest`, the last axis running fastest, and all lengths."""

    kind: Bytes
    owner: Bytes
    actor: Bytes
    passing: Bytes
    evaluated: Bytes
    stopped: Bytes
    tree: Ints32
    first: Ints32
    degree: Ints32
    total: Ints32
    mixed: Ints32
    spawned: Ints32
    lo: Reals
    hi: Reals
    v: Reals
    level: Ints32
    pending: Ints32
    hole: Ints32
    vector: Ints
    choice: Ints32
    child: Ints32
    n: Ints32
    prior: Reals
    w: Reals
    vc: Reals
    table: Ints32
    stack: Ints32
    luck: Reals
    registers: Ints
    state: NDArray[np.uint64]
    guide: Reals
    carried: Reals
    evaluation_value: Reals
    evaluation_children: Reals
    evaluation_prior: Reals
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
    places: int  # T
    block: int  # bytes from one lane to the next


FIELDS = {
    **dict.fromkeys(("kind", "owner", "actor", "passing", "evaluated", "stopped"), (int8, "C")),
    **dict.fromkeys(("tree", "first", "degree", "total", "mixed", "spawned"), (int32, "C")),
    **dict.fromkeys(("lo", "hi", "v"), (float64, "C K")),
    **dict.fromkeys(("level", "pending", "hole"), (int32, "C")),
    "vector": (int64, "C W"),
    **dict.fromkeys(("choice", "child", "n"), (int32, "E")),
    **dict.fromkeys(("prior", "w"), (float64, "E")),
    "vc": (float64, "E K"),
    "table": (int32, "T"),
    "stack": (int32, "D 2"),
    "luck": (float64, "D 2 K"),
    "registers": (int64, str(REGISTERS)),
    "state": (uint64, "1"),
    "guide": (float64, "B"),
    "carried": (float64, "2 K"),
    "evaluation_value": (float64, "K"),
    "evaluation_children": (float64, "B K"),
    "evaluation_prior": (float64, "B"),
    "vector_a": (int64, "W"),
    "choices": (int64, "B"),
    "moves": (int64, "B"),
    "reals": (float64, f"{ROWS} R"),
    "trail": (int64, "2 W"),
    "trail_reals": (float64, "W"),
}
"""The type and the axes of each array of a lane, in the order of `Forest` and `Lane`."""
NODE = tuple(f for f, (_, axes) in FIELDS.items() if axes[0] == "C")
"""The fields of a node's record, in their order: what is read of a child comes first, to be in one line."""
EDGE = tuple(f for f, (_, axes) in FIELDS.items() if axes == "E")
"""Those of an edge's record; V_c, which many searches never read, lies elsewhere."""
SCRATCH = tuple(FIELDS)[tuple(FIELDS).index("carried") :]
"""What is only used between two stops."""
APART = ("registers", "state", "guide")
"""What lies outside of a lane's block."""
TOGETHER = REGISTERS + 1
"""Numbers of a lane's registers with the state of its random stream behind them: two whole lines, so that threads that
run neighbouring lanes never write to the same one."""
LENGTHS = "CEWKBRDT"
"""The axes whose lengths kernels get to know, in the order of `Lane`."""


def node_type(size: int, values: int) -> np.dtype[Any]:
    """The record of a node, W and K given."""
    rows = {"C": (), "C K": (values,), "C W": (size,)}
    fields = [(f, as_dtype(FIELDS[f][0]), rows[FIELDS[f][1]]) for f in NODE]
    rest = -np.dtype(fields, align=True).itemsize % LINE
    return np.dtype([*fields, ("rest", np.int8, (rest,))], align=True)


def starts(record: np.dtype[Any]) -> dict[str, int]:
    """Where each field of a record begins."""
    assert record.fields is not None
    return {f: field[1] for f, field in record.fields.items()}


EDGE_TYPE = np.dtype([(f, as_dtype(FIELDS[f][0])) for f in EDGE], align=True)
_NONE, _ONE = starts(node_type(1, 0)), starts(node_type(1, 1))
OFFSETS = {f: (_NONE[f], _ONE[f] - _NONE[f]) for f in NODE} | {f: (at, 0) for f, at in starts(EDGE_TYPE).items()}
"""Where a field lies in its record: (a, b) stands for a + b K bytes."""
AREAS = ("node", "edge", *(f for f in FIELDS if f not in OFFSETS))
"""What has an address of its own: both kinds of records, and all other arrays."""
NUMBERS = (*AREAS, *LENGTHS, "block", "node bytes")
"""What `Forest.where` holds."""
LaneType = types.NamedTuple(
    [
        *(Column(t, OFFSETS[f][0]) if f in OFFSETS else types.CPointer(t) for f, (t, _) in FIELDS.items()),
        *[int64] * (len(LENGTHS) + 1),
    ],
    Lane,
)
WhereType = int64[::1]
"""The numba type of `Forest.where`."""


def allocate(game: Game, lanes: int, nodes: int, edges: int, depth: int = 64, *, routes: bool = False) -> Forest:
    """Room for trees, so many nodes, edges and stack entries in each lane, and whole routes as items.

    Nothing is planted there yet, and there is anything in it: memory may be that of a forest that is gone.

    A lane is one block of memory, so that what a visit reads lies close together; only what every turn reads of every
    lane, its registers, the state of its random stream and P' of its root, lies beside that of the other lanes.
    """
    k, b = (1 if game.hidden else game.players), game.max_choices
    sizes = nodes, edges, game.world_size, k, b, edges if routes else b, depth, table_size(nodes if game.hidden else 0)
    lengths = dict(zip(LENGTHS, sizes, strict=True))
    areas = {"node": (node_type(game.world_size, k), [nodes]), "edge": (EDGE_TYPE, [edges])}
    for f in AREAS[2:]:
        its_type, axes = FIELDS[f]
        areas[f] = as_dtype(its_type), [lengths.get(a) or int(a) for a in axes.split()]
    places, block = {}, 0
    for area, (kind, shape) in areas.items():
        if area not in APART:
            places[area] = slice(block, block + math.prod(shape) * kind.itemsize)
            block = -(-places[area].stop // LINE) * LINE
    block |= LINE  # an odd number of lines: the same place in two lanes is not the same in the cache
    blocks = pool.take(lanes * block).reshape(lanes, block)
    arrays: dict[str, NDArray[Any]] = {"guide": np.empty((lanes, b))}
    for area, place in places.items():
        kind, shape = areas[area]
        arrays[area] = blocks[:, place].view(kind).reshape(lanes, *shape)
    together = pool.take(lanes * TOGETHER * 8).view(np.int64).reshape(lanes, TOGETHER)
    arrays["registers"], arrays["state"] = together[:, :REGISTERS], together[:, REGISTERS:].view(np.uint64)
    addresses = [arrays[area].ctypes.data for area in AREAS]
    where = np.array([*addresses, *sizes, block, arrays["node"].itemsize], np.int64)
    fields = {f: arrays["node"][f] for f in NODE} | {f: arrays["edge"][f] for f in EDGE}
    return Forest(**arrays, **fields, where=where)


def table_size(nodes: int) -> int:
    """A power of two, at least four times the number of nodes: a node may stand in the table twice."""
    return 1 << max(4, (4 * nodes - 1).bit_length())


@intrinsic  # type: ignore[untyped-decorator]
def lane_of(typing: Any, where: Any, s: Any, t: Any) -> Any:
    """The part of lane s, with the scratch of lane t: what is only used between two stops may be shared."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        told = {x: builder.load(cgutils.gep_inbounds(builder, start, i)) for i, x in enumerate(NUMBERS)}
        by_slot = {i: builder.mul(arguments[i], told["block"]) for i in (1, 2)}
        address = context.get_value_type(types.CPointer(int8))

        def number(n: int) -> Any:
            return ir.Constant(ir.IntType(64), n)

        def part(area: str) -> Any:
            distance = by_slot[2 if area in SCRATCH else 1]
            if area in APART:
                length = told["B"] if area == "guide" else number(TOGETHER)
                distance = builder.mul(builder.mul(arguments[1], length), number(8))
            return builder.gep(builder.inttoptr(told[area], address), [distance])

        strides = {"node": told["node bytes"], "edge": number(EDGE_TYPE.itemsize)}
        records = {area: part(area) for area in strides}
        members = []
        for f, its_type in zip(FIELDS, LaneType, strict=False):
            if f in OFFSETS:
                area = "node" if f in NODE else "edge"
                column = cgutils.create_struct_proxy(its_type)(context, builder)
                rows = builder.mul(told["K"], number(OFFSETS[f][1]))
                column.start = builder.gep(records[area], [rows])
                column.stride = strides[area]
                members.append(column._getvalue())
            else:
                members.append(builder.bitcast(part(f), context.get_value_type(its_type)))
        members += [told[x] for x in (*LENGTHS, "block")]
        return context.make_tuple(builder, LaneType, members)

    return LaneType(where, int64, int64), codegen


@kernel()
def vector_of(lane: Lane, node: int) -> Ints:
    """The vector of a node."""
    return entry(lane.vector, node)


@kernel()
def scratch(lane: Lane, row: int) -> Reals:
    """One of the rows of R numbers."""
    return moved(lane.reals, row * lane.row)


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
def enter_table(lane: Lane, node: int) -> None:
    """Make a node known by its view, if it is an ACT node of a tree with an owner; a root also as a root."""
    if lane.kind[node] != 0 or lane.owner[node] == NONE:
        return
    lane.table[place_of(lane, vector_of(lane, node), lane.tree[node])] = node + 1
    if lane.tree[node] == node:
        lane.table[place_of(lane, vector_of(lane, node), -1 - lane.owner[node])] = node + 1


def bytes_a_node(forest: Forest) -> int:
    """Memory of a node, with its places in the hash table."""
    return forest.node.itemsize + 16


def bytes_an_edge(forest: Forest) -> int:
    """Memory of an edge."""
    return forest.edge.itemsize + 8 * forest.v.shape[2]


def bytes_used(forest: Forest) -> int:
    """Memory of all nodes and edges that there are."""
    nodes, edges = int(forest.registers[:, NODES].sum()), int(forest.registers[:, EDGES].sum())
    return nodes * bytes_a_node(forest) + edges * bytes_an_edge(forest)

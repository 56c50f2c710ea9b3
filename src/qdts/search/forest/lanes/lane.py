"""The trees of one search: a lane of arrays, each field of which is declared here and nowhere else.

    axis  counts
    S     lanes: searches that advance side by side
    C     nodes that a lane has room for; a node is its number there, the root of the search is 0
    E     edges that a lane has room for; the edges of a node are neighbours
    W     components of a world
    K     values of a node: one for each player in a game of perfect information, else one, the owner's
    B     the most choices that a node can have
    R     terms that Q of a node can be made of: B, or E where balls are over whole routes
    D     entries that a lane's stack has room for
    T     places of a lane's hash table, a power of two

Nothing is shared between lanes. `layout` says where the fields lie in memory.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import entry
from qdts.search.evaluation.evaluator import NOTHING
from qdts.search.forest.lanes.memory import Bytes

Ints32 = NDArray[np.int32]

ROOT = 0
"""The root of the search."""
NONE = -1
"""No node, no edge, no player."""
WAITING = -2
"""The edge on the stack of an OPPONENT node whose spawned tree is being visited."""
STOPS, CONTINUES, HEAD = range(3)
"""What a visit does at a new node that is no root; HEAD: it continues, at the first SAMPLE node of a chain."""

(
    PHASE,  # where its machine is
    STATUS,  # why it last stopped
    CURRENT,  # the node at hand
    DEPTH,  # the height of the stack
    NODES,  # nodes in use
    EDGES,  # edges in use
    VISITS,  # visits made
    TARGET,  # visits wanted
    WIDE_NODE,  # the ACT node that is being widened, or NONE
    WIDE_EDGE,  # its next edge
    EVALUATIONS,  # nodes evaluated since the search began
    TOUCHED,  # nodes arrived at since the search began
    FULL,  # 1 once `max_nodes` was met
    DEEPEST,  # how many spawned trees were inside each other
    ROW,  # the row of its query
    REGISTERS,
) = range(16)
"""Registers of a lane, and how many there are."""
ROWS = 10
"""Rows of scratch for reals; `scratch` names them."""

SCRATCH = "scratch"
"""A field that is only used between two stops of the machine, so that lanes may share it."""
APART = "apart"
"""A field that lies outside of its lane's block, beside that of the other lanes."""


class Lane(NamedTuple):
    """The trees of one search, to kernels: pointers to arrays whose last axis runs fastest, and their lengths.

    A field is `Annotated[type, axes, …]`. A number after the axes is what a new node starts with; fields without one
    are set by whoever makes or evaluates the node. `Forest` has the same arrays of all lanes, with S as the first axis.
    """

    # The record of a node: what is read of a child comes first, to be in one line of the cache.
    kind: Annotated[Bytes, "C"]  # ACT, SAMPLE, OPPONENT, CHANCE or TERMINAL
    owner: Annotated[Bytes, "C"]  # the owner of its tree; in a game of perfect information NONE
    actor: Annotated[Bytes, "C"]  # the player who moves there, NONE where nobody does
    passing: Annotated[Bytes, "C"]  # STOPS, CONTINUES or HEAD
    evaluated: Annotated[Bytes, "C", 0]  # 1 once it has choices and values
    stopped: Annotated[Bytes, "C", 0]  # s: 1 if a visit stopped there because it was new
    tree: Annotated[Ints32, "C"]  # the root of its tree
    first: Annotated[Ints32, "C", NONE]  # its first edge
    degree: Annotated[Ints32, "C", 0]  # how many edges it has
    total: Annotated[Ints32, "C", 0]  # ΣN over its edges
    mixed: Annotated[Ints32, "C", 0]  # n_mixed
    spawned: Annotated[Ints32, "C", NONE]  # OPPONENT: the root of its spawned tree
    lo: Annotated[Reals, "C K"]  # Q, its lower end
    hi: Annotated[Reals, "C K"]  # Q, its upper end
    v: Annotated[Reals, "C K"]  # V
    level: Annotated[Ints32, "C"]  # how many spawned trees its tree is inside of
    pending: Annotated[Ints32, "C", NOTHING]  # SAMPLE: the action decided on
    hole: Annotated[Ints32, "C", NO_HOLE]  # SAMPLE: the hole that its choices fill
    vector: Annotated[Ints, "C W"]  # its view or world

    # The record of an edge.
    choice: Annotated[Ints32, "E"]  # an action, a value of a hole, or an outcome
    child: Annotated[Ints32, "E"]  # a node, or NONE
    n: Annotated[Ints32, "E"]  # N
    prior: Annotated[Reals, "E"]  # P, H or the rules' probability
    w: Annotated[Reals, "E"]  # W: how often it was chosen, mixed choices counting by their probability

    vc: Annotated[Reals, "E K"]  # V_c; of ACT nodes unless `unvisited` is `fpu`
    table: Annotated[Ints32, "T"]  # ACT nodes by view: the node plus 1, or 0
    stack: Annotated[Ints32, "D 2"]  # node and edge
    luck: Annotated[Reals, "D 2 K"]  # Φ of the choices on the stack, its two ends
    registers: Annotated[Ints, "REGISTERS", APART]
    state: Annotated[NDArray[np.uint64], "1", APART]  # of the random stream
    guide: Annotated[Reals, "B", APART]  # P' of the root, negative where it is P

    carried: Annotated[Reals, "2 K", SCRATCH]  # x, the value that a visit carries back, its two ends
    evaluation_value: Annotated[Reals, "K", SCRATCH]  # the evaluation of the node at hand: V,
    evaluation_children: Annotated[Reals, "B K", SCRATCH]  # V_c,
    evaluation_prior: Annotated[Reals, "B", SCRATCH]  # P or H, and before it is evaluated the rules' weights
    vector_a: Annotated[Ints, "W", SCRATCH]  # a world or view in the making
    choices: Annotated[Ints, "B", SCRATCH]  # those of the node at hand
    moves: Annotated[Ints, "B", SCRATCH]  # any other list of choices or edges
    reals: Annotated[Reals, "ROWS R", SCRATCH]
    trail: Annotated[Ints, "W 2", SCRATCH]  # the way into a chain: nodes and edges
    trail_reals: Annotated[Reals, "W", SCRATCH]  # its probability

    room: Annotated[int, "C"]
    edge_room: Annotated[int, "E"]
    size: Annotated[int, "W"]
    values: Annotated[int, "K"]
    width: Annotated[int, "B"]
    row: Annotated[int, "R"]
    depth_room: Annotated[int, "D"]
    places: Annotated[int, "T"]
    block: int  # bytes from one lane to the next


@kernel()
def vector_of(lane: Lane, node: int) -> Ints:
    """The vector of a node."""
    return entry(lane.vector, node)

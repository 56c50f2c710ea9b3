"""Where the fields of `Lane` lie in memory, and room for many lanes.

What is known of a node lies together, as a record of 8 W + 24 K + 48 bytes rounded up to whole lines of the processor's
cache, and so does what is known of an edge, in 32 bytes, except for V_c: trees are read in scattered places, most of
each place at a time. An edge takes 8 K bytes more, and each node has 4 places of 4 bytes in the hash table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from llvmlite import ir
from numba import int8, int64, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from qdts.fields import fields_of
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.pointers import Column, column_address
from qdts.search.forest.lanes.lane import APART, EDGES, NODES, REGISTERS, ROWS, SCRATCH, Lane
from qdts.search.forest.lanes.memory import LINE, pool
from qdts.search.forest.lanes.view_index import table_size

FIELDS = {name: field for name, field in fields_of(Lane).items() if field.axes}
"""The arrays of a lane, in the order of `Lane`."""
LENGTHS = {name: field.more[0] for name, field in fields_of(Lane).items() if not field.axes and field.more}
"""The axis whose length a field of a lane is."""
NODE = tuple(f for f, field in FIELDS.items() if field.axes[0] == "C")
"""The fields of a node's record, in their order."""
EDGE = tuple(f for f, field in FIELDS.items() if field.axes == ("E",))
"""Those of an edge's record; V_c, which many searches never read, lies elsewhere."""
NODE_STARTS = {f: FIELDS[f].more[0] for f in NODE if FIELDS[f].more}
"""What fields of a new node start with."""
TOGETHER = REGISTERS + 1
"""Numbers of a lane's registers with the state of its random stream behind them: two whole lines, so that threads that
run neighbouring lanes never write to the same one."""


def node_type(size: int, values: int) -> np.dtype[Any]:
    """The record of a node, W and K given."""
    shapes: dict[tuple[str, ...], tuple[int, ...]] = {("C",): (), ("C", "K"): (values,), ("C", "W"): (size,)}
    fields = [(f, as_dtype(FIELDS[f].type), shapes[FIELDS[f].axes]) for f in NODE]
    rest = -np.dtype(fields, align=True).itemsize % LINE
    return np.dtype([*fields, ("rest", np.int8, (rest,))], align=True)


def starts(record: np.dtype[Any]) -> dict[str, int]:
    """Where each field of a record begins."""
    assert record.fields is not None
    return {f: field[1] for f, field in record.fields.items()}


EDGE_TYPE = np.dtype([(f, as_dtype(FIELDS[f].type)) for f in EDGE], align=True)
_NONE, _ONE = starts(node_type(1, 0)), starts(node_type(1, 1))
OFFSETS = {f: (_NONE[f], _ONE[f] - _NONE[f]) for f in NODE} | {f: (at, 0) for f, at in starts(EDGE_TYPE).items()}
"""Where a field lies in its record: (a, b) stands for a + b K bytes."""
AREAS = ("node", "edge", *(f for f in FIELDS if f not in OFFSETS))
"""What has an address of its own: both kinds of records, and all other arrays."""
NUMBERS = (*AREAS, *LENGTHS, "block", "node bytes")
"""What `Forest.where` holds."""
LaneType = types.NamedTuple(
    [
        *(Column(x.type, OFFSETS[f][0]) if f in OFFSETS else types.CPointer(x.type) for f, x in FIELDS.items()),
        *[int64] * (len(LENGTHS) + 1),
    ],
    Lane,
)
WhereType = int64[::1]
"""The numba type of `Forest.where`."""


class Forest:
    """All lanes: each array of `Lane` as an attribute of the same name, with S as its first axis.

    `node` [S, C] and `edge` [S, E] are the records. `where` is all that kernels are given: the addresses of lane 0 and
    the lengths, in the order of NUMBERS.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], where: Ints) -> None:
        self.where = where
        self.node = arrays["node"]
        self.edge = arrays["edge"]
        self._arrays = {
            **arrays,
            **{f: self.node[f] for f in NODE},
            **{f: self.edge[f] for f in EDGE},
        }

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(f"a forest has no {name!r}, expected one of {', '.join(FIELDS)}") from None


def allocate(game: Game, lanes: int, nodes: int, edges: int, depth: int = 64, *, routes: bool = False) -> Forest:
    """Memory for trees of at most so many nodes, edges and stack entries a lane; with `routes`, R is as large as E.

    Nothing is planted yet, and the contents are arbitrary: the memory may have been another forest's.

    A lane is one block of memory, so that what a visit reads lies close together. Only what every turn reads of every
    lane, its registers, the state of its random stream and P' of its root, lies beside that of the other lanes.
    """
    k, b = (1 if game.hidden else game.players), game.max_choices
    lengths = {"C": nodes, "E": edges, "W": game.world_size, "K": k, "B": b, "R": edges if routes else b, "D": depth}
    lengths |= {"T": table_size(nodes if game.hidden else 0), "1": 1, "2": 2, "REGISTERS": REGISTERS, "ROWS": ROWS}
    areas = {"node": (node_type(game.world_size, k), [nodes]), "edge": (EDGE_TYPE, [edges])}
    for f in AREAS[2:]:
        areas[f] = as_dtype(FIELDS[f].type), [lengths[axis] for axis in FIELDS[f].axes]
    places, block = {}, 0
    for area, (kind, shape) in areas.items():
        if not _is(area, APART):
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
    sizes = [lengths[axis] for axis in LENGTHS.values()]
    return Forest(arrays, np.array([*addresses, *sizes, block, arrays["node"].itemsize], np.int64))


def _is(area: str, mark: str) -> bool:
    """Whether an area is a field that is declared with a mark."""
    return area in FIELDS and mark in FIELDS[area].more


@intrinsic  # type: ignore[untyped-decorator]
def lane_of(typing: Any, where: Any, s: Any, t: Any) -> Any:
    """Lane s, with the scratch of lane t: what is only used between two stops may be shared."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        numbers = {x: builder.load(cgutils.gep_inbounds(builder, start, i)) for i, x in enumerate(NUMBERS)}
        address = context.get_value_type(types.CPointer(int8))

        def number(n: int) -> Any:
            return ir.Constant(ir.IntType(64), n)

        own, lent = (builder.mul(arguments[i], numbers["block"]) for i in (1, 2))

        def part(area: str) -> Any:
            distance = lent if _is(area, SCRATCH) else own
            if _is(area, APART):
                length = numbers["width"] if area == "guide" else number(TOGETHER)
                distance = builder.mul(builder.mul(arguments[1], length), number(8))
            return builder.gep(builder.inttoptr(numbers[area], address), [distance])

        strides = {"node": numbers["node bytes"], "edge": number(EDGE_TYPE.itemsize)}
        records = {area: part(area) for area in strides}
        members = []
        for f, its_type in zip(FIELDS, LaneType, strict=False):
            if f in OFFSETS:
                area = "node" if f in NODE else "edge"
                column = cgutils.create_struct_proxy(its_type)(context, builder)
                rows = builder.mul(numbers["values"], number(OFFSETS[f][1]))
                column.start = builder.gep(records[area], [rows])
                column.stride = strides[area]
                members.append(column._getvalue())
            else:
                members.append(builder.bitcast(part(f), context.get_value_type(its_type)))
        members += [numbers[x] for x in (*LENGTHS, "block")]
        return context.make_tuple(builder, LaneType, members)

    return LaneType(where, int64, int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def start_node(typing: Any, lane: Any, node: Any) -> Any:
    """Write what the fields of a new node start with."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for i, (f, its_type) in enumerate(zip(FIELDS, LaneType, strict=False)):
            if f in NODE_STARTS:
                column = builder.extract_value(arguments[0], i)
                address = column_address(context, builder, its_type, column, arguments[1])
                builder.store(context.get_constant(its_type.dtype, NODE_STARTS[f]), address)
        return context.get_dummy_value()

    return types.void(lane, int64), codegen


def bytes_a_node(forest: Forest) -> int:
    """Memory of a node, with its places in the hash table."""
    return forest.node.itemsize + 16


def bytes_an_edge(forest: Forest) -> int:
    """Memory of an edge."""
    return forest.edge.itemsize + 8 * int(forest.v.shape[2])


def bytes_used(forest: Forest) -> int:
    """Memory of all nodes and edges that there are."""
    nodes, edges = int(forest.registers[:, NODES].sum()), int(forest.registers[:, EDGES].sum())
    return nodes * bytes_a_node(forest) + edges * bytes_an_edge(forest)

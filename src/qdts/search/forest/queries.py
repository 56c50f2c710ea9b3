"""How a lane asks outside of the machine and takes the answer in: in rows of queries and evaluations."""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import element, entry, moved
from qdts.search.evaluation.evaluator import CHANCE, Evaluations, Queries
from qdts.search.forest.layout import CURRENT, ROW, Lane
from qdts.search.options.packed import PackedOptions


@kernel(inline=True)
def query_pointers(queries: Queries) -> Queries:
    """The arrays as pointers."""
    return Queries(
        element(queries.lane, 0), element(queries.kind, 0), element(queries.vector, 0), element(queries.player, 0),
        element(queries.pending, 0), element(queries.hole, 0), element(queries.degree, 0), element(queries.choices, 0),
        element(queries.weights, 0), element(queries.state, 0),
    )  # fmt: skip


@kernel(inline=True)
def evaluation_pointers(evaluations: Evaluations) -> Evaluations:
    """The arrays as pointers."""
    return Evaluations(element(evaluations.value, 0), element(evaluations.children, 0), element(evaluations.prior, 0))


@kernel(inline=True)
def asker(lane: Lane, packed: PackedOptions, node: int) -> int:
    """From whose point of view a node is evaluated: its owner's; in an open game the mover's (CHANCE: the first)."""
    if packed.hidden:
        return lane.owner[node]
    return 0 if lane.kind[node] == CHANCE else lane.actor[node]


@kernel(inline=True)
def put_query(lane: Lane, packed: PackedOptions, s: int, queries: Queries, row: int) -> None:
    """Write down what lane s wants to know of the node at hand, which has its edges."""
    node = lane.registers[CURRENT]
    lane.registers[ROW] = row
    queries.lane[row] = s
    queries.kind[row] = lane.kind[node]
    for i in range(lane.size):
        queries.vector[row * lane.size + i] = entry(lane.vector, node)[i]
    queries.player[row] = asker(lane, packed, node)
    queries.pending[row] = lane.pending[node]
    queries.hole[row] = lane.hole[node]
    queries.degree[row] = lane.degree[node]
    for i in range(lane.degree[node]):
        queries.choices[row * lane.width + i] = lane.choices[i]
        queries.weights[row * lane.width + i] = lane.evaluation_prior[i]
    queries.state[row] = lane.state[0]


@kernel(inline=True)
def take_evaluation(lane: Lane, evaluations: Evaluations) -> None:
    """Take over what was answered of the node at hand."""
    row, count = lane.registers[ROW], lane.degree[lane.registers[CURRENT]]
    value, children = (
        moved(evaluations.value, row * lane.values),
        moved(evaluations.children, row * lane.width * lane.values),
    )
    prior = moved(evaluations.prior, row * lane.width)
    for k in range(lane.values):
        lane.evaluation_value[k] = value[k]
    for i in range(count):
        lane.evaluation_prior[i] = prior[i]
    for i in range(count * lane.values):
        lane.evaluation_children[i] = children[i]

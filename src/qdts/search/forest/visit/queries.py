"""The query of a parked lane, and its evaluation: rows of batches that are evaluated outside of the machine."""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import entry, moved
from qdts.search.evaluation.evaluator import CHANCE, Evaluations, Queries
from qdts.search.forest.lanes.lane import CURRENT, ROW, Lane
from qdts.search.options.packed import PackedOptions


@kernel(inline=True)
def point_of_view(lane: Lane, packed: PackedOptions, node: int) -> int:
    """From whose point of view a node is evaluated: its owner's; with perfect information the mover's (CHANCE: 0)."""
    if packed.hidden:
        return lane.owner[node]
    return 0 if lane.kind[node] == CHANCE else lane.actor[node]


@kernel(inline=True)
def put_query(lane: Lane, packed: PackedOptions, s: int, queries: Queries, row: int) -> None:
    """Write the query for the node at hand of lane s, which has its edges."""
    node = lane.registers[CURRENT]
    lane.registers[ROW] = row
    queries.lane[row] = s
    queries.kind[row] = lane.kind[node]
    for i in range(lane.size):
        queries.vector[row * lane.size + i] = entry(lane.vector, node)[i]
    queries.player[row] = point_of_view(lane, packed, node)
    queries.pending[row] = lane.pending[node]
    queries.hole[row] = lane.hole[node]
    queries.degree[row] = lane.degree[node]
    for i in range(lane.degree[node]):
        queries.choices[row * lane.width + i] = lane.choices[i]
        queries.weights[row * lane.width + i] = lane.evaluation_prior[i]
    queries.state[row] = lane.state[0]


@kernel(inline=True)
def take_evaluation(lane: Lane, evaluations: Evaluations) -> None:
    """Take over the evaluation of the node at hand."""
    row, count = lane.registers[ROW], lane.degree[lane.registers[CURRENT]]
    value = moved(evaluations.value, row * lane.values)
    children = moved(evaluations.children, row * lane.width * lane.values)
    prior = moved(evaluations.prior, row * lane.width)
    for k in range(lane.values):
        lane.evaluation_value[k] = value[k]
    for i in range(count):
        lane.evaluation_prior[i] = prior[i]
    for i in range(count * lane.values):
        lane.evaluation_children[i] = children[i]

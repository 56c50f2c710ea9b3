"""How a slot asks outside of the machine and takes the answer in: in rows of queries and answers."""

from __future__ import annotations

from qdts.kernels import kernel
from qdts.pointers import element, entry, moved
from qdts.search.evaluator import CHANCE, Answers, Queries
from qdts.search.forest import CURRENT, ROW, Slot
from qdts.search.settings import Settings


@kernel(inline=True)
def open_queries(queries: Queries) -> Queries:
    """The arrays as pointers."""
    return Queries(
        element(queries.slot, 0), element(queries.kind, 0), element(queries.vector, 0), element(queries.player, 0),
        element(queries.pending, 0), element(queries.hole, 0), element(queries.degree, 0), element(queries.choices, 0),
        element(queries.weights, 0), element(queries.state, 0),
    )  # fmt: skip


@kernel(inline=True)
def open_answers(answers: Answers) -> Answers:
    """The arrays as pointers."""
    return Answers(element(answers.value, 0), element(answers.children, 0), element(answers.prior, 0))


@kernel(inline=True)
def asker(slot: Slot, settings: Settings, node: int) -> int:
    """From whose point of view a node is evaluated: its owner's; in an open game the mover's (CHANCE: the first)."""
    if settings.hidden:
        return slot.owner[node]
    return 0 if slot.kind[node] == CHANCE else slot.actor[node]


@kernel(inline=True)
def put_query(slot: Slot, settings: Settings, s: int, queries: Queries, row: int) -> None:
    """Write down what slot s wants to know of the node at hand, which has its edges."""
    node = slot.registers[CURRENT]
    slot.registers[ROW] = row
    queries.slot[row] = s
    queries.kind[row] = slot.kind[node]
    for i in range(slot.size):
        queries.vector[row * slot.size + i] = entry(slot.vector, node)[i]
    queries.player[row] = asker(slot, settings, node)
    queries.pending[row] = slot.pending[node]
    queries.hole[row] = slot.hole[node]
    queries.degree[row] = slot.degree[node]
    for i in range(slot.degree[node]):
        queries.choices[row * slot.width + i] = slot.choices[i]
        queries.weights[row * slot.width + i] = slot.answer_prior[i]
    queries.state[row] = slot.state[0]


@kernel(inline=True)
def take_answer(slot: Slot, answers: Answers) -> None:
    """Take over what was answered of the node at hand."""
    row, count = slot.registers[ROW], slot.degree[slot.registers[CURRENT]]
    value, children = moved(answers.value, row * slot.values), moved(answers.children, row * slot.width * slot.values)
    prior = moved(answers.prior, row * slot.width)
    for k in range(slot.values):
        slot.answer_value[k] = value[k]
    for i in range(count):
        slot.answer_prior[i] = prior[i]
    for i in range(count * slot.values):
        slot.answer_children[i] = children[i]

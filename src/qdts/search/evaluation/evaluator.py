"""What a search wants to know of a node, and who evaluations.

A *query* is (kind, vector, player, pending) with the node's choices. The *answer* is V, the value of each choice V_c,
and, at ACT and SAMPLE, the prior over the choices (P or H). Queries come in batches: an evaluator that answers many
at once takes arrays with a row for each; one that answers one at a time is asked row by row.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from numba import float64, int64, types, uint64

from qdts.games.game import Game
from qdts.kernels import Ints, Reals, declare
from qdts.rng import State

ACT, SAMPLE, OPPONENT, CHANCE, TERMINAL = range(5)
"""The kinds of node."""
KINDS = ("act", "sample", "opponent", "chance", "terminal")
NOTHING = -1
"""`pending` of a node at which nobody has decided on an action."""


class Query(NamedTuple):
    """One node to evaluate."""

    kind: int
    """ACT, SAMPLE, OPPONENT or CHANCE."""
    vector: Ints  # [W]
    player: int
    """The owner of the tree; in an open game the player to move (CHANCE: 0)."""
    pending: int
    """The action that the owner of a SAMPLE node has decided on, else NOTHING."""
    hole: int
    """The hole that the choices of a SAMPLE node fill, else NO_HOLE."""
    choices: Ints  # [B] actions, values of the hole, or outcomes
    weights: Reals  # [B] what the rules say of the choices: SAMPLE and CHANCE; elsewhere even


class Evaluation(NamedTuple):
    """What an evaluator says of a node; K is the number of players in an open game, else 1."""

    value: Reals  # [K]
    child_values: Reals  # [B, K]
    prior: Reals  # [B]


class Queries(NamedTuple):
    """Many nodes to evaluate, a row each; what lies in a row beyond its node's choices means nothing."""

    lane: Ints  # [N] which search asks
    kind: Ints  # [N]
    vector: Ints  # [N, W]
    player: Ints  # [N]
    pending: Ints  # [N]
    hole: Ints  # [N]
    degree: Ints  # [N] how many choices there are
    choices: Ints  # [N, B]
    weights: Reals  # [N, B]
    state: State  # [N, 1] the random stream of each, to draw from


class Evaluations(NamedTuple):
    """Where the answers to many queries go."""

    value: Reals  # [N, K]
    children: Reals  # [N, B, K]
    prior: Reals  # [N, B] read at ACT and SAMPLE


_VECTOR, _ROWS, _REALS = int64[::1], int64[:, ::1], float64[:, ::1]
QueriesType = types.NamedTuple(
    [_VECTOR, _VECTOR, _ROWS, _VECTOR, _VECTOR, _VECTOR, _VECTOR, _ROWS, _REALS, uint64[:, ::1]], Queries
)
EvaluationsType = types.NamedTuple([_REALS, float64[:, :, ::1], _REALS], Evaluations)
declare(Queries, QueriesType)
declare(Evaluations, EvaluationsType)


class Evaluator(Protocol):
    """Whoever answers queries."""

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The answer to one query; what is random is drawn from `state`."""


@runtime_checkable
class BatchEvaluator(Evaluator, Protocol):
    """Whoever answers many queries at once. What it says of one must not depend on the others."""

    game: Game

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Write the answer to every query."""

"""What a search wants to know of a node, and the interface of what evaluates it.

A *query* is (kind, vector, player, pending) with the node's choices. Its *evaluation* is V, the value of each choice
V_c, and, at ACT and SAMPLE, the prior over the choices (P or H). Queries come in batches, a row of arrays for each: a
`BatchEvaluator` takes them so, any other `Evaluator` one by one.

    axis  counts
    N     queries
    W     components of a world
    B     the most choices that a node can have
    K     values of a node: one for each player in a game of perfect information, else one, the owner's
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Protocol, runtime_checkable

from qdts.fields import tuple_type
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
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
    vector: Ints  # [W] the owner's view at ACT and SAMPLE, else a world
    player: int
    """The owner of the tree; in a game of perfect information the player to move (CHANCE: 0)."""
    pending: int
    """The action that the owner of a SAMPLE node has decided on, else NOTHING."""
    hole: int
    """The hole that the choices of a SAMPLE node fill, else NO_HOLE."""
    choices: Ints  # [B] actions, values of the hole, or outcomes
    weights: Reals  # [B] the rules' weights of the choices: SAMPLE and CHANCE; elsewhere uniform


class Evaluation(NamedTuple):
    """The evaluation of one node."""

    value: Reals  # [K] V
    child_values: Reals  # [B, K] V_c
    prior: Reals  # [B] P or H


class Queries(NamedTuple):
    """Many nodes to evaluate, a row each; what lies in a row beyond its node's choices means nothing."""

    lane: Annotated[Ints, "N"]  # the search that each belongs to
    kind: Annotated[Ints, "N"]
    vector: Annotated[Ints, "N W"]
    player: Annotated[Ints, "N"]
    pending: Annotated[Ints, "N"]
    hole: Annotated[Ints, "N"]
    degree: Annotated[Ints, "N"]  # how many choices there are
    choices: Annotated[Ints, "N B"]
    weights: Annotated[Reals, "N B"]
    state: Annotated[State, "N 1"]  # the random stream of each, to draw from


class Evaluations(NamedTuple):
    """Where the evaluations of many queries are written."""

    value: Annotated[Reals, "N K"]
    children: Annotated[Reals, "N B K"]
    prior: Annotated[Reals, "N B"]  # read at ACT and SAMPLE


QueriesType = tuple_type(Queries)
EvaluationsType = tuple_type(Evaluations)


class Evaluator(Protocol):
    """The source of P, V, V_c and H.

    A class with this one method is an evaluator:

    Examples:
        >>> import numpy as np
        >>> from qdts import load_game, read_search, run_searches
        >>> from qdts.search.evaluation.evaluator import Evaluation
        >>> class Flat:
        ...     def evaluate(self, query, state):
        ...         count = len(query.choices)
        ...         return Evaluation(np.zeros(1), np.zeros((count, 1)), query.weights)
        >>> game = load_game("kuhn_poker")
        >>> view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
        >>> [result] = run_searches(game, [view], [0], read_search(game, "qdts"), 20, evaluator=Flat())
        >>> int(result.visits.sum())
        20
    """

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """Evaluate one node.

        Args:
            query: The node.
            state: The random stream of its search, uint64[1]; whatever is random is drawn from it, and it advances.

        Returns:
            Values in units of the game's returns, and a distribution over the choices.
        """


@runtime_checkable
class BatchEvaluator(Evaluator, Protocol):
    """An evaluator of many queries at once. The evaluation of one must not depend on the others."""

    game: Game

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Evaluate every query.

        Args:
            queries: A row for each node.
            evaluations: Is written to, in the same rows.
        """

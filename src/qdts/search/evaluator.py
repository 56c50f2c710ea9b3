"""What a search wants to know of a node, and who answers.

A *query* is (kind, vector, player, pending) with the node's choices. The *answer* is V, the value of each choice V_c,
and, at ACT and SAMPLE, the prior over the choices (P or H).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

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
    vector: Ints  # [W]
    player: int
    """The owner of the tree; in an open game the player to move (CHANCE: 0)."""
    pending: int
    """The action that the owner of a SAMPLE node has decided on, else NOTHING."""
    hole: int
    """The hole that the choices of a SAMPLE node fill, else NO_HOLE."""
    choices: Ints  # [B] actions, values of the hole, or outcomes
    weights: Reals  # [B] what the rules say of the choices: SAMPLE and CHANCE; elsewhere even


class Answer(NamedTuple):
    """What an evaluator says of a node; K is the number of players in an open game, else 1."""

    value: Reals  # [K]
    child_values: Reals  # [B, K]
    prior: Reals  # [B]


class Evaluator(Protocol):
    """Whoever answers queries."""

    def answer(self, query: Query, state: State) -> Answer:
        """The answer to one query; what is random is drawn from `state`."""

"""What a search found at its root."""

from __future__ import annotations

from dataclasses import dataclass

from qdts.kernels import Ints, Reals


@dataclass(frozen=True, eq=False)
class Result:
    """The root's actions after a search, and what it decided. A counts the legal actions."""

    actions: Ints
    """int64[A]"""
    visits: Ints
    """int64[A]: N"""
    q_lo: Reals
    q_hi: Reals
    """float64[A]: the interval of each action's value to the player who moves"""
    prior: Reals
    """float64[A]: P as the evaluator gave it"""
    move: Reals
    """float64[A]: the distribution that the move is drawn from"""
    target: Reals
    """float64[A]: the policy target"""
    nodes: int
    """How many nodes the search has."""
    full: bool = False
    """Whether it ran into `max_nodes` and went on without growing."""

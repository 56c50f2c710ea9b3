"""The result of a search, at its root."""

from __future__ import annotations

from dataclasses import dataclass

from qdts.kernels import Ints, Reals


@dataclass(frozen=True, eq=False)
class Result:
    """The root's actions after a search, and its decision. A is the number of legal actions."""

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
    """float64[A]: the distribution to sample the move from"""
    target: Reals
    """float64[A]: the policy target"""
    nodes: int
    """The number of nodes of the search."""
    full: bool = False
    """Whether it reached `max_nodes` and added visits without growing."""

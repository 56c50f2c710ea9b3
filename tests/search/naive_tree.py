"""What the naive twin grows and carries: trees, nodes, edges, and what comes back from a visit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints
from qdts.search.evaluation.evaluator import NOTHING, SAMPLE, TERMINAL
from search.naive_formulas import Ends, Values

Interval = tuple[Values, Values]
"""The lower and the upper ends of K values."""


@dataclass(eq=False)
class Edge:
    """A choice at a node."""

    choice: int
    prior: float
    """P, H or the rules' probability; 0 at OPPONENT nodes, which have none of their own."""
    vc: Values
    n: int = 0
    w: float = 0.0
    child: Node | None = None

    @property
    def below(self) -> Node | None:
        """The child, if it has V and Q."""
        return self.child if self.child is not None and self.child.settled else None

    @property
    def star(self) -> Values:
        """V*(e)."""
        return self.below.v if self.below else self.vc

    @property
    def q(self) -> Interval:
        """Q(e), or V*(e) where there is none."""
        return (self.below.lo, self.below.hi) if self.below else (self.vc, self.vc)


@dataclass(eq=False)
class Tree:
    """One tree: whose it is, how many trees it hangs below, and its ACT nodes by view."""

    owner: int
    depth: int
    acts: dict[bytes, Node] = field(default_factory=dict)


@dataclass(eq=False)
class Node:
    """A node; its edges are listed when it is evaluated."""

    kind: int
    vector: Ints
    tree: Tree
    actor: int
    """Who moves: a player, or chance or nobody by the numbers of the rules; the owner at SAMPLE."""
    is_root: bool
    passing: bool
    """Whether a visit that evaluates it goes on: a root, a SAMPLE node, or midway."""
    pending: int = NOTHING
    hole: int = NO_HOLE
    head: Node | None = None
    """The first node of a SAMPLE node's chain: itself, or one above."""
    is_new_end: bool = False
    """s: whether a visit stopped here because it was new."""
    evaluated: bool = False
    v: Values = field(default_factory=list)
    lo: Values = field(default_factory=list)
    hi: Values = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    n_mixed: int = 0
    spawned: Node | None = None

    @property
    def owner(self) -> int:
        """The owner of its tree."""
        return self.tree.owner

    @property
    def settled(self) -> bool:
        """Whether it has V and Q."""
        return self.evaluated or self.kind == TERMINAL

    @property
    def visits(self) -> int:
        """ΣN."""
        return sum(e.n for e in self.edges)


class Choice(NamedTuple):
    """What was chosen at a node."""

    edge: int
    drawn: Values | None
    """The distribution that it was drawn from, if it was drawn."""
    phi: Interval | None = None
    """Φ for the OPPONENT node that it was made for."""


class Item(NamedTuple):
    """What a distribution is over: an edge, or the last edge of a route through a chain."""

    p: float
    n: int
    edge: Edge


class Trip(NamedTuple):
    """What comes back from a visit of a node."""

    chosen: Choice
    x: Interval
    whole: Interval | None = None
    """Φ of the whole route, from nodes of a chain."""


def routes(node: Node, p: float) -> Iterator[Item]:
    """The ends of the routes through a chain: depth first, edges in order."""
    for edge in node.edges:
        if edge.below is not None and edge.below.kind == SAMPLE:
            yield from routes(edge.below, p * edge.prior)
        else:
            yield Item(p * edge.prior, edge.n, edge)


def minus(x: Interval, phi: Interval) -> Interval:
    """[x_lo − Φ_hi, x_hi − Φ_lo]."""
    low = [a - b for a, b in zip(x[0], phi[1], strict=True)]
    high = [a - b for a, b in zip(x[1], phi[0], strict=True)]
    return low, high


def by_player(ends: list[Ends]) -> Interval:
    """The lower ends, and the upper."""
    return [lo for lo, _ in ends], [hi for _, hi in ends]

"""The top of a forest search's trees, for people: kinds, counts and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdts.games.game import Game
from qdts.search.beliefs.holes import hole_name, value_name
from qdts.search.evaluation.evaluator import ACT, CHANCE, KINDS, OPPONENT, SAMPLE, TERMINAL
from qdts.search.forest.lanes.lane import NONE, ROOT
from qdts.search.forest.searcher import Searcher

MOST_BRANCHES = 8
"""Children of a node that are read, those with the most visits."""


@dataclass(frozen=True)
class Branch:
    """A node, how it was reached, and what is below it."""

    choice: str
    """The action, outcome or value that leads here; empty at a root."""
    visits: int
    """N of that edge; of a root the sum over its own edges."""
    kind: str
    player: int | None
    """Who moves at an ACT or OPPONENT node."""
    view: str
    """What an ACT node's owner sees, in words; empty elsewhere."""
    q_lo: float
    q_hi: float
    """Q to the owner of the tree; with perfect information to the player who moves at the root of the search."""
    branches: tuple[Branch, ...] = ()
    more: int = 0
    """Visited children that are left out."""
    spawned: Branch | None = None
    """The root of the tree that simulates the player of an OPPONENT node."""


def read_tree(searcher: Searcher, depth: int, lane: int = 0) -> Branch:
    """The root of a lane's search and what is below it, up to a depth."""
    total = int(searcher.forest.total[lane, ROOT])
    return _Reader(searcher, lane).branch(ROOT, "", total, depth)


class _Reader:
    """Reads one lane."""

    def __init__(self, searcher: Searcher, lane: int) -> None:
        self.game: Game = searcher.game
        self.forest = searcher.forest
        self.s = lane
        self.component = 0 if self.game.hidden else int(self.forest.actor[lane, ROOT])

    def branch(self, node: int, choice: str, visits: int, depth: int) -> Branch:
        f, s = self.forest, self.s
        kind, k = int(f.kind[s, node]), self.component
        shown, more = self._children(node, depth)
        spawned = int(f.spawned[s, node]) if kind == OPPONENT and depth > 0 else NONE
        return Branch(
            choice=choice,
            visits=visits,
            kind=KINDS[kind],
            player=int(f.actor[s, node]) if kind in (ACT, OPPONENT) else None,
            view=self.game.describe(f.vector[s, node]) if kind == ACT else "",
            q_lo=float(f.lo[s, node, k]),
            q_hi=float(f.hi[s, node, k]),
            branches=shown,
            more=more,
            spawned=None if spawned == NONE else self.branch(spawned, "", int(f.total[s, spawned]), depth - 1),
        )

    def _children(self, node: int, depth: int) -> tuple[tuple[Branch, ...], int]:
        """The children with the most visits, and how many visited ones are left out."""
        f, s = self.forest, self.s
        if depth == 0 or f.kind[s, node] == TERMINAL or not f.evaluated[s, node]:
            return (), 0
        first = int(f.first[s, node])
        counts = f.n[s, first : first + int(f.degree[s, node])]
        order = [int(e) for e in np.argsort(-counts, kind="stable") if counts[e] > 0]
        branches = []
        for e in order[:MOST_BRANCHES]:
            child, name = int(f.child[s, first + e]), self._name(node, int(f.choice[s, first + e]))
            if child != NONE:
                branches.append(self.branch(child, name, int(counts[e]), depth - 1))
        return tuple(branches), len(order) - len(branches)

    def _name(self, node: int, choice: int) -> str:
        kind = int(self.forest.kind[self.s, node])
        if kind == SAMPLE:
            hole, vector = int(self.forest.hole[self.s, node]), self.forest.vector[self.s, node]
            return f"{hole_name(self.game, hole)}={value_name(self.game, vector, hole, choice)}"
        return self.game.outcome_name(choice) if kind == CHANCE else self.game.action_name(choice)

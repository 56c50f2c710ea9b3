"""Searches held to others: to the twin, node by node, and to another searcher, bit by bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games import Game
from qdts.search.evaluation.evaluator import ACT, TERMINAL, Evaluator
from qdts.search.forest.lanes.lane import DEEPEST, EDGES, EVALUATIONS, NODES, NONE, ROOT, TOUCHED
from qdts.search.forest.lanes.layout import FIELDS
from qdts.search.forest.searcher import Searcher
from qdts.search.options.options import Options
from search.naive_tree import Node
from search.samples import first_view
from search.twin import Twin

CLOSE = 1e-12


def compare(searcher: Searcher, s: int, twin: Twin) -> int:
    """Hold every node of a lane to the twin's; how many there are."""
    f = searcher.forest
    pairs: dict[int, Node] = {}
    todo: list[tuple[int, Node]] = [(ROOT, twin.top)]
    while todo:
        n, node = todo.pop()
        if n in pairs:
            assert pairs[n] is node
            continue
        pairs[n] = node
        assert f.kind[s, n] == node.kind
        assert f.vector[s, n].tolist() == node.vector.tolist()
        assert f.owner[s, n] == node.owner
        assert f.evaluated[s, n] == node.evaluated
        assert f.mixed[s, n] == node.n_mixed
        if node.settled:
            np.testing.assert_allclose(f.v[s, n], node.v, rtol=0, atol=CLOSE)
            np.testing.assert_allclose(f.lo[s, n], node.lo, rtol=0, atol=CLOSE)
            np.testing.assert_allclose(f.hi[s, n], node.hi, rtol=0, atol=CLOSE)
        assert f.degree[s, n] == len(node.edges)
        for e, edge in enumerate(node.edges, int(f.first[s, n])):
            assert (f.choice[s, e], f.n[s, e]) == (edge.choice, edge.n)
            np.testing.assert_allclose([f.prior[s, e], f.w[s, e]], [edge.prior, edge.w], rtol=0, atol=CLOSE)
            if node.kind != ACT or searcher.options.unvisited != "fpu":
                np.testing.assert_allclose(f.vc[s, e], edge.vc, rtol=0, atol=CLOSE)
            assert (f.child[s, e] == NONE) == (edge.child is None)
            if edge.child is not None:
                todo.append((int(f.child[s, e]), edge.child))
        assert (f.spawned[s, n] == NONE) == (node.spawned is None)
        if node.spawned is not None:
            todo.append((int(f.spawned[s, n]), node.spawned))
    registers = f.registers[s]
    assert registers[NODES] == len(pairs) == len(list(twin.nodes()))
    assert registers[EVALUATIONS] == twin.evaluations
    assert registers[TOUCHED] == twin.touched
    assert registers[DEEPEST] == twin.spawn_depth
    return len(pairs)


class Compared(NamedTuple):
    """What was found to be equal."""

    nodes: int
    depth: int
    """Spawned trees inside each other."""


def both(
    game: Game, options: Options, evaluator: Evaluator, seed: int, visits: int, plain: Evaluator | None = None
) -> Compared:
    """Search by the engine and by the twin, and compare."""
    view, player = first_view(game, seed)
    searcher = Searcher(game, [view], [player], options, evaluator, seeds=[seed], first_nodes=2)
    searcher.run(visits)
    twin = Twin(game, options, plain or evaluator, seed)
    twin.search(view, player, visits)
    return Compared(compare(searcher, 0, twin), int(searcher.forest.registers[0, DEEPEST]))


def assert_same(one: Searcher, other: Searcher, s: int = 0) -> None:
    """A lane holds the same bits in two searchers, wherever anything was written."""
    f, g = one.forest, other.forest
    assert (f.registers[s] == g.registers[s]).all()
    assert (f.state[s] == g.state[s]).all()
    nodes, edges = np.arange(f.registers[s, NODES]), np.arange(f.registers[s, EDGES])
    assert (f.kind[s, nodes] == g.kind[s, nodes]).all()
    settled = nodes[(f.evaluated[s, nodes] == 1) | (f.kind[s, nodes] == TERMINAL)]
    with_vc = nodes[(f.kind[s, nodes] != ACT) | (one.options.unvisited != "fpu")]
    written = dict.fromkeys(("v", "lo", "hi"), settled) | {
        "vc": np.concatenate([edges[:0], *(f.first[s, n] + np.arange(f.degree[s, n]) for n in with_vc)])
    }
    for name, field in FIELDS.items():
        if field.axes[0] in "CE":
            rows = written.get(name, nodes if field.axes[0] == "C" else edges)
            assert getattr(f, name)[s, rows].tobytes() == getattr(g, name)[s, rows].tobytes(), name

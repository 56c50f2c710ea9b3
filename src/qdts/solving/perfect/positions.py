"""The graph of a perfect-information game's positions, each of them once.

Many histories lead to the same position, and with chance a position may even recur: the graph may have cycles.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.hashing import FREE, index_rows, probe_rows, table_size
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import borrowed
from qdts.solving.perfect.components import components
from qdts.solving.tree.faults import broken_rules, sums_to_one

DEFAULT_LIMIT = 20_000_000

DONE, FULL, NO_ACTIONS, BAD_CHANCE, STOPPED = range(5)
"""Status of `_expand`: every position is in the graph; the arrays are full; a mover without actions; chance does not
sum to one; the stop flag is set."""
POSITIONS, EXPANDED, EDGES = range(3)
"""Counters: positions known, those of them that have their edges, and edges."""


class Graph(NamedTuple):
    """All positions of a game in the order of discovery (N), and the moves between them (E)."""

    worlds: Ints  # [N, W]
    mover: Ints  # [N] a player, CHANCE or TERMINAL
    first: Ints  # [N + 1] the edges of position s are first[s] to first[s + 1]
    child: Ints  # [E] where an edge leads
    action: Ints  # [E] the action or outcome
    probability: Reals  # [E] chance's; 1 for a player's
    utility: Reals  # [N, P] returns of finished games, else 0
    order: NDArray[np.int32]  # [N] positions by component, successors of a component first
    start: NDArray[np.int32]  # [components + 1] where each of them begins in `order`


_ints, _small = int64[::1], types.int32[::1]
GraphType = types.NamedTuple(
    [int64[:, ::1], _ints, _ints, _ints, _ints, float64[::1], float64[:, ::1], _small, _small], Graph
)


def position_graph(game: Game, limit: int = DEFAULT_LIMIT) -> Graph:
    """Every position that play can reach; raises an InputError above `limit`. The last few graphs are kept."""
    return _graph(game, limit)


@lru_cache(maxsize=4)
def _graph(game: Game, limit: int) -> Graph:
    if game.hidden:
        raise InputError(
            f"{game.spec} has hidden information: its positions are not views, enumerate its histories instead"
        )
    graph, table = _allocate(game, 1 << 12)
    counters = np.zeros(3, np.int64)
    graph.worlds[0] = game.initial()
    counters[POSITIONS] = 1
    stop = stop_flag()
    while (status := _expand(game.kernels, game.rules, graph, table, counters, game.max_branching, stop)) == FULL:
        if counters[POSITIONS] > limit:
            raise InputError(f"{game.spec} has more than {limit:,} positions: too many; give smaller parameters")
        graph, table = _grown(game, graph, counters)
    verify_not_stopped()
    if status != DONE:
        raise broken_rules(game, graph.worlds[counters[EXPANDED]], status == BAD_CHANCE)
    n, e = int(counters[POSITIONS]), int(counters[EDGES])
    return Graph(
        graph.worlds[:n].copy(),
        graph.mover[:n],
        graph.first[: n + 1],
        graph.child[:e],
        graph.action[:e],
        graph.probability[:e],
        graph.utility[:n],
        *components(graph.first[: n + 1], graph.child[:e]),
    )


def _allocate(game: Game, size: int) -> tuple[Graph, NDArray[np.int32]]:
    n, e = size + game.max_branching, 4 * size + game.max_branching
    graph = Graph(
        np.zeros((n, game.world_size), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(e, np.int64),
        np.zeros(e, np.int64),
        np.zeros(e),
        np.zeros((n, game.players)),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
    )
    return graph, np.full(table_size(n), FREE, np.int32)


def _grown(game: Game, graph: Graph, counters: Ints) -> tuple[Graph, NDArray[np.int32]]:
    """A copy with every axis at least doubled, and its hash table."""
    larger, _ = _allocate(game, max(2 * len(graph.mover), len(graph.child) // 2))
    arrays: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(graph, larger, strict=True)
    for old, new in arrays:
        new[: len(old)] = old
    return larger, index_rows(larger.worlds[: counters[POSITIONS]], len(larger.worlds))


@kernel(int64(KernelsType, RulesType, GraphType, types.int32[::1], int64[::1], int64, FlagType))
def _expand(
    game: Any, rules: Ints, graph: Graph, table: NDArray[np.int32], counters: Ints, branching: int, stop: Ints
) -> int:
    """Breadth first: add the edges of one position after the other, until none is left or the arrays are full."""
    graph = borrowed(graph)
    choices, chances = np.zeros(branching, np.int64), np.ones(branching)
    if counters[EXPANDED] == 0:
        table[probe_rows(graph.worlds, table, graph.worlds[0])] = 0
    while counters[EXPANDED] < counters[POSITIONS]:
        s, e, known = counters[EXPANDED], counters[EDGES], counters[POSITIONS]
        if stop[0]:
            return STOPPED
        if known + branching > len(graph.mover) or e + branching > len(graph.child):
            return FULL
        world = graph.worlds[s]
        mover = game.mover(rules.ctypes, world.ctypes)
        graph.mover[s] = mover
        count = 0
        if mover == TERMINAL:
            game.returns(rules.ctypes, world.ctypes, graph.utility[s].ctypes)
        elif mover == CHANCE:
            count = game.chance(rules.ctypes, world.ctypes, choices.ctypes, chances.ctypes)
            if not sums_to_one(chances, count):
                return BAD_CHANCE
        else:
            count = game.legal(rules.ctypes, world.ctypes, choices.ctypes)
        if mover >= 0 and count <= 0:
            return NO_ACTIONS
        for k in range(count):
            after = graph.worlds[known]
            after[:] = world
            game.step(rules.ctypes, after.ctypes, choices[k])
            place = probe_rows(graph.worlds, table, after)
            if table[place] == FREE:
                table[place] = known
                known += 1
            graph.child[e + k] = table[place]
            graph.action[e + k] = choices[k]
            graph.probability[e + k] = chances[k] if mover == CHANCE else 1.0
        counters[POSITIONS] = known
        counters[EDGES] = graph.first[s + 1] = e + count
        counters[EXPANDED] += 1
    return DONE

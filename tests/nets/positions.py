"""Roots of searches after random moves, and the trees of searches, to compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from qdts.games import Game
from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.kernels import Ints
from qdts.search.evaluation.evaluator import TERMINAL
from qdts.search.forest.lanes.lane import EDGES, NODES
from qdts.search.forest.searcher import Searcher


def roots(game: Game, count: int) -> tuple[list[Ints], list[int]]:
    """Views at players' turns after random moves."""
    numbers = np.random.default_rng(3)
    views: list[Ints] = []
    players: list[int] = []
    while len(views) < count:
        world = game.initial()
        for _ in range(int(numbers.integers(1, 6))):
            if game.mover(world) != -2:
                moves = [c for c, _ in game.chance(world)] if game.mover(world) == CHANCE_MOVES else game.legal(world)
                world = game.step(world, int(numbers.choice(moves)))
        if (player := game.mover(world)) >= 0:
            views.append(game.view(world, player))
            players.append(player)
    return views, players


def trees(searcher: Searcher, s: int) -> list[Any]:
    f = searcher.forest
    nodes, edges = int(f.registers[s, NODES]), int(f.registers[s, EDGES])
    there = np.flatnonzero((f.evaluated[s, :nodes] == 1) | (f.kind[s, :nodes] == TERMINAL))
    whole: list[Any] = [f.vector[s, :nodes], f.kind[s, :nodes], f.v[s, there], f.lo[s, there], f.hi[s, there]]
    return [x.tolist() for x in [*whole, f.n[s, :edges], f.prior[s, :edges], f.child[s, :edges]]]

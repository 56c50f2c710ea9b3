"""The cost of a search by its number of visits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.forest.lanes.lane import DEEPEST, EVALUATIONS, NODES, TOUCHED
from qdts.search.forest.lanes.layout import bytes_used
from qdts.search.forest.searcher import Searcher
from qdts.search.options.options import Options


class Cost(NamedTuple):
    """The cost of one search since its beginning."""

    visits: int
    touched: int
    """Nodes that visits passed, those of simulated players included."""
    evaluations: int
    nodes: int
    deepest: int
    """The depth of spawned trees inside each other."""
    bytes: int
    """The memory of its nodes and edges."""
    seconds: float
    """CPU time."""


def costs(
    game: Game, view: Ints, player: int, options: Options, evaluator: Evaluator, visits: Sequence[int], seed: int = 0
) -> list[Cost]:
    """The cost of one search after each number of visits; these ascend."""
    began = time.process_time()
    searcher = Searcher(game, [view], [player], options, evaluator, seeds=[seed])
    spent, done, seconds = [], 0, time.process_time() - began
    for wanted in visits:
        began = time.process_time()
        searcher.run(wanted - done)
        seconds += time.process_time() - began
        done = wanted
        r = searcher.forest.registers[0]
        touched, evaluations, nodes, deepest = (int(r[i]) for i in (TOUCHED, EVALUATIONS, NODES, DEEPEST))
        spent.append(Cost(done, touched, evaluations, nodes, deepest, bytes_used(searcher.forest), seconds))
    return spent

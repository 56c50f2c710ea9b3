"""H at the SAMPLE nodes of the root's view, where the completions of the root are weighed."""

from __future__ import annotations

from typing import Any

from qdts.games.interface import UNKNOWN
from qdts.kernels import Ints, kernel
from qdts.pointers import moved
from qdts.search.beliefs.root import RootBeliefs
from qdts.search.forest.lanes.lane import ROOT, Lane, vector_of
from qdts.search.forest.lanes.scratch import PROBABILITY, scratch


@kernel()
def refine(game: Any, rules: Ints, lane: Lane, beliefs: RootBeliefs, s: int, node: int) -> None:
    """Replace H of a SAMPLE node of lane s, if it belongs to the root's view: by the weights of completions.

    Its evaluation is still in scratch. Where all weights are 0, H stays.
    """
    first, last = beliefs.start[s], beliefs.start[s + 1]
    if first == last or lane.tree[node] != ROOT:
        return
    vector, view = vector_of(lane, node), vector_of(lane, ROOT)
    for i in range(lane.size):
        if view[i] != UNKNOWN and vector[i] != view[i]:
            return
    mass, filled, total = scratch(lane, PROBABILITY), lane.vector_a, 0.0
    for k in range(lane.degree[node]):
        for i in range(lane.size):
            filled[i] = vector[i]
        game.fill(rules, filled, lane.hole[node], lane.choice[lane.first[node] + k])
        mass[k] = 0.0
        for m in range(first, last):
            world, agrees = moved(beliefs.worlds, m * lane.size), True
            for i in range(lane.size):
                agrees &= (filled[i] == UNKNOWN) | (filled[i] == world[i])
            if agrees:
                mass[k] += beliefs.weights[m]
        total += mass[k]
    if total > 0.0:
        for k in range(lane.degree[node]):
            lane.evaluation_prior[k] = mass[k] / total

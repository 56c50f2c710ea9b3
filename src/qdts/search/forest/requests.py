"""The queries of parked lanes, and their evaluations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.search.evaluation.batches import (
    ALL_WELL,
    OneByOne,
    accept,
    empty_evaluations,
    empty_queries,
    place,
    query_of,
)
from qdts.search.evaluation.evaluator import BatchEvaluator, Evaluations, Queries, Query
from qdts.search.forest.lanes.lane import ROW
from qdts.search.forest.lanes.layout import Forest


class Requests:
    """The queries of the lanes from `first` up to `last`, in the order of lanes, and their evaluations."""

    def __init__(self, game: Game, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.queries = empty_queries(game, last - first)
        self.evaluations = empty_evaluations(game, last - first)
        self.count = 0
        """How many queries there are: as many rows, from the first on."""
        self._game = game

    def close_ranks(self, forest: Forest, lanes: Sequence[int], counts: Sequence[int]) -> None:
        """Move queries together that were written in ranges, so many from the row of each of some lanes on."""
        self.count = 0
        for lane, count in zip(lanes, counts, strict=True):
            start = lane - self.first
            if start > self.count:
                for x in self.queries:
                    x[self.count : self.count + count] = x[start : start + count]
                moved = self.queries.lane[self.count : self.count + count]
                forest.registers[moved, ROW] -= start - self.count
            self.count += count

    def evaluate(self, forest: Forest, evaluator: BatchEvaluator | OneByOne) -> None:
        """Evaluate all queries; raises an InputError if one of the evaluations is not valid."""
        if self.count == 0:
            return
        queries, evaluations = self.queries, self.evaluations
        if self.count < len(queries.kind):
            queries = Queries._make([x[: self.count] for x in queries])
            evaluations = Evaluations._make([x[: self.count] for x in evaluations])
        evaluator.evaluate_batch(queries, evaluations)
        bad = int(accept(queries, evaluations, forest.state))
        if bad != ALL_WELL:
            raise self._no_evaluation(query_of(queries, bad), evaluations, bad)

    def _no_evaluation(self, query: Query, evaluations: Evaluations, row: int) -> InputError:
        count, where = len(query.choices), place(self._game, query)
        numbers = (evaluations.value[row], evaluations.children[row, :count], evaluations.prior[row, :count])
        if not all(np.isfinite(x).all() for x in numbers):
            return InputError(f"the evaluation at {where} holds a number that is not finite: {numbers}")
        return InputError(f"the evaluator's distribution at {where} is {numbers[2]}, expected one that sums to 1")

"""Beliefs that replace an evaluator's H (docs/search.md, *Beliefs*).

A belief weighs the completions of a view; H of a hole, given the holes that are filled, follows from the weights.
Tables have theirs compiled into the machine (`evaluation.table_beliefs`); for every other evaluator they are computed
here, once for each view.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.rng import State, seeded
from qdts.search.beliefs.completions import Completions, agree, completions
from qdts.search.beliefs.likelihoods import Step, history_of, likelihood, verify_replay
from qdts.search.evaluation.batches import as_queries, empty_evaluations, query_of, sample_query
from qdts.search.evaluation.builtin import Compiled
from qdts.search.evaluation.evaluator import (
    ACT,
    NOTHING,
    SAMPLE,
    BatchEvaluator,
    Evaluation,
    Evaluations,
    Evaluator,
    Queries,
    Query,
)
from qdts.search.options.variants import Belief
from qdts.search.roots import first_completion

MOST_PRIORS = 1 << 18
"""Distributions of P and H that are kept; all are dropped when there are more."""
MOST_NUMBERS = 1 << 24
"""Components of all completions that are kept, an eighth of a gigabyte; the view used longest ago is dropped first."""


class Way(NamedTuple):
    """The moves that a completion is weighed by."""

    player: int
    """Whose view it completes."""
    steps: Sequence[Step]
    turn: Step | None
    """The player's own move that they begin with, where H takes the place of all that was before."""


def with_belief(game: Game, evaluator: Evaluator, belief: Belief, turns: int = 1) -> Evaluator:
    """An evaluator with this belief in the place of its H; V, V_c and P stay its own.

    `turns` says how many of a player's own turns back `bayes` begins.
    """
    if belief == Belief.MODEL or not game.hidden:
        return evaluator
    if isinstance(evaluator, Compiled):
        refined = evaluator.believing(belief, turns)
        if refined is not None:
            return refined
    if isinstance(evaluator, BatchEvaluator):
        return BatchBeliefOverride(game, evaluator, belief, turns)
    return BeliefOverride(game, evaluator, belief, turns)


class BeliefOverride:
    """An evaluator whose H is replaced."""

    def __init__(self, game: Game, inner: Evaluator, belief: Belief, turns: int = 1) -> None:
        if belief in (Belief.BAYES, Belief.EXACT):
            verify_replay(game, belief)
        self.game, self.inner, self.belief, self.turns = game, inner, belief, turns
        self._known: OrderedDict[tuple[int, bytes], Completions] = OrderedDict()
        self._numbers = 0
        self._priors: dict[tuple[int, int, int, bytes], Reals] = {}
        """P and H of the inner evaluator, where they were needed."""

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The inner evaluator's evaluation, at SAMPLE nodes with this belief as the prior."""
        evaluation = self.inner.evaluate(query, state)
        return evaluation._replace(prior=self.h(query)) if query.kind == SAMPLE else evaluation

    def h(self, query: Query) -> Reals:
        """H of the hole of a query."""
        if self.belief == Belief.RULES:
            return query.weights.copy()
        if self.belief == Belief.HOLES:
            return np.full(len(query.choices), 1 / len(query.choices))
        worlds, weights = self.weighted_completions(query.vector, query.player)
        sums = np.array(
            [weights[agree(worlds, self.game.fill(query.vector, query.hole, int(x)))].sum() for x in query.choices]
        )
        return sums / sums.sum() if sums.sum() > 0.0 else query.weights.copy()

    def weighted_completions(self, vector: Ints, player: int) -> Completions:
        """The completions of the player's view, of which the vector may have filled some holes."""
        view = self._view(vector, player)
        key = player, view.tobytes()
        if key not in self._known:
            worlds, rules = completions(self.game, view)
            ways = [self._way(world, player) for world in worlds]
            self._prepare(way for way in ways if way is not None)
            weights = [self._weight(way, weight) for way, weight in zip(ways, rules.tolist(), strict=True)]
            self._known[key] = Completions(worlds, np.array(weights))
            self._numbers += worlds.size
            while self._numbers > MOST_NUMBERS and len(self._known) > 1:
                self._numbers -= self._known.popitem(last=False)[1].worlds.size
        self._known.move_to_end(key)
        return self._known[key]

    def _view(self, vector: Ints, player: int) -> Ints:
        world = first_completion(self.game, vector)
        assert world is not None
        return self.game.view(world, player)

    def _way(self, world: Ints, player: int) -> Way | None:
        """What a completion is weighed by; None where all count the same."""
        if self.belief == Belief.COMPLETIONS:
            return None
        steps = history_of(self.game, world)
        if self.belief == Belief.EXACT:
            return Way(player, steps, None)
        left = self.turns
        for k in reversed(range(len(steps))):
            before, mover, move = steps[k]
            if mover == player and not self.game.midway(self.game.step(before, move)):
                left -= 1
                if left == 0:
                    return Way(player, steps[k:], steps[k])
        return Way(player, steps, None)

    def _weight(self, way: Way | None, rules: float) -> float:
        """The weight of a completion; `rules` is the one by the rules."""
        if way is None:
            return 1.0
        weight = 1.0
        for query, true in self._holes(way):
            h = self._prior(query)[true]
            weight *= float(h / query.weights[true]) if self.game.weights == "chance" else float(h)
        return weight * likelihood(self.game, way.steps, way.player, self._policy, rules)

    def _holes(self, way: Way) -> Iterator[tuple[Query, int]]:
        """The SAMPLE nodes of the view at the turn that a way begins with, and which value of each is the true one.

        Where the rules' weights stand for chance, H is divided by them: they count all of chance later, and what was
        before that turn is in H.
        """
        if way.turn is None:
            return
        world, player, pending = way.turn
        vector = self.game.view(world, player)
        while self.game.hole(vector) != NO_HOLE:
            query = sample_query(self.game, vector, player, pending)
            below = [self.game.fill(vector, query.hole, int(x)) for x in query.choices]
            true = next(k for k in range(len(below)) if agree(world[None], below[k])[0])
            yield query, true
            vector = below[true]

    def _act(self, view: Ints, player: int) -> Query:
        """The ACT node of a view."""
        legal = self.game.legal(view)
        return Query(
            ACT, view, player, NOTHING, NO_HOLE, np.array(legal, np.int64), np.full(len(legal), 1 / len(legal))
        )

    def _policy(self, view: Ints, player: int) -> dict[int, float]:
        """P of the inner evaluator."""
        query = self._act(view, player)
        return dict(zip(query.choices.tolist(), self._prior(query).tolist(), strict=True))

    def _prior(self, query: Query) -> Reals:
        """The inner evaluator's prior, which does not advance the random stream of any search."""
        key = _key(query)
        if key not in self._priors:
            if len(self._priors) >= MOST_PRIORS:
                self._priors.clear()
            self._priors[key] = self.inner.evaluate(query, seeded(0)).prior
        return self._priors[key]

    def _prepare(self, ways: Iterable[Way]) -> None:
        """Evaluate what some ways need; here each when it is needed."""


class BatchBeliefOverride(BeliefOverride):
    """The same for an evaluator of many queries at once, such as networks: P and H of a view's past are one batch."""

    inner: BatchEvaluator

    def evaluate_batch(self, queries: Queries, evaluations: Evaluations) -> None:
        """Evaluate every query, with this belief as the prior of SAMPLE nodes."""
        self.inner.evaluate_batch(queries, evaluations)
        for row in np.flatnonzero(queries.kind == SAMPLE):
            query = query_of(queries, int(row))
            evaluations.prior[row, : len(query.choices)] = self.h(query)

    def _prepare(self, ways: Iterable[Way]) -> None:
        needed: dict[tuple[int, int, int, bytes], Query] = {}
        for way in ways:
            past = [query for query, _ in self._holes(way)]
            others = (step for step in way.steps if step.mover not in (CHANCE, way.player))
            past += [self._act(self.game.view(step.world, step.mover), step.mover) for step in others]
            needed |= {_key(query): query for query in past if _key(query) not in self._priors}
        if not needed:
            return
        if len(self._priors) + len(needed) > MOST_PRIORS:
            self._priors.clear()
        evaluations = empty_evaluations(self.game, len(needed))
        self.inner.evaluate_batch(as_queries(self.game, [*needed.values()], seeded(0)), evaluations)
        for row, (key, query) in enumerate(needed.items()):
            self._priors[key] = evaluations.prior[row, : len(query.choices)].copy()


def _key(query: Query) -> tuple[int, int, int, bytes]:
    return query.kind, query.player, query.pending, query.vector.tobytes()

"""Beliefs that replace an evaluator's H (docs/search.md, *Beliefs*).

A belief weighs the completions of a view; H of a hole, given the holes that are filled, follows from the weights.
Tables have theirs compiled into the machine (`evaluation.table_beliefs`); for every other evaluator they are computed
here, once for each view.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.rng import State, seeded
from qdts.search.beliefs.completions import Completions, agree, completions
from qdts.search.beliefs.likelihoods import history_of, likelihood, verify_replay
from qdts.search.evaluation.batches import sample_query
from qdts.search.evaluation.builtin import Compiled
from qdts.search.evaluation.evaluator import ACT, NOTHING, SAMPLE, Evaluation, Evaluator, Query
from qdts.search.options.variants import Belief
from qdts.search.roots import first_completion

MOST_NUMBERS = 1 << 24
"""Components of all completions that are kept, an eighth of a gigabyte; the view used longest ago is dropped first."""


def with_belief(game: Game, evaluator: Evaluator, belief: Belief) -> Evaluator:
    """An evaluator with this belief in the place of its H; V, V_c and P stay its own."""
    if belief == Belief.MODEL or not game.hidden:
        return evaluator
    if isinstance(evaluator, Compiled):
        refined = evaluator.believing(belief)
        if refined is not None:
            return refined
    return BeliefOverride(game, evaluator, belief)


class BeliefOverride:
    """An evaluator whose H is replaced."""

    def __init__(self, game: Game, inner: Evaluator, belief: Belief) -> None:
        if belief in (Belief.BAYES, Belief.EXACT):
            verify_replay(game, belief)
        self.game, self.inner, self.belief = game, inner, belief
        self._known: OrderedDict[tuple[int, bytes], Completions] = OrderedDict()
        self._numbers = 0

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
        world = first_completion(self.game, vector)
        assert world is not None
        view = self.game.view(world, player)
        key = player, view.tobytes()
        if key not in self._known:
            worlds, rules = completions(self.game, view)
            weights = [
                self._weight(world, weight, player) for world, weight in zip(worlds, rules.tolist(), strict=True)
            ]
            self._known[key] = Completions(worlds, np.array(weights))
            self._numbers += worlds.size
            while self._numbers > MOST_NUMBERS and len(self._known) > 1:
                self._numbers -= self._known.popitem(last=False)[1].worlds.size
        self._known.move_to_end(key)
        return self._known[key]

    def _weight(self, world: Ints, rules: float, player: int) -> float:
        """The weight of a completion; `rules` is the one by the rules."""
        if self.belief == Belief.COMPLETIONS:
            return 1.0
        steps, since, weight = history_of(self.game, world), 0, 1.0
        if self.belief == Belief.BAYES:
            for k in reversed(range(len(steps))):
                before, mover, move = steps[k]
                if mover == player and not self.game.midway(self.game.step(before, move)):
                    since, weight = k, self._h_of_world(before, player, move)
                    break
        return weight * likelihood(self.game, steps[since:], player, self._policy, rules)

    def _h_of_world(self, world: Ints, player: int, pending: int) -> float:
        """The inner H of a world at its owner's turn, the product along the holes.

        Where the rules' weights stand for chance, H is divided by them: they count all of chance later, and what was
        before that turn is in H.
        """
        vector, weight = self.game.view(world, player), 1.0
        while self.game.hole(vector) != NO_HOLE:
            query = sample_query(self.game, vector, player, pending)
            h = self._evaluate(query).prior
            below = [self.game.fill(vector, query.hole, int(x)) for x in query.choices]
            true = next(k for k in range(len(below)) if agree(world[None], below[k])[0])
            weight *= float(h[true] / query.weights[true]) if self.game.weights == "chance" else float(h[true])
            vector = below[true]
        return weight

    def _policy(self, view: Ints, player: int) -> dict[int, float]:
        """P of the inner evaluator."""
        legal = self.game.legal(view)
        uniform = np.full(len(legal), 1 / len(legal))
        evaluation = self._evaluate(Query(ACT, view, player, NOTHING, NO_HOLE, np.array(legal, np.int64), uniform))
        return dict(zip(legal, evaluation.prior.tolist(), strict=True))

    def _evaluate(self, query: Query) -> Evaluation:
        """The inner evaluation, which does not advance the random stream of any search."""
        return self.inner.evaluate(query, seeded(0))

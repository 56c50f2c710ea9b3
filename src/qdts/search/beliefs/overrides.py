"""What takes the place of an evaluator's H (docs/search.md, *Beliefs*).

A belief weighs the completions of a view; H of a hole, some others being filled, follows from the weights. Tables have
theirs compiled into the machine (`refinement`); for every other evaluator this is done here, once for each view.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.rng import State, seeded
from qdts.search.beliefs.completions import agree, completions
from qdts.search.beliefs.likelihoods import likelihood, verify_replay, way_to
from qdts.search.evaluation.batches import sample_query
from qdts.search.evaluation.builtin import Compiled
from qdts.search.evaluation.evaluator import ACT, NOTHING, SAMPLE, Evaluation, Evaluator, Query
from qdts.search.options.variants import Belief
from qdts.search.roots import completed

MOST_NUMBERS = 1 << 24
"""Slots of all completions that are kept, an eighth of a gigabyte; what was not asked for longest is forgotten."""


def with_belief(game: Game, evaluator: Evaluator, belief: Belief) -> Evaluator:
    """An evaluator with this belief in the place of its H; V, V_c and P stay its own."""
    if belief == "model" or not game.hidden:
        return evaluator
    if isinstance(evaluator, Compiled):
        refined = evaluator.believing(belief)
        if refined is not None:
            return refined
    return Believing(game, evaluator, belief)


class Weighed(NamedTuple):
    """The completions of a view and their weights."""

    worlds: Ints  # [n, W]
    weights: Reals  # [n]


class Believing:
    """An evaluator whose H is replaced."""

    def __init__(self, game: Game, inner: Evaluator, belief: Belief) -> None:
        if belief in ("bayes", "exact"):
            verify_replay(game, belief)
        self.game, self.inner, self.belief = game, inner, belief
        self._weighed: OrderedDict[tuple[int, bytes], Weighed] = OrderedDict()
        self._numbers = 0

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The inner evaluator's answer, at SAMPLE nodes with this belief as the prior."""
        evaluation = self.inner.evaluate(query, state)
        return evaluation._replace(prior=self.h(query)) if query.kind == SAMPLE else evaluation

    def h(self, query: Query) -> Reals:
        """H of the hole of a query."""
        if self.belief == "rules":
            return query.weights.copy()
        if self.belief == "holes":
            return np.full(len(query.choices), 1 / len(query.choices))
        worlds, weights = self.weighed(query.vector, query.player)
        sums = np.array(
            [weights[agree(worlds, self.game.fill(query.vector, query.hole, int(x)))].sum() for x in query.choices]
        )
        return sums / sums.sum() if sums.sum() > 0.0 else query.weights.copy()

    def weighed(self, vector: Ints, player: int) -> Weighed:
        """The completions of the player's view, some holes of which a vector fills."""
        world = completed(self.game, vector)
        assert world is not None
        view = self.game.view(world, player)
        key = player, view.tobytes()
        if key not in self._weighed:
            worlds, rules = completions(self.game, view)
            weights = [self._weight(*way, player) for way in zip(worlds, rules.tolist(), strict=True)]
            self._weighed[key] = Weighed(worlds, np.array(weights))
            self._numbers += worlds.size
            while self._numbers > MOST_NUMBERS and len(self._weighed) > 1:
                self._numbers -= self._weighed.popitem(last=False)[1].worlds.size
        self._weighed.move_to_end(key)
        return self._weighed[key]

    def _weight(self, world: Ints, rules: float, player: int) -> float:
        """The weight of a completion; `rules` is the one by the rules."""
        if self.belief == "completions":
            return 1.0
        steps, since, held = way_to(self.game, world), 0, 1.0
        if self.belief == "bayes":
            for k in reversed(range(len(steps))):
                before, mover, move = steps[k]
                if mover == player and not self.game.midway(self.game.step(before, move)):
                    since, held = k, self._held(before, player, move)
                    break
        return held * likelihood(self.game, steps[since:], player, self._policy, rules)

    def _held(self, world: Ints, player: int, pending: int) -> float:
        """What the inner H gives to a world at its owner's turn, the product along the holes.

        Where the rules' weights stand for chance, it is what H makes of them: they count for all chance, and what was
        before that turn is in H.
        """
        vector, weight = self.game.view(world, player), 1.0
        while self.game.hole(vector) != NO_HOLE:
            query = sample_query(self.game, vector, player, pending)
            h = self._ask(query).prior
            below = [self.game.fill(vector, query.hole, int(x)) for x in query.choices]
            true = next(k for k in range(len(below)) if agree(world[None], below[k])[0])
            weight *= float(h[true] / query.weights[true]) if self.game.weights == "chance" else float(h[true])
            vector = below[true]
        return weight

    def _policy(self, view: Ints, player: int) -> dict[int, float]:
        """P of the inner evaluator."""
        legal = self.game.legal(view)
        even = np.full(len(legal), 1 / len(legal))
        evaluation = self._ask(Query(ACT, view, player, NOTHING, NO_HOLE, np.array(legal, np.int64), even))
        return dict(zip(legal, evaluation.prior.tolist(), strict=True))

    def _ask(self, query: Query) -> Evaluation:
        """An answer that does not move the stream of any search."""
        return self.inner.evaluate(query, seeded(0))

"""Evaluators in plain Python, for tests."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from qdts.games import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints
from qdts.rng import State
from qdts.search.evaluation import evaluator as kinds
from qdts.search.evaluation.evaluator import Evaluation, Evaluator, Query
from search.stream import number
from solving.naive import Strategy, branches, expected_return


def width(game: Game) -> int:
    """K: how many values a node has."""
    return 1 if game.hidden else game.players


class Uniform:
    """It knows nothing: P uniform, H by the rules, every value 0, or midway between the bounds where sums are not 0."""

    def __init__(self, game: Game) -> None:
        self.width = width(game)
        self.value = 0.0 if game.zero_sum else (game.min_return + game.max_return) / 2

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        values = np.full((1 + len(query.choices), self.width), self.value)
        return Evaluation(values[0], values[1:], query.weights.copy())


class Hashed:
    """Anything, but the same for the same query: all numbers follow from a hash of it.

    Among four evaluations one has a uniform prior, one a prior with zeros, and one equal values below: ties occur.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self.width, self.seed = width(game), seed
        self.low, self.high = game.min_return, game.max_return

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        key = np.array([query.kind, query.player, query.pending, self.seed], np.int64)
        digest = blake2b(key.tobytes() + query.vector.tobytes(), digest_size=8).digest()
        numbers = np.random.default_rng(int.from_bytes(digest, "little"))
        values = numbers.uniform(self.low, self.high, (1 + len(query.choices), self.width))
        prior = numbers.uniform(0.01, 1.0, len(query.choices))
        case = numbers.integers(4)
        if case == 0:
            prior[:] = 1.0
        elif case == 1:
            prior[numbers.uniform(size=len(prior)) < 0.5] = 0.0
            prior[numbers.integers(len(prior))] = 1.0
        elif case == 2:
            values[1:] = values[0]
        return Evaluation(values[0], values[1:], prior / prior.sum())


class Drawing:
    """Another evaluator's evaluations, with V drawn from the stream: V shows when it was evaluated."""

    def __init__(self, game: Game, inner: Evaluator) -> None:
        self.inner = inner
        self.low, self.range = game.min_return, game.max_return - game.min_return

    def evaluate(self, query: Query, state: State) -> Evaluation:
        evaluation = self.inner.evaluate(query, state)
        sampled = [self.low + self.range * number(state) for _ in evaluation.value]
        return evaluation._replace(value=np.array(sampled))


class Exact:
    """The truth when everyone plays one strategy, by enumeration: P, the beliefs that follow from it, and all values.

    V of a world in which its owner does not move is the expectation of V at their next view, as the merge of ACT nodes
    over worlds has it. The strategy must reach every view. For small games that hide something.
    """

    def __init__(self, game: Game, strategy: Strategy) -> None:
        self.game, self.strategy = game, strategy
        self.worlds: list[tuple[Ints, float]] = []
        self._enumerate(game.initial(), 1.0)
        self.known: dict[tuple[int, bytes], float] = {}

    def _enumerate(self, world: Ints, reach: float) -> None:
        self.worlds.append((world, reach))
        for action, p in branches(self.game, world, self.strategy):
            self._enumerate(self.game.step(world, action), reach * p)

    def belief(self, vector: Ints, player: int) -> list[tuple[Ints, float]]:
        """The worlds that a view at its owner's turn, some holes filled, leaves possible, with their probabilities."""
        possible = []
        for world, reach in self.worlds:
            if self.game.mover(world) == player:
                seen = self.game.view(world, player)
                if (np.where(vector < 0, seen, world) == vector).all():
                    possible.append((world, reach))
        total = sum(reach for _, reach in possible)
        return [(world, reach / total) for world, reach in possible]

    def view_value(self, view: Ints, player: int) -> float:
        """What play from a view is worth to its owner."""
        key = player, view.tobytes()
        if key not in self.known:
            self.known[key] = sum(
                p * float(expected_return(self.game, self.strategy, world)[player])
                for world, p in self.belief(view, player)
            )
        return self.known[key]

    def world_value(self, world: Ints, player: int) -> float:
        """What a world is worth to a player who will judge it by their next view."""
        mover = self.game.mover(world)
        if mover == TERMINAL:
            return float(self.game.returns(world)[player])
        if mover == player:
            return self.view_value(self.game.view(world, player), player)
        after = branches(self.game, world, self.strategy)
        return sum(p * self.world_value(self.game.step(world, a), player) for a, p in after)

    def action_value(self, belief: list[tuple[Ints, float]], action: int, player: int) -> float:
        """What an action is worth under a belief."""
        return sum(p * self.world_value(self.game.step(world, action), player) for world, p in belief)

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        game, player, choices = self.game, query.player, [int(c) for c in query.choices]
        prior = query.weights.copy()
        if query.kind == kinds.ACT:
            belief = self.belief(query.vector, player)
            value = self.view_value(query.vector, player)
            below = [self.action_value(belief, a, player) for a in choices]
            policy = self.strategy(query.vector)
            prior = np.array([policy[a] for a in choices])
        elif query.kind == kinds.SAMPLE:
            belief = self.belief(query.vector, player)
            value = self.action_value(belief, query.pending, player)
            below = []
            for x in range(len(choices)):
                filled = game.fill(query.vector, query.hole, choices[x])
                held = [(w, p) for w, p in belief if w[query.hole] == filled[query.hole]]
                prior[x] = sum(p for _, p in held)
                below.append(self.action_value([(w, p / prior[x]) for w, p in held], query.pending, player))
        else:
            value = self.world_value(query.vector, player)
            below = [self.world_value(game.step(query.vector, c), player) for c in choices]
        return Evaluation(np.array([value]), np.array(below)[:, None], prior)


def mixed_strategy(game: Game, seed: int) -> Strategy:
    """A strategy that plays every action with some probability, different at every view."""

    def strategy(view: Ints) -> dict[int, float]:
        digest = blake2b(view.tobytes() + bytes([seed]), digest_size=8).digest()
        legal = game.legal(view)
        p = np.random.default_rng(int.from_bytes(digest, "little")).dirichlet(np.ones(len(legal)))
        return {a: 0.1 / len(legal) + 0.9 * float(x) for a, x in zip(legal, p, strict=True)}

    return strategy


class Written:
    """Evaluations written down by kind, player and pending action, for examples worked out by hand."""

    def __init__(self, evaluations: dict[tuple[int, int, int], tuple[float, list[float], list[float]]]) -> None:
        self.evaluations = evaluations

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        value, below, prior = self.evaluations[query.kind, query.player, query.pending]
        return Evaluation(np.array([value]), np.array(below)[:, None], np.array(prior))

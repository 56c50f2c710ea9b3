"""The evaluators that need no network: uniform, random playouts, and a table."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Self

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import FunctionPointer
from qdts.games.playouts import PLAYOUT, playout_of
from qdts.kernels import Ints, Reals, compiled
from qdts.rng import State
from qdts.search.evaluation.compiled import EVALUATED, PLAYOUTS, ROLLOUTS, TABLE, UNIFORM, evaluate_one
from qdts.search.evaluation.evaluator import KINDS, Evaluation, Query
from qdts.search.evaluation.policy_table import H_UNIFORM, PolicyTable, empty_policy_table, policy_table
from qdts.search.evaluation.rollouts import rollout_table
from qdts.search.evaluation.table_beliefs import table_with_belief
from qdts.search.options.options import Options
from qdts.search.options.packed import pack_options
from qdts.search.options.variants import Belief
from qdts.solving.policy.table import Policy


class Compiled:
    """An evaluator that the machine runs itself; from Python it answers a query at a time."""

    def __init__(self, game: Game, number: int, table: PolicyTable) -> None:
        self.game = game
        self.number = number
        self.table = table
        self.playout = playout_of(game) if number == PLAYOUTS else no_playout()
        self._packed = pack_options(game, Options())

    def believing(self, belief: Belief) -> Self | None:
        """The same evaluator with a belief in the place of its H, or None where it can't be compiled in."""
        if belief == "holes":
            return self._with(self.table._replace(h=np.array([H_UNIFORM])))
        return self if belief in ("model", "rules") else None

    def _with(self, table: PolicyTable) -> Self:
        other = copy(self)
        other.table = table
        return other

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """The answer to one query; what is random is drawn from `state`."""
        size, count = 1 if self.game.hidden else self.game.players, len(query.choices)
        value, children, prior = np.zeros(size), np.zeros((count, size)), query.weights.copy()
        scratch, width_ = np.zeros(self.game.world_size, np.int64), self.game.max_choices
        status = evaluate_one(
            self.game.kernels, self.playout, self.game.rules, self._packed, self.table, self.number, query.kind,
            query.vector,
            query.player, query.pending, query.hole, query.choices, state, value, children, prior, scratch,
            np.zeros(width_, np.int64), np.zeros(width_),
        )  # fmt: skip
        if status != EVALUATED:
            raise no_entry(self.game, query.kind, query.vector)
        return Evaluation(value, children, prior)


@cache
def no_playout() -> FunctionPointer:
    """What stands in the place of a game's playout where none will be asked for, so that none is compiled."""
    return FunctionPointer(_no_playout, PLAYOUT)


@compiled
def _no_playout(rules: Ints, world: Ints, actions: Ints, chances: Reals, state: State, utilities: Reals) -> int:
    return 0


def no_entry(game: Game, kind: int, vector: Ints) -> InputError:
    """The error for a node that a table does not know."""
    return InputError(f"{game.spec}: play never gets to the {KINDS[kind]} node {game.layout.write(vector)}")


class Uniform(Compiled):
    """P even, H as the rules' weights say, and every value the same."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, UNIFORM, empty_policy_table())


class Playouts(Compiled):
    """P even, H as the rules' weights say, V the return of one game: a random one, or one that a policy plays."""

    def __init__(self, game: Game, policy: Policy | None = None) -> None:
        super().__init__(game, PLAYOUTS if policy is None else ROLLOUTS, rollout_table(game, policy))
        self.policy = policy


class Table(Compiled):
    """P of a policy, and V, V_c and H that follow from it exactly, with errors on request.

    `value_noise` and `child_noise` are standard deviations in units of S; `belief_noise` is the L1 distance that H is
    off by, as far as that is possible. An error depends on the query and the seed alone.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        value_noise: float = 0.0,
        child_noise: float = 0.0,
        belief_noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        for name, noise in (("value_noise", value_noise), ("child_noise", child_noise), ("belief_noise", belief_noise)):
            if not 0.0 <= noise <= 2.0:
                raise InputError(f"{name}={noise} is not possible for a table, expected a number from 0 to 2")
        scale = pack_options(policy.game, Options()).scale
        super().__init__(
            policy.game, TABLE, policy_table(policy, (value_noise * scale, child_noise * scale, belief_noise), seed)
        )
        self.policy = policy
        self._believing: dict[Belief, Self] = {}

    def believing(self, belief: Belief) -> Self | None:
        """The same table with a belief in the place of its H; made once for each."""
        if belief == "model":
            return self
        if belief not in self._believing:
            self._believing[belief] = self._with(table_with_belief(self.policy, self.table, belief))
        return self._believing[belief]

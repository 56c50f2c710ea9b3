"""The evaluators that need no network: uniform, random playouts, and a table."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Self

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import FunctionPointer
from qdts.games.playouts import PLAYOUT, playout_of
from qdts.kernels import Ints, Reals, compiled
from qdts.rng import State
from qdts.search.evaluation.batches import as_queries, empty_evaluations
from qdts.search.evaluation.compiled import OUTSIDE, PLAYOUTS, ROLLOUTS, TABLE, UNIFORM, Model, evaluate_rows
from qdts.search.evaluation.evaluator import KINDS, Evaluation, Query
from qdts.search.evaluation.lookup import EVALUATED
from qdts.search.evaluation.policy_table import H_UNIFORM, PolicyTable, empty_policy_table, policy_table
from qdts.search.evaluation.rollouts import rollout_table
from qdts.search.evaluation.table_beliefs import table_with_belief
from qdts.search.options.options import Options
from qdts.search.options.packed import PackedOptions, pack_options
from qdts.search.options.variants import Belief
from qdts.solving.policy.table import Policy


class Compiled:
    """An evaluator that is compiled into the machine; Python code can evaluate single queries with it."""

    def __init__(self, game: Game, number: int, table: PolicyTable) -> None:
        self.game = game
        self.number = number
        self.table = table
        self._playout = playout_of(game) if number == PLAYOUTS else _no_playout()
        self._packed = pack_options(game, Options())

    def model(self, packed: PackedOptions) -> Model:
        """The evaluator as kernels take it, for a search with these options."""
        return Model(self.number, self.game.kernels, self.game.rules, self._playout, packed, self.table)

    def believing(self, belief: Belief, turns: int = 1) -> Self | None:  # noqa: ARG002
        """The same evaluator with a belief in the place of its H, or None where it can't be compiled in."""
        if belief == "holes":
            return self._with(self.table._replace(h=H_UNIFORM))
        return self if belief in ("model", "rules") else None

    def _with(self, table: PolicyTable) -> Self:
        other = copy(self)
        other.table = table
        return other

    def evaluate(self, query: Query, state: State) -> Evaluation:
        """Evaluate one node.

        Args:
            query: The node.
            state: The random stream that is drawn from, uint64[1]; it advances.

        Returns:
            The evaluation.

        Raises:
            InputError: If a table has no such node.
        """
        count = len(query.choices)
        queries, evaluations = as_queries(self.game, [query], state), empty_evaluations(self.game, 1)
        if evaluate_rows(self.model(self._packed), queries, evaluations) != EVALUATED:
            raise no_entry(self.game, query.kind, query.vector)
        state[:] = queries.state[0]
        return Evaluation(evaluations.value[0], evaluations.children[0, :count], evaluations.prior[0, :count])


def outside_model(game: Game, packed: PackedOptions) -> Model:
    """What kernels take where the evaluator is not compiled in."""
    return Model(OUTSIDE, game.kernels, game.rules, _no_playout(), packed, empty_policy_table())


@cache
def _no_playout() -> FunctionPointer:
    """Stands for a game's playout where none will be called, so that none is compiled."""
    return FunctionPointer(_play_nothing, PLAYOUT)


@compiled
def _play_nothing(rules: Ints, world: Ints, actions: Ints, chances: Reals, state: State, utilities: Reals) -> int:
    return 0


def no_entry(game: Game, kind: int, vector: Ints) -> InputError:
    """The error for a node that a table does not have."""
    return InputError(f"{game.spec}: play never gets to the {KINDS[kind]} node {game.layout.write(vector)}")


class Uniform(Compiled):
    """P uniform, H as the rules' weights say, and every value that of a game about which nothing is known.

    Args:
        game: The game.

    Examples:
        >>> from qdts import load_game
        >>> from qdts.search.evaluation.evaluator import ACT, NOTHING, Query
        >>> import numpy as np
        >>> game = load_game("kuhn_poker")
        >>> view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
        >>> query = Query(ACT, view, 0, NOTHING, -1, np.array([0, 1]), np.full(2, 0.5))
        >>> Uniform(game).evaluate(query, np.zeros(1, np.uint64)).prior.tolist()
        [0.5, 0.5]
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game, UNIFORM, empty_policy_table())


class Playouts(Compiled):
    """P uniform, H as the rules' weights say, V the return of one game, random or played by a policy.

    Args:
        game: The game.
        policy: Plays the game of which V is the return; None: every action is as likely.

    Examples:
        >>> from qdts import load_game, read_search, run_searches
        >>> game = load_game("kuhn_poker")
        >>> view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
        >>> [result] = run_searches(game, [view], [0], read_search(game, "qdts"), 20, evaluator=Playouts(game))
        >>> int(result.visits.sum())
        20
    """

    def __init__(self, game: Game, policy: Policy | None = None) -> None:
        super().__init__(game, PLAYOUTS if policy is None else ROLLOUTS, rollout_table(game, policy))
        self.policy = policy


class Table(Compiled):
    """P of a policy, and V, V_c and H that follow from it exactly, with errors on request.

    An error depends on the query and the seed alone.

    Args:
        policy: The policy.
        value_noise: The standard deviation of an error of V, in units of S, from 0 to 2.
        child_noise: The same for V_c.
        belief_noise: The L1 distance that H is off by, as far as that is possible, from 0 to 2.
        seed: Of the errors.

    Raises:
        InputError: If a noise is out of its range.

    Examples:
        >>> from qdts import load_game, read_search, run_searches, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> view = game.view(game.step(game.step(game.initial(), 0), 1), 0)
        >>> table = Table(uniform_policy(game), value_noise=0.1)
        >>> [result] = run_searches(game, [view], [0], read_search(game, "qdts"), 20, evaluator=table)
        >>> result.prior.tolist()
        [0.5, 0.5]
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
        scale = policy.game.scale
        super().__init__(
            policy.game, TABLE, policy_table(policy, (value_noise * scale, child_noise * scale, belief_noise), seed)
        )
        self.policy = policy
        self._believing: dict[tuple[Belief, int], Self] = {}

    def believing(self, belief: Belief, turns: int = 1) -> Self | None:
        """The same table with a belief in the place of its H; made once for each."""
        if belief == "model":
            return self
        if (belief, turns) not in self._believing:
            self._believing[belief, turns] = self._with(table_with_belief(self.policy, self.table, belief, turns))
        return self._believing[belief, turns]

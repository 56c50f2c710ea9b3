"""A policy as a table: for every view at which a player moves, the probability of each legal action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.hashing import FREE, find_rows
from qdts.kernels import Ints, Reals
from qdts.solving.tree.arrays import GameTree

SUM_TOLERANCE = 1e-6
"""Probabilities may miss a sum of 1 by so much."""


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities of actions by view.

    A policy is called with a view and gives the probability of each legal action there:

    Examples:
        >>> from qdts import load_game, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> policy = uniform_policy(game)
        >>> len(policy)
        12
        >>> policy(policy.views[0])
        {0: 0.5, 1: 0.5}
    """

    game: Game
    views: Ints
    """int64[I, W] the views, each at its owner's turn"""
    offset: NDArray[np.int32]
    """int32[I + 1] the actions of view i are entries offset[i] to offset[i + 1]"""
    action: NDArray[np.int32]
    """int32[A] legal actions, ascending"""
    probability: Reals
    """float64[A]"""
    info: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: algorithm, iterations, NashConv, …"""

    def __len__(self) -> int:
        return len(self.views)

    def __call__(self, view: Ints) -> dict[int, float]:
        """The probability of each legal action at a view.

        Args:
            view: int64[W], as `game.view(world, player)` gives it.

        Returns:
            A probability for each legal action.

        Raises:
            InputError: The policy has no such view.
        """
        i = self._index.get(self.game.verify_vector(view).tobytes())
        if i is None:
            raise InputError(f"the policy for {self.game.spec} has no view {self.game.layout.write(view)}")
        of = slice(self.offset[i], self.offset[i + 1])
        return dict(zip(self.action[of].tolist(), self.probability[of].tolist(), strict=True))

    @cached_property
    def _index(self) -> dict[bytes, int]:
        index: dict[bytes, int] = {}
        for i, view in enumerate(np.ascontiguousarray(self.views)):
            index.setdefault(view.tobytes(), i)
        return index


def policy_on(tree: GameTree, probability: Reals, **info: Any) -> Policy:
    """A policy from probabilities in the order of a tree's information sets."""
    sets = tree.infosets
    return Policy(tree.game, sets.views, sets.offset, sets.action, probability, info)


def uniform(tree: GameTree) -> Reals:
    """The uniform policy on a tree: one over the number of legal actions. float64[A]"""
    counts = np.diff(tree.infosets.offset)
    return np.repeat(1.0 / counts, counts)


def verify_game(policy: Policy, game: Game) -> None:
    """Raise an InputError unless a policy is for this game."""
    if policy.game is not game and (policy.game.spec, policy.game.version) != (game.spec, game.version):
        raise InputError(
            f"the policy is for {policy.game.spec} version {policy.game.version}, "
            f"expected {game.spec} version {game.version}"
        )


def aligned(tree: GameTree, policy: Policy) -> Reals:
    """A policy's probabilities in the order of a tree's information sets."""
    verify_game(policy, tree.game)
    sets = tree.infosets
    if policy.views is sets.views:
        return policy.probability
    return probabilities_at(policy, sets.views, sets.offset, sets.action)


def probabilities_at(
    policy: Policy,
    views: Ints,
    offset: NDArray[np.int32],
    action: NDArray[np.integer[Any]],
    table: NDArray[np.int32] | None = None,
) -> Reals:
    """A policy's probabilities at views [n, W], whose legal actions are entries offset[i] to offset[i + 1] of `action`.

    Who calls it many times gives the hash table of the policy's views (`hashing.index_rows`).
    """
    rows = find_rows(policy.views, views, table)
    if (rows == FREE).any():
        missing = views[int(np.argmax(rows == FREE))]
        raise InputError(f"the policy for {policy.game.spec} lacks the view {policy.game.layout.write(missing)}")
    counts = np.diff(offset)
    take = np.repeat(policy.offset[rows] - offset[:-1], counts) + np.arange(len(action))
    if (np.diff(policy.offset)[rows] != counts).any() or (policy.action[take] != action).any():
        raise InputError(f"the policy for {policy.game.spec} has other legal actions than the game")
    return policy.probability[take]

"""Tables of large games: every view of every player, found by sweeps without holding all histories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.solving.policy.function import PolicyFunction, evaluate_function, uniform_probabilities
from qdts.solving.policy.table import Policy
from qdts.solving.sweep.expansion import group_views
from qdts.solving.sweep.progress import DEFAULT_MEMORY, SweepReport
from qdts.solving.sweep.view_sweep import Sweep

BATCH = 1 << 14
"""Views that a policy function evaluates at once."""


def tabulate(
    game: Game,
    function: PolicyFunction = uniform_probabilities,
    *,
    memory: int = DEFAULT_MEMORY,
    report: SweepReport | None = None,
) -> Policy:
    """A policy function as a table over all views of a game."""
    kept: list[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]] = []
    for player in range(game.players):
        listing = _Listing(game, player, memory, report)
        listing.run()
        kept += listing.kept
    views, counts, action = (np.concatenate(each) for each in zip(*kept, strict=True))
    offset = np.r_[0, np.cumsum(counts)].astype(np.int32)
    batches = (slice(i, i + BATCH) for i in range(0, len(views), BATCH))
    probability = np.concatenate([evaluate_function(game, function, views[b], counts[b]) for b in batches])
    return Policy(game, views, offset, action, probability)


class _Listing(Sweep):
    """A sweep that keeps every view of its player, with its actions."""

    def __init__(self, game: Game, player: int, memory: int, report: SweepReport | None) -> None:
        super().__init__(game, uniform_probabilities, player, memory, report)
        self.kept: list[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]] = []

    def _fold(self, first: int, end: int, low: float, high: float) -> None:
        game, stack = self.game, self.stack
        views = group_views(game.kernels, game.rules, stack, self.player, first, end)
        branches = slice(stack.branch[first], stack.branch[end - 1] + stack.actions[end - 1])
        self.kept.append((views, stack.actions[first:end].copy(), stack.action[branches].copy()))
        super()._fold(first, end, low, high)

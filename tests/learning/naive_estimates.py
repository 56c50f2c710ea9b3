"""Means over the views of sampled games with numpy, a formula at a time: what the compiled ones are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.learning.selfplay.sampling import Level
from qdts.learning.targets.estimates import Estimates, Views


def views_of_movers(game: Game, levels: Sequence[Level], estimates: Sequence[Estimates]) -> Views:
    """The values of all views at which a player moved."""
    parts: list[tuple[NDArray[Any], ...]] = []
    for level, found in zip(levels, estimates, strict=True):
        for player in range(game.players):
            own = np.flatnonzero(level.mover == player)
            if not len(own):
                continue
            seen, who = batch.views(game, level.world[own], player), np.full(len(own), player)
            times, w = level.times[own], level.weight(own, player)
            each = np.where(level.taken[own] > 0, w[:, None] / np.maximum(level.sampled[own], 1e-300), 0.0)
            parts.append((seen, who, level.degree[own], level.policy[own], found.value[own, player],
                          found.action[own, :, player], found.child[own, :, player], level.taken[own] * each,
                          times, times * w, level.children[own, :, player]))  # fmt: skip
    view, player_, degree, policy, value, action, after, taking, times_, weight, guess = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    which, first = distinct_rows(np.column_stack([player_, view]))
    mean = _Means(which, len(first))
    legal = np.arange(action.shape[1]) < degree[first, None]
    q = np.where(legal, mean.of(action, weight), 0.0)
    far = np.where(legal, mean.of((action - q[which]) ** 2, weight), 0.0)
    squares = mean.total(weight**2 / times_)
    return Views(
        view=view[first],
        player=player_[first],
        degree=degree[first],
        policy=policy[first],
        value=mean.of(value, weight),
        action=q,
        child=mean.of(after, taking),
        took=(mean.total(taking) > 0.0).astype(np.float64),
        times=mean.total(times_.astype(np.float64)),
        worth=mean.total(weight) ** 2 / np.where(squares > 0.0, squares, 1.0),
        variance=far.sum(1) / degree[first],
        residual=np.where(legal, mean.of((action - guess) ** 2, weight), 0.0).sum(1) / degree[first],
    )


class _Means(NamedTuple):
    """Sums and means over groups."""

    which: Ints
    """The group of each entry."""
    groups: int
    """How many there are."""

    def total(self, x: Reals) -> Reals:
        """The sum of each group."""
        if x.ndim == 1:
            return np.bincount(self.which, x, self.groups).astype(np.float64)
        return np.column_stack([np.bincount(self.which, column, self.groups) for column in x.T])

    def of(self, x: Reals, weight: Reals) -> Reals:
        """The weighted mean of each group, 0 where all weights are."""
        wide = weight if weight.ndim == x.ndim else weight[:, None]
        total = self.total(weight)
        total = total if total.ndim == x.ndim else total[:, None]
        return np.where(total > 0.0, self.total(x * wide) / np.where(total > 0.0, total, 1.0), 0.0)


def residual(levels: Sequence[Level], estimates: Sequence[Estimates]) -> float:
    """The mean square of û after a move minus V_c of it, over all moves of players and all players."""
    total, count = 0.0, 0.0
    for level, found in zip(levels, estimates, strict=True):
        taken = np.where((level.mover != TERMINAL)[:, None], level.taken, 0)
        total += float((taken[:, :, None] * (found.child - level.children) ** 2).sum())
        count += float(taken.sum()) * level.children.shape[2]
    return total / max(count, 1.0)

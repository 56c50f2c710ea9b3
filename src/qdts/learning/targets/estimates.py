"""What P is worth: estimates of every player's values from sampled games (doubly robust, Jiang and Li 2016).

With V_c as a first guess, a history h that n games share, n_a of which took choice a, and P as the rules' probability
where chance moves:

    û(h) = the return where the game is over, else Σ_a P(a) q̂(h, a)
    q̂(h, a) = V_c(h, a) + n_a / (n μ(a)) · (û(ha) − V_c(h, a))

The mean of n_a is n μ(a), so û(h) is unbiased whatever V_c is. The better V_c, the less it varies; where many games
share a history it varies little in any case. A view's values are the means over its histories, each with the number
of its games times the weight w of its owner (`selfplay/sampling.py`):

    Q(a) = Σ n w q̂(h, a) / Σ n w

`value.baseline` puts something else in the place of V_c: V of each child, or 0 where chance moves, or 0 everywhere.
With 0 q̂ is the plain importance-weighted outcome, and û after chance the mean over the outcomes that occurred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, Reals32
from qdts.learning.nodes.nodes import unique_rows
from qdts.learning.selfplay.sampling import Level


class Estimates(NamedTuple):
    """The estimates at the histories of one level."""

    value: Reals  # [N, P] û
    action: Reals32  # [N, B, P] q̂
    child: Reals32  # [N, B, P] û of the history after each choice that a game took, else 0


class Guessed(NamedTuple):
    """Where V_c is the first guess; elsewhere it is 0."""

    actions: bool = True
    """Where players move."""
    chance: bool = True
    """Where chance moves: then its luck is corrected for (CV, idea 4)."""


EVERYWHERE = Guessed()
BASELINES: Mapping[str, Guessed] = {
    "children": EVERYWHERE,
    "evaluated": EVERYWHERE,
    "actions": Guessed(chance=False),
    "none": Guessed(actions=False, chance=False),
}
"""Where V_c, or what was evaluated in its place, is the first guess, by the setting `value.baseline`."""


def estimate(levels: Sequence[Level], guessed: Guessed = EVERYWHERE) -> list[Estimates]:
    """The estimates at all levels of some sampled games, from the last level to the first."""
    found: list[Estimates] = []
    after: tuple[Level, Estimates] | None = None
    for level in reversed(levels):
        child = np.zeros_like(level.children)
        if after is not None:
            child[after[0].parent, after[0].column] = after[1].value
        took = level.taken > 0
        share = np.where(took, level.taken / np.maximum(level.times[:, None] * level.sampled, 1e-300), 0.0)
        guess = level.children * np.where(level.mover >= 0, *guessed).astype(np.float32)[:, None, None]
        action = guess + share[:, :, None] * np.where(took[:, :, None], child - guess, 0.0)
        value = level.returns + np.einsum("nb,nbp->np", level.policy, action)
        after = level, Estimates(value, action.astype(np.float32), child)
        found.append(after[1])
    return found[::-1]


class Views(NamedTuple):
    """Every different view of the players who moved; I counts them."""

    view: Ints  # [I, W]
    player: Ints  # [I]
    degree: Ints  # [I]
    policy: Reals  # [I, B] P
    value: Reals  # [I] V
    action: Reals  # [I, B] Q
    child: Reals  # [I, B] the mean of û after each action over the games that took it
    took: Reals  # [I, B] 1 where some did
    times: Reals  # [I] how many games came there

    def take(self, which: Ints) -> Views:
        """Some of them."""
        return Views._make(column[which] for column in self)


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
                          times, times * w))  # fmt: skip
    view, player_, degree, policy, value, action, after, taking, times_, weight = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    first, which = unique_rows(np.column_stack([player_, view]))
    mean = _Means(which, len(first))
    return Views(
        view=view[first],
        player=player_[first],
        degree=degree[first],
        policy=policy[first],
        value=mean.of(value, weight),
        action=mean.of(action, weight),
        child=mean.of(after, taking),
        took=(mean.total(taking) > 0.0).astype(np.float64),
        times=mean.total(times_.astype(np.float64)),
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


def spread(levels: Sequence[Level], estimates: Sequence[Estimates]) -> float:
    """σ: how far apart the values of a player's actions lie, if they knew the world; root mean square.

        σ² = Σ n w Var_a x(h, a) / Σ n w,      x(h, a) = û(ha) where a game took a, else V_c(h, a)

    over the histories h at which a player has several actions, Var_a over these. It says how much is at stake in a
    decision. In a view's Q worlds cancel out, and at a mixed equilibrium all of it may: that is no unit to step by.
    0 where nobody has a choice.
    """
    total, weights = 0.0, 0.0
    for level, found in zip(levels, estimates, strict=True):
        own = np.flatnonzero((level.mover >= 0) & (level.degree > 1))
        player, degree = level.mover[own], level.degree[own]
        rows = np.arange(len(own))
        x = np.where(level.taken[own] > 0, found.child[own][rows, :, player], level.children[own][rows, :, player])
        legal = np.arange(x.shape[1]) < degree[:, None]
        mean = np.where(legal, x, 0.0).sum(1) / degree
        variance = (np.where(legal, x - mean[:, None], 0.0) ** 2).sum(1) / degree
        ratio = level.log_ratio[own]
        weight = level.times[own] * np.exp(ratio.sum(1) - ratio[rows, player])
        total += float((weight * variance).sum())
        weights += float(weight.sum())
    return float(np.sqrt(total / weights)) if weights > 0.0 else 0.0

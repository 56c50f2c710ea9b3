"""What P is worth: estimates of every player's values from sampled games (doubly robust, Jiang and Li 2016).

With V_c as a first guess, a history h that n games share, n_a of which took choice a, and P as the rules' probability
where chance moves:

    û(h) = the return where the game is over, else Σ_a P(a) q̂(h, a)
    q̂(h, a) = V_c(h, a) + n_a / (n μ(a)) · (û(ha) − V_c(h, a))

The mean of n_a is n μ(a), so û(h) is unbiased whatever V_c is. The better V_c, the less it varies; where many games
share a history it varies little in any case. A view's values are the means over its histories, each with the number
of its games times the weight w of its owner (`selfplay/sampling.py`):

    Q(a) = Σ n w q̂(h, a) / Σ n w

That is worth as much as N = (Σ n w)² / Σ n w² games of equal weight (Kish 1965).

`value.baseline` puts something else in the place of V_c: V of each child, or 0 where chance moves, or 0 everywhere.
With 0 q̂ is the plain importance-weighted outcome, and û after chance the mean over the outcomes that occurred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals, Reals32
from qdts.learning.nodes.nodes import views_of
from qdts.learning.selfplay.sampling import Level
from qdts.solving.sampled_games import add_residual, add_spread, add_views, back_up


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
    none = np.zeros(0, np.int64)
    parent, column, value = none, none, np.zeros((0, levels[0].returns.shape[1]))
    for level in reversed(levels):
        child, action = np.zeros_like(level.children), np.empty_like(level.children)
        after, value = value, level.returns.copy()
        back_up(
            parent, column, after, level.mover, level.times, level.policy, level.sampled, level.taken, level.children,
            guessed.actions, guessed.chance, value, action, child,
        )  # fmt: skip
        found.append(Estimates(value, action, child))
        parent, column = level.parent, level.column
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
    worth: Reals  # [I] N: how many games of equal weight would be worth as much
    variance: Reals  # [I] v: the variance of q̂ over the histories, mean over actions
    residual: Reals  # [I] r: the mean square of q̂ − V_c over the histories, mean over actions

    def take(self, which: Ints) -> Views:
        """Some of them."""
        return Views._make(column[which] for column in self)


def views_of_movers(game: Game, levels: Sequence[Level], estimates: Sequence[Estimates]) -> Views:
    """The values of all views at which a player moved."""
    rows = [np.flatnonzero(level.mover >= 0) for level in levels]
    player = np.concatenate([level.mover[own] for level, own in zip(levels, rows, strict=True)])
    view = views_of(game, np.concatenate([level.world[own] for level, own in zip(levels, rows, strict=True)]), player)
    which, first = distinct_rows(np.column_stack([player, view]))
    size = (len(first), levels[0].policy.shape[1])
    degree, times, weight, value, square, off = np.zeros(len(first), np.int64), *np.zeros((5, len(first)))
    policy, action, squares, taking, child = np.zeros((5, *size))
    at = 0
    for level, found, own in zip(levels, estimates, rows, strict=True):
        add_views(
            own, which[at : at + len(own)], level.mover, level.times, level.log_ratio, level.degree, level.policy,
            level.sampled, level.taken, found.value, found.action, found.child,
            degree, times, weight, value, square, policy, action, squares, taking, child, level.children, off,
        )  # fmt: skip
        at += len(own)
    took = taking > 0.0
    worth = weight**2 / np.where(square > 0.0, square, 1.0)
    weight = np.where(weight > 0.0, weight, 1.0)
    action = action / weight[:, None]
    variance = np.maximum(squares / weight[:, None] - action**2, 0.0).sum(1) / degree
    return Views(
        view=view[first],
        player=player[first],
        degree=degree,
        policy=policy,
        value=value / weight,
        action=action,
        child=child / np.where(took, taking, 1.0),
        took=took.astype(np.float64),
        times=times,
        worth=worth,
        variance=variance,
        residual=off / weight,
    )


def noise(views: Views) -> float:
    """s: how far the estimate from one game lies from its view's Q; root mean square.

        s² = (Σ N v + Σ' r) / (Σ (N − 1) + Σ' 1)

    Σ is over the views with N > 1. A view that one game met tells nothing by itself (Σ'): V_c stands for its Q.
    """
    several = views.worth > 1.0
    square = (views.worth * views.variance)[several].sum() + views.residual[~several].sum()
    count = (views.worth[several] - 1.0).sum() + (~several).sum()
    return float(np.sqrt(square / count)) if count > 0.0 else 0.0


def spread(levels: Sequence[Level], estimates: Sequence[Estimates]) -> float:
    """σ: how far apart the values of a player's actions lie, if they knew the world; root mean square.

        σ² = Σ n w Var_a x(h, a) / Σ n w,      x(h, a) = û(ha) where a game took a, else V_c(h, a)

    over the histories h at which a player has several actions, Var_a over these. It says how much is at stake in a
    decision. In a view's Q worlds cancel out, and at a mixed equilibrium all of it may: that is no unit to step by.
    0 where nobody has a choice.
    """
    total = np.zeros(2)
    for level, found in zip(levels, estimates, strict=True):
        add_spread(
            level.mover, level.times, level.log_ratio, level.degree, level.taken, level.children, found.child, total
        )
    return float(np.sqrt(total[0] / total[1])) if total[1] > 0.0 else 0.0


def residual(levels: Sequence[Level], estimates: Sequence[Estimates]) -> float:
    """The mean square of û after a move minus V_c of it, over all moves, those of chance included, and all players."""
    total = np.zeros(2)
    for level, found in zip(levels, estimates, strict=True):
        add_residual(level.taken, level.children, found.child, total)
    return float(total[0] / max(total[1], 1.0))

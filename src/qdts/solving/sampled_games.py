"""Compiled loops over the histories of sampled games; `docs/learning.md` has their formulas.

N counts the histories of a level, B the choices of one, at most, P players, I views. They stand here, and not where
games are sampled and values estimated, so that a change of learning does not compile them anew.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int64, void

from qdts.kernels import Ints, Reals, Reals32, kernel


@kernel(
    void(
        int64[::1], int64[::1], int64[::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], int64[:, ::1]
    )
)  # fmt: skip
def choose_actions(
    times: Ints, mover: Ints, degree: Ints, policy: Reals, explore: Reals, u: Reals, sampled: Reals, taken: Ints
) -> None:
    """Write μ, and how many games take each choice; `explore` is e of each row, and u from [0, 1).

    The first k choices together take ⌊n (μ₁ + … + μ_k) + u⌋ of n games, and all of them n.
    """
    for row in range(len(times)):
        count, e = degree[row], explore[row] if mover[row] >= 0 else 0.0
        total, last = 0.0, 0
        for a in range(count):
            sampled[row, a] = (1.0 - e) * policy[row, a] + e / count
            total += sampled[row, a]
            if sampled[row, a] > 0.0:
                last = a
        reached, before = 0.0, 0
        for a in range(count):
            sampled[row, a] /= total
            reached += sampled[row, a]
            end = min(times[row], int(np.floor(times[row] * reached + u[row]))) if a < last else times[row]
            taken[row, a] = end - before
            before = end


@kernel(
    void(
        int64[::1], int64[::1], float64[:, ::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1],
        int64[:, ::1], float32[:, :, ::1], boolean, boolean, float64[:, ::1], float32[:, :, ::1], float32[:, :, ::1],
    )
)  # fmt: skip
def back_up(
    parent: Ints, column: Ints, after: Reals, mover: Ints, times: Ints, policy: Reals, sampled: Reals, taken: Ints,
    children: Reals32, at_actions: bool, at_chance: bool, value: Reals, action: Reals32, child: Reals32,
) -> None:  # fmt: skip
    """Write the estimates of a level; `value` holds the returns before, `after` is û of the next level."""
    rows, width, players = children.shape
    for i in range(len(parent)):
        for p in range(players):
            child[parent[i], column[i], p] = after[i, p]
    for row in range(rows):
        trusted = np.float32(1.0 if (at_actions if mover[row] >= 0 else at_chance) else 0.0)
        for a in range(width):
            share = 0.0
            if taken[row, a] > 0:
                share = taken[row, a] / (times[row] * sampled[row, a])
            for p in range(players):
                guess = trusted * children[row, a, p]
                q = guess + share * (child[row, a, p] - guess)
                action[row, a, p] = q
                value[row, p] += policy[row, a] * q


@kernel()
def others_weight(log_ratio: Reals, row: int, player: int) -> float:
    """W of a history for a player: Π P(a) / μ(a) over the others' moves before it."""
    total = 0.0
    for other in range(log_ratio.shape[1]):
        if other != player:
            total += log_ratio[row, other]
    return float(np.exp(total))


@kernel(
    void(
        int64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], int64[::1], float64[:, ::1], float64[:, ::1],
        int64[:, ::1], float64[:, ::1], float32[:, :, ::1], float32[:, :, ::1], int64[::1], float64[::1], float64[::1],
        float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],
        float64[:, ::1], float32[:, :, ::1], float64[::1],
    )
)  # fmt: skip
def add_views(
    rows: Ints, which: Ints, mover: Ints, times: Ints, log_ratio: Reals, degree: Ints, policy: Reals, sampled: Reals,
    taken: Ints, value: Reals, action: Reals32, child: Reals32, its_degree: Ints, total_times: Reals,
    total_weight: Reals, total_value: Reals, total_square: Reals, its_policy: Reals, total_action: Reals,
    total_action_square: Reals, total_taking: Reals, total_child: Reals, children: Reals32, total_residual: Reals,
) -> None:  # fmt: skip
    """Add the rows of a level at which players move to the sums of their views."""
    for i in range(len(rows)):
        row, view = rows[i], which[i]
        player = mover[row]
        w = others_weight(log_ratio, row, player)
        its_degree[view] = degree[row]
        total_times[view] += times[row]
        total_weight[view] += times[row] * w
        total_value[view] += times[row] * w * value[row, player]
        total_square[view] += times[row] * w * w
        for a in range(degree[row]):
            its_policy[view, a] = policy[row, a]
            q = float(action[row, a, player])
            total_action[view, a] += times[row] * w * q
            total_action_square[view, a] += times[row] * w * q * q
            off = q - float(children[row, a, player])
            total_residual[view] += times[row] * w * off * off / degree[row]
            if taken[row, a] > 0:
                taking = taken[row, a] * w / sampled[row, a]
                total_taking[view, a] += taking
                total_child[view, a] += taking * child[row, a, player]


@kernel(
    void(
        int64[::1], int64[::1], float64[:, ::1], int64[::1], int64[:, ::1], float32[:, :, ::1], float32[:, :, ::1],
        float64[::1],
    )
)  # fmt: skip
def add_spread(
    mover: Ints, times: Ints, log_ratio: Reals, degree: Ints, taken: Ints, children: Reals32, child: Reals32,
    total: Reals,
) -> None:  # fmt: skip
    """Add Σ n w Var_a x and Σ n w of a level."""
    for row in range(len(mover)):
        player, count = mover[row], degree[row]
        if player < 0 or count < 2:
            continue
        mean = square = 0.0
        for a in range(count):
            x = float(child[row, a, player] if taken[row, a] > 0 else children[row, a, player])
            mean += x / count
            square += x * x / count
        w = times[row] * others_weight(log_ratio, row, player)
        total[0] += w * max(0.0, square - mean * mean)
        total[1] += w


@kernel(void(int64[:, ::1], float32[:, :, ::1], float32[:, :, ::1], float64[::1]))
def add_residual(taken: Ints, children: Reals32, child: Reals32, total: Reals) -> None:
    """Add Σ n_a (û − V_c)² and Σ n_a of a level."""
    rows, width, players = children.shape
    for row in range(rows):
        for a in range(width):
            if taken[row, a] > 0:
                for p in range(players):
                    total[0] += taken[row, a] * (child[row, a, p] - children[row, a, p]) ** 2
                total[1] += taken[row, a] * players

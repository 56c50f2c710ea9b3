"""The policy that a search plays: one search at every information set, all of them batched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.search.decision.result import Result
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.options.options import Options
from qdts.search.roots import verify_visits
from qdts.search.run import run_in_stages
from qdts.search.seeds import view_seed
from qdts.solving.measure import measure_policy
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree

BATCH = 128
"""Searches that run side by side at most; the trees of one batch are in memory at a time."""
BATCH_VISITS = 400_000
"""Visits that a batch makes at most, so that its trees stay within about a gigabyte."""

Report = Callable[[int, int], None]
"""Hears of views done and of all."""


@dataclass(frozen=True, eq=False)
class Found:
    """What searches at all information sets found after so many visits each. A counts actions as the tree does."""

    visits: int
    move: Reals
    """float64[A]: the distributions that moves are drawn from"""
    count: Ints
    """int64[A]: N"""
    q_lo: Reals
    q_hi: Reals
    """float64[A]: the interval of each action's value to the player who moves"""
    seconds: float
    """CPU time of all searches together, from their beginning."""


def search_everywhere(
    game: Game,
    options: Options,
    stages: Sequence[int],
    *,
    evaluator: Evaluator | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report | None = None,
) -> list[Found]:
    """A search at every view where a player moves, after each of these numbers of visits, which rise.

    Each has the seed that `view_seed` gives.
    """
    for visits in stages:
        verify_visits(visits)
    sets = game_tree(game).infosets
    number = len(sets.views)
    found: list[list[Result]] = [[] for _ in stages]
    seconds = [0.0] * len(stages)
    size = max(1, min(BATCH, BATCH_VISITS // stages[-1]))
    for start in range(0, number, size):
        batch = range(start, min(start + size, number))
        began = time.process_time()
        staged = run_in_stages(
            game,
            [sets.views[i] for i in batch],
            [int(sets.owner[i]) for i in batch],
            options,
            stages,
            evaluator=evaluator,
            seeds=[view_seed(sets.views[i], seed) for i in batch],
            threads=threads,
        )
        for k, results in enumerate(staged):
            found[k] += results
            seconds[k] += time.process_time() - began
        if report is not None:
            report(batch.stop, number)
    return [
        Found(
            visits=visits,
            move=np.concatenate([r.move for r in results]),
            count=np.concatenate([r.visits for r in results]),
            q_lo=np.concatenate([r.q_lo for r in results]),
            q_hi=np.concatenate([r.q_hi for r in results]),
            seconds=spent,
        )
        for visits, results, spent in zip(stages, found, seconds, strict=True)
    ]


def searched_policy(
    game: Game,
    options: Options,
    visits: int,
    *,
    evaluator: Evaluator | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report | None = None,
) -> Policy:
    """The move distribution of a search at every view where a player moves."""
    found = search_everywhere(game, options, [visits], evaluator=evaluator, seed=seed, threads=threads, report=report)[
        0
    ]
    return policy_on(game_tree(game), found.move, visits=visits)


class Distance(NamedTuple):
    """NashConv of what a search plays, by searches with seeds of their own at every turn."""

    nash_conv: float
    error: float | None
    """Its standard error, by leaving out one seed after the other; None with one seed."""


def searched_nash_conv(
    game: Game,
    options: Options,
    visits: int,
    seeds: Sequence[int],
    *,
    evaluator: Evaluator | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> Distance:
    """NashConv of the searched policy, its move distribution averaged over seeds."""
    tree, many = game_tree(game), len(seeds)
    moves = np.array(
        [
            searched_policy(
                game, options, visits, evaluator=evaluator, seed=seed, threads=threads, report=_part(report, k, many)
            ).probability
            for k, seed in enumerate(seeds)
        ]
    )

    def distance(policies: Reals) -> float:
        return measure_policy(game, policy_on(tree, policies.mean(0))).nash_conv

    if many == 1:
        return Distance(distance(moves), None)
    without = np.array([distance(np.delete(moves, k, 0)) for k in range(many)])
    return Distance(distance(moves), float(np.sqrt((many - 1) * without.var())))


def _part(report: Report | None, k: int, of: int) -> Report | None:
    """A report of one of several rounds as one of all."""
    return None if report is None else lambda done, all_: report(k * all_ + done, of * all_)

"""The strategy that a search plays: one search at every information set, in batches."""

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
"""Called with the number of views searched, and of all views."""


@dataclass(frozen=True, eq=False)
class SearchedStrategy:
    """The results of searches at all information sets. A counts their actions, in the order of the game tree."""

    visits: int
    """Of each search."""
    move: Reals
    """float64[A]: the distributions to sample moves from"""
    count: Ints
    """int64[A]: N"""
    q_lo: Reals
    q_hi: Reals
    """float64[A]: the interval of each action's value to the player who moves"""
    seconds: float
    """CPU time of all searches together, from their start."""


def search_everywhere(
    game: Game,
    options: Options,
    stages: Sequence[int],
    *,
    evaluator: Evaluator | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report | None = None,
) -> list[SearchedStrategy]:
    """The strategy of a search after each of several numbers of visits, in rising order.

    The search at a view has the seed that `view_seed` gives.
    """
    for visits in stages:
        verify_visits(visits)
    sets = game_tree(game).infosets
    number = len(sets.views)
    results: list[list[Result]] = [[] for _ in stages]
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
        for k, of_batch in enumerate(staged):
            results[k] += of_batch
            seconds[k] += time.process_time() - began
        if report is not None:
            report(batch.stop, number)
    return [
        SearchedStrategy(
            visits=visits,
            move=np.concatenate([r.move for r in of_stage]),
            count=np.concatenate([r.visits for r in of_stage]),
            q_lo=np.concatenate([r.q_lo for r in of_stage]),
            q_hi=np.concatenate([r.q_hi for r in of_stage]),
            seconds=spent,
        )
        for visits, of_stage, spent in zip(stages, results, seconds, strict=True)
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
    """The policy that a search plays: its move distribution at every view where a player moves.

    Args:
        game: A game that can be enumerated.
        options: The options of the search: see `read_search`.
        visits: How many visits each search makes.
        evaluator: P, V, V_c and H, as in `run_searches`.
        seed: The search at a view has a seed that follows from this one and the view.
        threads: Threads to search with; the policy does not depend on them.
        report: Called with the number of views searched so far, and the number of all views.

    Returns:
        The policy, which can be measured, saved and played like any other.

    Raises:
        InputError: If the game is too large to enumerate, or the options and the evaluator don't go together.

    Examples:
        >>> import qdts
        >>> game = qdts.load_game("kuhn_poker")
        >>> policy = qdts.searched_policy(game, qdts.read_search(game, "ismcts"), 50)
        >>> policy.probability.shape, qdts.nash_conv(game, policy) < 0.9
        ((24,), True)
    """
    [searched] = search_everywhere(
        game, options, [visits], evaluator=evaluator, seed=seed, threads=threads, report=report
    )
    return policy_on(game_tree(game), searched.move, visits=visits)


class SearchedNashConv(NamedTuple):
    """NashConv of the strategy that a search plays, averaged over seeds."""

    nash_conv: float
    error: float | None
    """Its standard error, a jackknife over the seeds; None with one seed."""


def searched_nash_conv(
    game: Game,
    options: Options,
    visits: int,
    seeds: Sequence[int],
    *,
    evaluator: Evaluator | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> SearchedNashConv:
    """NashConv of the searched policy, its move distribution averaged over seeds."""
    tree, many = game_tree(game), len(seeds)
    moves = np.array(
        [
            searched_policy(
                game, options, visits, evaluator=evaluator, seed=seed, threads=threads, report=_share(report, k, many)
            ).probability
            for k, seed in enumerate(seeds)
        ]
    )

    def nash_conv(policies: Reals) -> float:
        return measure_policy(game, policy_on(tree, policies.mean(0))).nash_conv

    if many == 1:
        return SearchedNashConv(nash_conv(moves), None)
    without = np.array([nash_conv(np.delete(moves, k, 0)) for k in range(many)])
    return SearchedNashConv(nash_conv(moves), float(np.sqrt((many - 1) * without.var())))


def _share(report: Report | None, k: int, of: int) -> Report | None:
    """A report that counts one of several rounds as a share of all of them."""
    return None if report is None else lambda done, all_: report(k * all_ + done, of * all_)

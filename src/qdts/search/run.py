"""Searching, whatever the machine: the one way in for everything that needs a decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.search.bandit.searcher import bandit_search
from qdts.search.decision.result import Result
from qdts.search.evaluation.builtin import Playouts, Uniform
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.forest.searcher import Report, Searcher
from qdts.search.options.options import Options
from qdts.solving.policy.table import Policy


def run_searches(
    game: Game,
    views: Sequence[Ints],
    players: Sequence[int],
    options: Options,
    visits: int,
    *,
    evaluator: Evaluator | None = None,
    seeds: Sequence[int] | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> list[Result]:
    """One search from each view, all side by side. A search knows its view, its seed and nothing else.

    Without an evaluator the forest takes `Uniform`. The bandit needs none, but its playouts follow the policy of
    `Playouts`. `report` hears of the visits made so far.
    """
    seeds = range(len(views)) if seeds is None else seeds
    if options.machine == "bandit":
        rollout = _rollout(evaluator)
        return bandit_search(game, views, players, options, visits, seeds, threads, _summed(report), rollout)
    searcher = Searcher(game, views, players, options, evaluator or Uniform(game), seeds=seeds, threads=threads)
    searcher.run(visits, report)
    return [searcher.result(s) for s in range(len(views))]


def run_in_stages(
    game: Game,
    views: Sequence[Ints],
    players: Sequence[int],
    options: Options,
    stages: Sequence[int],
    *,
    evaluator: Evaluator | None = None,
    seeds: Sequence[int] | None = None,
    threads: int = 1,
) -> Iterator[list[Result]]:
    """What `run_searches` gives for each of these numbers of visits, which rise.

    A forest goes on from one to the next; a bandit, which is quick, begins anew.
    """
    seeds = range(len(views)) if seeds is None else seeds
    if options.machine == "bandit":
        for visits in stages:
            yield bandit_search(game, views, players, options, visits, seeds, threads, rollout=_rollout(evaluator))
        return
    searcher = Searcher(game, views, players, options, evaluator or Uniform(game), seeds=seeds, threads=threads)
    for before, visits in pairwise((0, *stages)):
        searcher.run(visits - before)
        yield [searcher.result(s) for s in range(len(views))]


def _rollout(evaluator: Evaluator | None) -> Policy | None:
    """The policy of the bandit's playouts."""
    if evaluator is None or isinstance(evaluator, Uniform):
        return None
    if not isinstance(evaluator, Playouts):
        raise InputError(
            f"the bandit plays games out and asks no {type(evaluator).__name__}, expected Playouts or nothing"
        )
    return evaluator.policy


def _summed(report: Report | None) -> Report | None:
    """A report of visits so far from one of visits in each slice."""
    if report is None:
        return None
    tell, made = report, 0

    def add(visits: int) -> None:
        nonlocal made
        made += visits
        tell(made)

    return add

"""Running searches, whatever the machine: the one way in for everything that needs a decision."""

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
from qdts.search.options.variants import Machine
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
    """One search from each view, all side by side.

    The result of a search depends on its view, its seed, the options and the evaluator, and on nothing else: neither on
    the other searches nor on the number of threads.

    Args:
        game: The game to search.
        views: What each player knows, at their turn.
        players: The player of each view, who is to move.
        options: The options of all of the searches: see `read_search`.
        visits: How many visits each search makes.
        evaluator: P, V, V_c and H. Without one a search by trees takes `Uniform`; `uct` and the ismcts searches take
            none, but their playouts follow the policy of a `Playouts`.
        seeds: One for each view; 0, 1, 2, … by default.
        threads: Threads to search with.
        report: Called with the number of visits made so far.

    Returns:
        A result for each view: visits, values and the distribution that the move is to be sampled from.

    Raises:
        InputError: If a view is not one at its player's turn, or the options and the evaluator don't go together.

    Examples:
        >>> import qdts
        >>> game = qdts.load_game("kuhn_poker")
        >>> dealt = game.step(game.step(game.initial(), 0), 1)  # a jack to player 0, a queen to player 1
        >>> view = game.view(dealt, 0)
        >>> [result] = qdts.run_searches(game, [view], [0], qdts.read_search(game, "ismcts"), 20)
        >>> result.actions.tolist(), int(result.visits.sum())
        ([0, 1], 20)
    """
    seeds = range(len(views)) if seeds is None else seeds
    if options.machine is Machine.BANDIT:
        rollout = _rollout_policy(evaluator)
        return bandit_search(game, views, players, options, visits, seeds, threads, _cumulative(report), rollout)
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
    """The results of `run_searches` for each of several numbers of visits, in rising order.

    A forest adds visits from one stage to the next; a bandit, which is quick, starts again for each.
    """
    seeds = range(len(views)) if seeds is None else seeds
    if options.machine is Machine.BANDIT:
        rollout = _rollout_policy(evaluator)
        for visits in stages:
            yield bandit_search(game, views, players, options, visits, seeds, threads, rollout=rollout)
        return
    searcher = Searcher(game, views, players, options, evaluator or Uniform(game), seeds=seeds, threads=threads)
    for before, visits in pairwise((0, *stages)):
        searcher.run(visits - before)
        yield [searcher.result(s) for s in range(len(views))]


def _rollout_policy(evaluator: Evaluator | None) -> Policy | None:
    """The policy of the bandit's playouts; None where they are uniform."""
    if evaluator is None or isinstance(evaluator, Uniform):
        return None
    if not isinstance(evaluator, Playouts):
        raise InputError(
            f"the bandit plays games out and can't use a {type(evaluator).__name__}, expected Playouts or no evaluator"
        )
    return evaluator.policy


def _cumulative(report: Report | None) -> Report | None:
    """A report that takes the visits of each slice and passes on the visits so far."""
    if report is None:
        return None
    inner, total = report, 0

    def add(visits: int) -> None:
        nonlocal total
        total += visits
        inner(total)

    return add

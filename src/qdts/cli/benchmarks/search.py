"""The rows of `qdts bench search`: simulations a second at the first decision, ours beside OpenSpiel's C++ bots.

All search the same position. The bandit does as many simulations as they do, with the same constant of exploration and
one random playout at each new node. The forest makes fewer visits, each of which touches many nodes, with a table of
the uniform policy where the game can be enumerated; its peer is their bot for the same kind of game.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from qdts.cli.benchmarks.contestants import OpenSpiel, Ours, is_installed
from qdts.cli.benchmarks.playouts import first_decision
from qdts.cli.benchmarks.solving import Job, Row, make_row, mean_seconds, race
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.openspiel import find_openspiel
from qdts.games.registry import load_game
from qdts.search.evaluation.builtin import Table, Uniform
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.options.parsing import read_search
from qdts.search.run import run_searches
from qdts.solving.tree.enumeration import enumerate_game
from qdts.solving.uniform import uniform_policy

SIMULATIONS = 20_000
"""Of the bandit, and of OpenSpiel's bots."""
VISITS = 1_000
"""Of the forest."""
SLOTS = 64
"""Searches side by side in the race of threads."""
WANTED_THREADS = 1.7
SMALL = 1_000_000
"""Up to so many histories a table is made."""
CLOCK = (
    "whole searches, each with a new tree, up to the root's distribution, without loading the game and without the way "
    "to the position"
)

WANTED = {
    ("kuhn_poker", "ismcts"): 3.0,
    ("leduc_poker", "ismcts"): 3.0,
    ("tic_tac_toe", "uct"): 2.0,
    ("connect_four", "uct"): 8.0,
    ("leduc_poker", "qdts"): 0.1,
}
"""How many times OpenSpiel's speed ours should be, by game and search."""


@dataclass(frozen=True)
class SearchRow(Row):
    """One line of the benchmark, and the circumstances of the search."""

    search: str = ""
    visits_per_second: float | None = None
    """Our figure."""
    state: str = ""
    """What the searching player knows."""
    simulations: int = 0
    network: str = "none"

    @property
    def circumstances(self) -> str:
        """What a reader must know beside the figures."""
        return f"state {self.state} · {self.simulations:,} simulations · network {self.network}"


def rows(repeats: int, game: str | None, search: str | None) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for every target, or for one game and search; the search may have options in brackets."""
    name = None if search is None else search.partition("[")[0].strip()
    asked = [(spec, search or of) for spec, of in WANTED if game in (None, spec) and name in (None, of)]
    if game is not None and search is not None:
        asked = [(game, search)]
    if not asked:
        raise InputError(f"no target has game={game} and search={search}: give both, --game and --search")
    for spec, text in asked:
        yield f"{text} on {spec}", lambda spec=spec, text=text: searching(load_game(spec), text, repeats)  # type: ignore[misc]
    if game is None and search is None:
        yield "2 threads", lambda: threading(load_game("leduc_poker"), "qdts", repeats)


def searching(game: Game, search: str, repeats: int) -> SearchRow:
    """Simulations a second of one search of a game."""
    options, outcomes = read_search(game, search), first_decision(game)
    evaluator = _evaluator(game, options)
    jobs: dict[str, Job] = {Ours.name: _our_job(game, options, evaluator, outcomes)}
    if is_installed(OpenSpiel):
        with contextlib.suppress(InputError):  # it does not have the game, or can't search it
            jobs[OpenSpiel.name] = _their_job(game, options, outcomes)
    shown = {OpenSpiel.name} if not is_installed(OpenSpiel) else set()
    entries = [e for e in race(jobs, repeats) if e.who in shown | {*jobs}]
    times = WANTED.get((game.spec, search))
    row = make_row(search, game.spec, "", "simulations/s", CLOCK, entries, {OpenSpiel.name: times} if times else {})
    return SearchRow(
        **vars(row),
        search=search,
        visits_per_second=entries[0].figure,
        state=game.layout.write(_root(game, outcomes)[0]),
        simulations=SIMULATIONS if options.machine == "bandit" else VISITS,
        network=_network(evaluator),
    )


def threading(game: Game, search: str, repeats: int) -> SearchRow:
    """Visits a second of many searches side by side, on two threads and on one."""
    options, outcomes = read_search(game, search), first_decision(game)
    evaluator = _evaluator(game, options)
    view, player = _root(game, outcomes)

    def job(threads: int) -> Job:
        def search_all() -> object:
            return run_searches(
                game, [view] * SLOTS, [player] * SLOTS, options, VISITS, evaluator=evaluator, threads=threads
            )

        def run() -> float:
            start = time.perf_counter()
            search_all()
            return SLOTS * VISITS / (time.perf_counter() - start)

        search_all()
        return run

    entries = race({"2 threads": job(2), "1 thread": job(1)}, repeats)
    clock = f"{SLOTS} searches side by side, by the clock on the wall, with new trees; without loading the game"
    row = make_row(
        f"{search}, {SLOTS} slots", game.spec, "", "visits/s", clock, entries[:2], {"1 thread": WANTED_THREADS}
    )
    return SearchRow(
        **{**vars(row), "threads": 2},
        search=search,
        visits_per_second=entries[0].figure,
        state=game.layout.write(view),
        simulations=VISITS,
        network=_network(evaluator),
    )


def _evaluator(game: Game, options: Options) -> Evaluator | None:
    """A table of the uniform policy for the forest where the game is small, else nothing that needs one."""
    if options.machine == "bandit":
        return None
    try:
        enumerate_game(game, limit=SMALL)
    except InputError:
        return Uniform(game)
    return Table(uniform_policy(game))


def _network(evaluator: Evaluator | None) -> str:
    """What answers the queries of a search, in words."""
    return "none" if evaluator is None else f"none ({type(evaluator).__name__.lower()} evaluator)"


def _root(game: Game, outcomes: list[int]) -> tuple[Any, int]:
    """What the player to move knows after these outcomes, and who he is."""
    world = game.initial()
    for outcome in outcomes:
        world = game.step(world, outcome)
    return game.view(world, game.mover(world)), game.mover(world)


def _our_job(game: Game, options: Options, evaluator: Evaluator | None, outcomes: list[int]) -> Job:
    view, player = _root(game, outcomes)
    seeds = itertools.count()
    visits = SIMULATIONS if options.machine == "bandit" else VISITS

    def search() -> object:
        return run_searches(game, [view], [player], options, visits, evaluator=evaluator, seeds=[next(seeds)])

    search()
    return lambda: visits / mean_seconds(search)


def _their_job(game: Game, options: Options, outcomes: list[int]) -> Job:
    import pyspiel

    theirs = find_openspiel(game.spec)
    state = theirs.new_initial_state()
    for outcome in outcomes:
        state.apply_action(outcome)
    bandit = options if options.machine == "bandit" else named("ismcts" if game.hidden else "uct")
    seeds, c = itertools.count(1), bandit.c * game.scale

    def run() -> object:
        seed = next(seeds)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        if game.hidden:
            return pyspiel.ISMCTSBot(seed, evaluator, c, SIMULATIONS).step_with_policy(state)
        return pyspiel.MCTSBot(theirs, evaluator, c, SIMULATIONS, 1000, False, seed, False).mcts_search(state)

    try:
        run()
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel can't search {game.spec}: {error}") from error
    return lambda: SIMULATIONS / mean_seconds(run)

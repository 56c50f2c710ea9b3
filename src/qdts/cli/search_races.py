"""The rows of `qdts bench search`: simulations a second at the first decision, ours beside OpenSpiel's C++ bots.

All search the same position with the same number of simulations and the same constant of exploration. Theirs evaluate a
new node by one random playout, as ours do.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from qdts.cli.contestants import OpenSpiel, Ours, is_installed
from qdts.cli.playout_races import first_decision
from qdts.cli.races import Job, Row, make_row, mean_seconds, race
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.openspiel import find_openspiel
from qdts.games.registry import load_game
from qdts.search.bandit import bandit_search
from qdts.search.fit import options_for
from qdts.search.options import Options
from qdts.search.settings import scale_of

SIMULATIONS = 20_000
CLOCK = (
    "whole searches, each with a new tree, up to the root's distribution, without loading the game and without the way "
    "to the position"
)

WANTED = {
    ("kuhn_poker", "ismcts"): 3.0,
    ("leduc_poker", "ismcts"): 3.0,
    ("tic_tac_toe", "uct"): 2.0,
    ("connect_four", "uct"): 8.0,
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
    """A row for every target, or for one game and search."""
    asked = [pair for pair in WANTED if game in (None, pair[0]) and search in (None, pair[1])]
    if game is not None and search is not None:
        asked = [(game, search)]
    if not asked:
        raise InputError(f"no target has game={game} and search={search}: give both, --game and --search")
    for spec, name in asked:
        yield f"{name} on {spec}", lambda spec=spec, name=name: searching(load_game(spec), name, repeats)  # type: ignore[misc]


def searching(game: Game, search: str, repeats: int) -> SearchRow:
    """Simulations a second of one search of a game."""
    options = options_for(game, search)
    outcomes = first_decision(game)
    jobs: dict[str, Job] = {Ours.name: _our_job(game, options, outcomes)}
    if is_installed(OpenSpiel):
        with contextlib.suppress(InputError):  # it does not have the game, or can't search it
            jobs[OpenSpiel.name] = _their_job(game, search, options, outcomes)
    shown = {OpenSpiel.name} if not is_installed(OpenSpiel) else set()
    entries = [e for e in race(jobs, repeats) if e.who in shown | {*jobs}]
    times = WANTED.get((game.spec, search))
    row = make_row(search, game.spec, "", "simulations/s", CLOCK, entries, {OpenSpiel.name: times} if times else {})
    return SearchRow(
        **vars(row),
        search=search,
        visits_per_second=entries[0].figure,
        state=game.layout.write(_root(game, outcomes)[0]),
        simulations=SIMULATIONS,
    )


def _root(game: Game, outcomes: list[int]) -> tuple[Any, int]:
    """What the player to move knows after these outcomes, and who he is."""
    world = game.initial()
    for outcome in outcomes:
        world = game.step(world, outcome)
    return game.view(world, game.mover(world)), game.mover(world)


def _our_job(game: Game, options: Options, outcomes: list[int]) -> Job:
    view, player = _root(game, outcomes)
    seeds = itertools.count()

    def search() -> object:
        return bandit_search(game, [view], [player], options, SIMULATIONS, [next(seeds)])

    search()
    return lambda: SIMULATIONS / mean_seconds(search)


def _their_job(game: Game, search: str, options: Options, outcomes: list[int]) -> Job:
    import pyspiel

    theirs = find_openspiel(game.spec)
    state = theirs.new_initial_state()
    for outcome in outcomes:
        state.apply_action(outcome)
    seeds, c = itertools.count(1), options.c * scale_of(game)

    def run() -> object:
        seed = next(seeds)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        if search == "ismcts":
            return pyspiel.ISMCTSBot(seed, evaluator, c, SIMULATIONS).step_with_policy(state)
        return pyspiel.MCTSBot(theirs, evaluator, c, SIMULATIONS, 1000, False, seed, False).mcts_search(state)

    try:
        run()
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel can't search {game.spec}: {error}") from error
    return lambda: SIMULATIONS / mean_seconds(run)

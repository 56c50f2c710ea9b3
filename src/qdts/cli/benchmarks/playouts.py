"""The rows of `qdts bench games`: random games a second, ours beside OpenSpiel's C++.

OpenSpiel runs its playouts inside one evaluation of its MCTS bot, so that no Python stands between them. Both start
from the same position, the first at which a player moves after the likeliest (or first) outcome of each chance event.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from qdts.cli.benchmarks.peers import OpenSpiel, Ours, is_installed
from qdts.cli.benchmarks.rows import Job, Row, Rows, make_row, seconds_of, take_turns
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE
from qdts.games.openspiel import find_openspiel
from qdts.games.playouts import play_randomly
from qdts.games.registry import family_names, load_game

TURN_SECONDS = 0.3
WANTED = 10.0
CLOCK = "playouts alone, without loading and without the way to the position that they start from"


def rows(repeats: int) -> Rows:
    """A row for every game that OpenSpiel has too."""
    for name in family_names():
        yield name, lambda name=name: playouts(load_game(name), repeats)  # type: ignore[misc]


def playouts(game: Game, repeats: int) -> Row:
    """Random games a second from the first decision."""
    outcomes = first_decision(game)
    jobs: dict[str, Job] = {Ours.name: _our_job(game, outcomes)}
    if is_installed(OpenSpiel):
        with contextlib.suppress(InputError):  # it does not have the game
            jobs[OpenSpiel.name] = _their_job(find_openspiel(game.spec), outcomes)
    entries = [e for e in take_turns(jobs, repeats) if e.who in jobs or not is_installed(OpenSpiel)]
    return make_row("random playouts", game.spec, "", "playouts/s", CLOCK, entries, {OpenSpiel.name: WANTED})


def first_decision(game: Game) -> list[int]:
    """The outcomes of chance that lead to the first decision."""
    world, outcomes = game.initial(), []
    while game.mover(world) == CHANCE:
        outcomes.append(max(game.chance(world), key=lambda o: o[1])[0])
        world = game.step(world, outcomes[-1])
    return outcomes


def _our_job(game: Game, outcomes: list[int]) -> Job:
    world = game.initial()
    for outcome in outcomes:
        world = game.step(world, outcome)
    return _timed(lambda count: lambda: play_randomly(game, count, world=world))


def _their_job(game: Any, outcomes: list[int]) -> Job:
    import pyspiel

    state = game.new_initial_state()
    for outcome in outcomes:
        state.apply_action(outcome)

    def prepare(count: int) -> Callable[[], object]:
        evaluator = pyspiel.RandomRolloutEvaluator(count, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 1, False, 1, False)
        return lambda: bot.mcts_search(state)

    return _timed(prepare)


def _timed(prepare: Callable[[int], Callable[[], object]]) -> Job:
    """A job that plays for about a turn; the number of games is measured first, when everything is compiled."""
    count = 100
    prepare(count)()
    while (spent := seconds_of(prepare(count))) < TURN_SECONDS / 4:
        count *= 4
    count = max(1, int(count * TURN_SECONDS / spent))
    return lambda: count / seconds_of(prepare(count))

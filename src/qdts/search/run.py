"""Searching, whatever the machine: the one way in for everything that needs a decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.kernels import Ints
from qdts.search.bandit import bandit_search
from qdts.search.evaluator import Evaluator
from qdts.search.evaluators import Uniform
from qdts.search.options import Options
from qdts.search.result import Result
from qdts.search.searcher import Report, Searcher
from qdts.solving.policy import game_tree
from qdts.solving.tree import NONE, find_views


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

    Without an evaluator the forest takes `Uniform`; the bandit needs none. `report` hears of the visits made so far.
    """
    if visits < 1:
        raise InputError(f"visits={visits} is not possible for a search, expected at least 1")
    seeds = range(len(views)) if seeds is None else seeds
    if options.machine == "bandit":
        return bandit_search(game, views, players, options, visits, seeds, threads, report=_summed(report))
    searcher = Searcher(game, views, players, options, evaluator or Uniform(game), seeds=seeds, threads=threads)
    searcher.run(visits, report)
    return [searcher.result(s) for s in range(len(views))]


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


def verify_view(game: Game, view: Ints, player: int) -> None:
    """Raise an InputError unless play can lead to this view with the player to move."""
    game.verify_player(player)
    game.verify_vector(view)
    where = game.layout.write(view)
    unreachable = InputError(f"{game.spec}: no play leads player {player} to {where}, expected a view that he can have")
    if game.replay is None:
        known = game_tree(game).infosets
        found = int(find_views(known.views, view[None])[0])
        if found == NONE:
            raise unreachable
        mover = int(known.owner[found])
    else:
        world = completed(game, view)
        if world is None or not _replays(game, world) or not np.array_equal(game.view(world, player), view):
            raise unreachable
        mover = game.mover(world)
    if mover != player:
        whose = {CHANCE: "chance moves", TERMINAL: "the game is over"}.get(mover, f"it is player {mover}'s turn")
        raise InputError(f"{game.spec}: {whose} at {where}, expected a view at player {player}'s turn")


def completed(game: Game, view: Ints) -> Ints | None:
    """The view with every hole filled by the first of its values, or None where a hole has none."""
    world = view.copy()
    while (hole := game.hole(world)) != NO_HOLE:
        values = game.values(world, hole)
        if not values:
            return None
        world = game.fill(world, hole, values[0][0])
    return world


def _replays(game: Game, world: Ints) -> bool:
    """Whether the moves that a world tells of are possible and lead to it."""
    assert game.replay is not None
    try:
        moves = game.replay(world)
        at = game.initial()
        for move in moves:
            at = game.step(at, move)
    except (InputError, IndexError, ValueError):
        return False
    return np.array_equal(at, world)

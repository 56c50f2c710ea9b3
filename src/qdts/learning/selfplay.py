"""Self-play: many games side by side, a search at every move.

One seat of each game explores: some of its moves are drawn evenly. The others play exactly what their searches decide.
Games that come to the same view at the same time share one search, since a search knows nothing but its view.
Every draw comes from streams of the generation, so that a generation depends on its seed and the networks alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.nodes import different, views
from qdts.learning.record import NO_SEARCH, NOBODY, Record, world_type


class Decisions(NamedTuple):
    """What is decided at some views, a row each; the actions of one view are neighbours."""

    offset: Ints  # [S + 1]
    visits: Ints  # [A]
    q_lo: Reals
    q_hi: Reals
    prior: Reals
    move: Reals
    target: Reals


Decide = Callable[[Ints, Ints], Decisions]
"""From views [S, W] and the players who move there [S] to what is decided."""


class _Round(NamedTuple):
    """One step of all games that were not over."""

    games: Ints
    world: Ints
    mover: Ints
    action: Ints
    explored: Ints
    search: Ints


def play_games(
    game: Game,
    decide: Decide,
    games: int,
    explore: float,
    stream: np.random.Generator,
    generation: int = 0,
    report: Callable[[int], None] | None = None,
) -> Record:
    """Play so many games to their ends. Seats take turns at exploring; `report` hears how many games are over."""
    worlds = np.repeat(game.initial()[None], games, 0)
    explorer = np.arange(games) % game.players if explore > 0.0 else np.full(games, NOBODY)
    rounds: list[_Round] = []
    found: list[Decisions] = []
    searches = 0
    while True:
        mover = batch.movers(game, worlds)
        running = np.flatnonzero(mover != TERMINAL)
        if report is not None:
            report(games - len(running))
        if not len(running):
            return _record(game, generation, worlds, explorer, rounds, found)
        mover, before = mover[running], worlds[running]
        action, explored = np.zeros((2, len(running)), np.int64)
        search = np.full(len(running), NO_SEARCH)
        deals = mover == CHANCE
        action[deals] = _outcomes(game, before[deals], stream)
        acts = np.flatnonzero(~deals)
        if len(acts):
            players = mover[acts]
            seen = views(game, before[acts], players)
            first_seen, which = different(np.column_stack([players, seen]))
            asked = seen[first_seen], players[first_seen]
            decided = decide(*asked)
            legal = batch.choices(game, *asked).number
            first, count = decided.offset[which], np.diff(decided.offset)[which]
            chosen = _drawn(decided.move, first, count, stream.random(len(acts)))
            explores = (explorer[running[acts]] == players) & (stream.random(len(acts)) < explore)
            evenly = first + (stream.random(len(acts)) * count).astype(np.int64)
            action[acts] = legal[np.where(explores, evenly, chosen)]
            explored[acts], search[acts] = explores, which + searches
            found.append(decided)
            searches += len(first_seen)
        rounds.append(_Round(running, before, mover, action, explored, search))
        worlds[running] = batch.stepped(game, before, action)


def _outcomes(game: Game, worlds: Ints, stream: np.random.Generator) -> Ints:
    """What chance does in each world."""
    offered = batch.choices(game, worlds, np.full(len(worlds), CHANCE))
    first = np.cumsum(offered.counts) - offered.counts
    return offered.number[_drawn(offered.chance, first, offered.counts, stream.random(len(worlds)))]


def _drawn(probability: Reals, first: Ints, count: Ints, u: Reals) -> Ints:
    """For each row one of the entries from `first` on, `count` of them, by a number from [0, 1)."""
    sums = np.concatenate([[0.0], np.cumsum(probability)])
    goal = sums[first] + u * (sums[first + count] - sums[first])
    return np.clip(np.searchsorted(sums, goal, side="right") - 1, first, first + count - 1)


def _record(
    game: Game, generation: int, worlds: Ints, explorer: Ints, rounds: list[_Round], found: list[Decisions]
) -> Record:
    """All of it in columns, game by game."""
    columns = _Round._make(np.concatenate(column) for column in zip(*rounds, strict=True))
    order = np.argsort(columns.games, kind="stable")
    columns = _Round._make(column[order] for column in columns)
    decided = Decisions._make(np.concatenate(parts) for parts in zip(*found, strict=True))
    counts = np.concatenate([np.diff(d.offset) for d in found])
    return Record(
        game=game,
        generation=generation,
        first=np.searchsorted(columns.games, np.arange(len(worlds) + 1)),
        explorer=explorer.astype(np.int8),
        returns=batch.returns(game, worlds),
        world=columns.world.astype(world_type(game)),
        mover=np.maximum(columns.mover, -1).astype(np.int8),
        action=columns.action.astype(np.int32),
        explored=columns.explored.astype(np.uint8),
        search=columns.search.astype(np.int32),
        offset=np.concatenate([[0], np.cumsum(counts)]),
        visits=decided.visits.astype(np.int32),
        q_lo=decided.q_lo.astype(np.float32),
        q_hi=decided.q_hi.astype(np.float32),
        prior=decided.prior.astype(np.float32),
        move=decided.move,
        target=decided.target.astype(np.float32),
    )

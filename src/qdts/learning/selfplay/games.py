"""Self-play: many games side by side, a search at every move.

One seat of each game explores: some of its moves are sampled uniformly. The other seats play what their searches
decide. Games that reach the same view at the same step share one search, since a search sees nothing but its view. All
random numbers come from the generation's stream, so that a generation depends on its seed and the networks alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.nodes import views_of
from qdts.learning.selfplay.decisions import Decide, Decisions
from qdts.learning.selfplay.record import NO_SEARCH, NOBODY, Record, world_type


class Round(NamedTuple):
    """One step of some games."""

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
    """Play games to their ends; seats take turns at exploring.

    Args:
        game: What is played.
        decide: Gives the distribution of moves at each view.
        games: How many.
        explore: The share of the exploring seat's moves that are sampled uniformly.
        stream: All random numbers.
        generation: The number that the record bears.
        report: Called with the number of games that are over.
    """
    worlds = np.repeat(game.initial()[None], games, 0)
    explorer = np.arange(games) % game.players if explore > 0.0 else np.full(games, NOBODY)
    rounds: list[Round] = []
    found: list[Decisions] = []
    searches = 0
    while True:
        mover = batch.movers(game, worlds)
        running = np.flatnonzero(mover != TERMINAL)
        if report is not None:
            report(games - len(running))
        if not len(running):
            return record_of(game, generation, worlds, explorer, rounds, found)
        mover, before = mover[running], worlds[running]
        action, explored = np.zeros((2, len(running)), np.int64)
        search = np.full(len(running), NO_SEARCH)
        deals = mover == CHANCE
        action[deals] = sample_outcomes(game, before[deals], stream)
        acts = np.flatnonzero(~deals)
        if len(acts):
            players = mover[acts]
            seen = views_of(game, before[acts], players)
            which, first_seen = distinct_rows(np.column_stack([players, seen]))
            views, movers = seen[first_seen], players[first_seen]
            decided = decide(views, movers)
            legal = batch.choices(game, views, movers).number
            first, count = decided.offset[which], np.diff(decided.offset)[which]
            chosen = sample_entries(decided.move, first, count, stream.random(len(acts)))
            explores = (explorer[running[acts]] == players) & (stream.random(len(acts)) < explore)
            uniform = first + (stream.random(len(acts)) * count).astype(np.int64)
            action[acts] = legal[np.where(explores, uniform, chosen)]
            explored[acts], search[acts] = explores, which + searches
            found.append(decided)
            searches += len(first_seen)
        rounds.append(Round(running, before, mover, action, explored, search))
        worlds[running] = batch.stepped(game, before, action)


def sample_outcomes(game: Game, worlds: Ints, stream: np.random.Generator) -> Ints:
    """An outcome of chance in each world."""
    offered = batch.choices(game, worlds, np.full(len(worlds), CHANCE))
    first = np.cumsum(offered.counts) - offered.counts
    return offered.number[sample_entries(offered.chance, first, offered.counts, stream.random(len(worlds)))]


def sample_entries(probability: Reals, first: Ints, count: Ints, u: Reals) -> Ints:
    """For each number u from [0, 1) one of the `count` entries from `first` on, by their probabilities."""
    sums = np.concatenate([[0.0], np.cumsum(probability)])
    goal = sums[first] + u * (sums[first + count] - sums[first])
    return np.clip(np.searchsorted(sums, goal, side="right") - 1, first, first + count - 1)


def record_of(
    game: Game, generation: int, worlds: Ints, explorer: Ints, rounds: list[Round], found: list[Decisions]
) -> Record:
    """The record of all rounds, game by game; `worlds` are those in which the games ended."""
    columns = Round._make(np.concatenate(column) for column in zip(*rounds, strict=True))
    order = np.argsort(columns.games, kind="stable")
    columns = Round._make(column[order] for column in columns)
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
        luck=np.zeros((0, game.players)),
    )

"""Given games: moves from the start to the end, wherever they come from, and the record that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qdts.games import batch
from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints
from qdts.learning.nodes.nodes import views_of
from qdts.learning.selfplay.record import NO_SEARCH, NOBODY, Record, world_type


@dataclass(frozen=True, eq=False)
class GivenGames:
    """Games that were played to their ends; the axes are those of a record."""

    game: Game
    first: Ints  # [G + 1] the steps of game g are first[g] to first[g + 1]
    action: NDArray[np.int32]  # [T] actions and outcomes
    explored: NDArray[np.uint8]  # [T] 1 where a move was made to explore: nobody should learn to make it
    explorer: NDArray[np.int8]  # [G] the player who explores, or NOBODY

    def __len__(self) -> int:
        return len(self.explorer)

    def take(self, which: Ints) -> GivenGames:
        """Some of the games."""
        length = np.diff(self.first)[which]
        first = np.concatenate([[0], np.cumsum(length)])
        steps = np.arange(first[-1]) + np.repeat(self.first[which] - first[:-1], length)
        return GivenGames(self.game, first, self.action[steps], self.explored[steps], self.explorer[which])


def games_of(game: Game, moves: Sequence[Sequence[int]]) -> GivenGames:
    """Games by their moves, in which nobody explores."""
    first = np.concatenate([[0], np.cumsum([len(each) for each in moves])]).astype(np.int64)
    action = np.array([move for each in moves for move in each], np.int32)
    return GivenGames(game, first, action, np.zeros(len(action), np.uint8), np.full(len(moves), NOBODY, np.int8))


def games_in(record: Record) -> GivenGames:
    """The games of a record."""
    return GivenGames(record.game, record.first, record.action, record.explored, record.explorer)


def joined_games(parts: Sequence[GivenGames]) -> GivenGames:
    """The games of all parts, in order."""
    ends = np.cumsum([0, *(part.first[-1] for part in parts)])
    first = np.concatenate([[0], *(part.first[1:] + end for part, end in zip(parts, ends, strict=False))])
    action, explored, explorer = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("action", "explored", "explorer")
    )
    return GivenGames(parts[0].game, first.astype(np.int64), action, explored, explorer)


def record_of(games: GivenGames) -> Record:
    """The record of given games. What searches would have found is left zero; each view counts as one search."""
    game, length = games.game, np.diff(games.first)
    world = np.zeros((len(games.action), game.world_size), world_type(game))
    mover = np.zeros(len(games.action), np.int64)
    worlds = np.repeat(game.initial()[None], len(games), 0)
    for step in range(int(length.max(initial=0))):
        going = np.flatnonzero(length > step)
        t = games.first[going] + step
        world[t], mover[t] = worlds[going], batch.movers(game, worlds[going])
        worlds[going] = batch.stepped(game, worlds[going], games.action[t].astype(np.int64))
    search, counts = _views(game, world, mover)
    offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    none = np.zeros(offset[-1], np.float32)
    return Record(
        game=game,
        generation=0,
        first=games.first,
        explorer=games.explorer,
        returns=batch.returns(game, worlds),
        world=world,
        mover=np.maximum(mover, -1).astype(np.int8),
        action=games.action,
        explored=games.explored,
        search=search.astype(np.int32),
        offset=offset,
        visits=none.astype(np.int32),
        q_lo=none,
        q_hi=none,
        prior=none,
        move=none.astype(np.float64),
        target=none,
        luck=np.zeros((0, game.players)),
    )


def _views(game: Game, world: NDArray[np.int64], mover: Ints) -> tuple[Ints, Ints]:
    """The number of the view that each step was made at, NO_SEARCH for chance, and the number of its actions."""
    acts = np.flatnonzero(mover >= 0)
    seen = views_of(game, world[acts].astype(np.int64), mover[acts])
    which, first = distinct_rows(np.column_stack([mover[acts], seen]))
    search = np.full(len(mover), NO_SEARCH, np.int64)
    search[acts] = which
    return search, batch.choices(game, seen[first], mover[acts][first]).counts

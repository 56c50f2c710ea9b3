"""The positions of a game that the laws are checked on: all of them, or those of random games.

A position is a world at a depth. Enumerated, histories that lead to the same world at the same depth share one
position: what the rules say depends on the world alone, so nothing is lost, and tic-tac-toe's 549,946 histories
are 5,478 positions. While walking, the law of basics is checked, so that no later kernel meets a broken rule.

    axis  counts
    N     positions, by depth
    E     moves, by depth; those of one position are neighbours
    W     components of a world
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.testing.faults import Law, Named, require

TOLERANCE = 1e-9
"""How far sums of probabilities and of returns may be off by rounding."""


class Positions(NamedTuple):
    """Positions, and the moves between them that were made."""

    worlds: Ints  # [N, W]
    mover: Ints  # [N]
    level: Ints  # [depths + 1] positions of depth d are level[d] to level[d + 1]
    histories: Ints  # [N] how many histories lead here (1 where games were sampled)
    reach: Reals  # [N] the chances on the way, players' choices counting as 1, summed over histories
    source: Ints  # [E] from where
    action: Ints  # [E] by which action or outcome
    target: Ints  # [E] to where
    whole: bool  # whether these are all


class Level(NamedTuple):
    """The positions of one depth, and the moves that led there; `source` counts within the depth before."""

    worlds: Ints
    histories: Ints
    reach: Reals
    source: Ints
    action: Ints
    target: Ints


def enumerate_positions(game: Game, limit: int) -> Positions | None:
    """All positions of a game, or None if there are more than `limit`."""
    levels, movers, size = [_start(game, 1)], [], 0
    for depth in range(game.max_depth + 1):
        level = levels[-1]
        size += len(level.worlds)
        if size > limit:
            return None
        mover, choices = _look(game, level.worlds, depth)
        movers.append(mover)
        if not len(choices.source):
            break
        if len(choices.source) > limit:
            return None
        children = _stepped(game, level.worlds, choices)
        target, first = distinct_rows(children)
        histories, reach = np.zeros(len(first), np.int64), np.zeros(len(first))
        np.add.at(histories, target, level.histories[choices.source])
        np.add.at(reach, target, level.reach[choices.source] * choices.chance)
        levels.append(Level(children[first], histories, reach, choices.source, choices.number, target))
    return _joined(levels, movers, whole=True)


def sample_positions(game: Game, samples: int, seed: int) -> Positions:
    """The positions of random games: players choose uniformly, chance with its probabilities."""
    rng = np.random.default_rng(seed)
    levels, movers = [_start(game, samples)], []
    for depth in range(game.max_depth + 1):
        level = levels[-1]
        mover, choices = _look(game, level.worlds, depth)
        movers.append(mover)
        if not len(choices.source):
            break
        taken = sample_choices(choices, rng)
        chosen = batch.Choices(choices.counts, choices.source[taken], choices.number[taken], choices.chance[taken])
        reach = level.reach[chosen.source] * chosen.chance
        ones, target = np.ones(len(taken), np.int64), np.arange(len(taken))
        children = _stepped(game, level.worlds, chosen)
        levels.append(Level(children, ones, reach, chosen.source, chosen.number, target))
    return _joined(levels, movers, whole=False)


def sample_choices(choices: batch.Choices, rng: np.random.Generator) -> Ints:
    """For each vector that has choices, the index in `choices` of one, sampled with their probabilities."""
    ends = np.cumsum(choices.counts[choices.counts > 0])
    starts = ends - choices.counts[choices.counts > 0]
    total = np.cumsum(choices.chance)
    low = total[starts] - choices.chance[starts]
    mark = low + rng.random(len(ends)) * (total[ends - 1] - low)
    place: Ints = np.clip(np.searchsorted(total, mark, side="right"), starts, ends - 1)
    return place


def _start(game: Game, copies: int) -> Level:
    """The initial world; it must not depend on what the memory held before."""
    world, other = game.initial(), np.full(game.world_size, 12345, np.int64)
    game.kernels.initial.call(game.rules.ctypes.data, other.ctypes.data)
    require(Law.BASICS, game, np.array([(world == other).all()]), world[None], "initial does not write every component")
    none = np.zeros(0, np.int64)
    ones = np.ones(copies, np.int64)
    return Level(np.repeat(world[None], copies, axis=0), ones, ones.astype(np.float64), none, none, none)


def _look(game: Game, worlds: Ints, depth: int) -> tuple[Ints, batch.Choices]:
    """Who moves at worlds of one depth and what they may do, once these are known to be in order."""
    _check_components(game, worlds)
    before = worlds.copy()
    mover = batch.movers(game, worlds)
    possible = (mover == CHANCE) | (mover == TERMINAL) | ((mover >= 0) & (mover < game.players))
    require(Law.BASICS, game, possible, worlds, "mover is {0}, expected a player, CHANCE or TERMINAL", mover)
    choices = batch.choices(game, worlds, mover)
    _check_choices(game, before, mover, choices)
    require(Law.BASICS, game, (worlds == before).all(axis=1), before, "reading who moves, and how, changes the world")
    if depth == game.max_depth:
        what = f"the game continues after max_depth={depth} actions"
        require(Law.BASICS, game, mover == TERMINAL, worlds, what)
    return mover, choices


def _check_components(game: Game, worlds: Ints) -> None:
    bounds = game.layout.bounds
    inside = (worlds >= 0) & (worlds < bounds)
    bad = np.argmin(inside, axis=1)
    value = worlds[np.arange(len(worlds)), bad]
    what = "{0} of a world is {1}, expected 0 to {2}"
    require(Law.BASICS, game, inside.all(axis=1), worlds, what, Named(bad, game.layout.code), value, bounds[bad] - 1)


def _check_choices(game: Game, worlds: Ints, mover: Ints, choices: batch.Choices) -> None:
    by_chance = mover == CHANCE
    most = np.where(by_chance, game.num_outcomes, game.num_actions)
    some = (mover == TERMINAL) | ((choices.counts > 0) & (choices.counts <= most))
    require(Law.BASICS, game, some, worlds, "there are {0} choices, expected 1 to {1}", choices.counts, most)
    source, number = choices.source, choices.number
    inside = (number >= 0) & (number < most[source])
    require(Law.BASICS, game, inside, worlds[source], "choice {0} is not below {1}", number, most[source])
    rising = (source[1:] != source[:-1]) | (number[1:] > number[:-1])
    require(Law.BASICS, game, rising, worlds[source[1:]], "choice {0} does not ascend", number[1:])
    positive = np.isfinite(choices.chance) & (choices.chance > 0)
    require(Law.BASICS, game, positive, worlds[source], "chance has probability {0}, expected more", choices.chance)
    total = np.bincount(source, choices.chance, minlength=len(worlds))
    one = ~by_chance | (np.abs(total - 1) < TOLERANCE)
    require(Law.BASICS, game, one, worlds, "the chance distribution sums to {0}, expected 1", total)


def _stepped(game: Game, worlds: Ints, choices: batch.Choices) -> Ints:
    """The worlds after each choice, which must be the same when it is made twice."""
    before = worlds[choices.source]
    once, again = (batch.stepped(game, before, choices.number) for _ in range(2))
    same = (once == again).all(axis=1)
    require(Law.BASICS, game, same, before, "step gives two results for {0}", choices.number)
    return once


def _joined(levels: list[Level], movers: list[Ints], whole: bool) -> Positions:
    level = np.cumsum([0, *(len(x.worlds) for x in levels)])
    before = [0, *level]
    return Positions(
        np.concatenate([x.worlds for x in levels]),
        np.concatenate(movers),
        level,
        np.concatenate([x.histories for x in levels]),
        np.concatenate([x.reach for x in levels]),
        np.concatenate([x.source + b for x, b in zip(levels, before, strict=False)]),
        np.concatenate([x.action for x in levels]),
        np.concatenate([x.target + b for x, b in zip(levels, level, strict=False)]),
        whole,
    )

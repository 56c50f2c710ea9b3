"""A game's rules over many vectors at once, each rule in a kernel that is the same for all games.

The axes of arrays:

    axis  counts
    N     vectors (worlds or views)
    W     components of a vector
    E     choices of all vectors, those of one vector being neighbours
    P     players
    F     features

All arrays come from Python; kernels write into them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, types

from qdts.games.game import Game
from qdts.games.interface import FeaturesType, KernelsType, RulesType
from qdts.games.rule import CHANCE, TERMINAL, UNKNOWN
from qdts.kernels import Ints, Reals, Reals32, declare, kernel

SPARE = 64
"""Room behind the declared number of choices: a rule that writes a few too many is reported, not a memory error."""

Vectors = int64[:, ::1]
Kernel = Callable[..., None]


class Choices(NamedTuple):
    """What may happen at each of some vectors: actions, outcomes, or values of a hole."""

    counts: Ints  # [N] how many the rule reports
    source: Ints  # [E] the vector
    number: Ints  # [E] the action, outcome or value
    chance: Reals  # [E] its probability or weight; 1 for a player's action


class Table(NamedTuple):
    """What may happen at each of some vectors, a row each; 0 where there is nothing more. B choices at most."""

    counts: Ints  # [N]
    number: Ints  # [N, B] actions, outcomes or values
    chance: Reals  # [N, B] their probabilities or weights; a player's actions share 1 equally


class Scratch(NamedTuple):
    """Room for the choices of one vector, with SPARE more than the game declares."""

    numbers: Ints
    chances: Reals


ChoicesType = types.NamedTuple([int64[::1], int64[::1], int64[::1], float64[::1]], Choices)
TableType = types.NamedTuple([int64[::1], int64[:, ::1], float64[:, ::1]], Table)
ScratchType = types.NamedTuple([int64[::1], float64[::1]], Scratch)
declare(Choices, ChoicesType)
declare(Table, TableType)
declare(Scratch, ScratchType)


def movers(game: Game, worlds: Ints) -> Ints:
    """Who moves, int64[N]."""
    out = np.empty(len(worlds), np.int64)
    _movers(game.kernels, game.rules, worlds, out)
    return out


def choices(game: Game, worlds: Ints, mover: Ints) -> Choices:
    """What the movers, players or chance, may do."""
    return _flat(game, game.max_branching, worlds, mover, _count_choices, _write_choices)


def values(game: Game, views: Ints, hole: Ints) -> Choices:
    """What the holes may hold."""
    return _flat(game, game.num_values, views, hole, _count_values, _write_values)


def tabulate_choices(game: Game, worlds: Ints, mover: Ints, rows: Ints, out: Table) -> None:
    """Write what the movers, players or chance, may do into those rows of a table; all else there is 0 before."""
    _tabulate_choices(game.kernels, game.rules, worlds, mover, rows, _scratch(game.max_branching), out)


def tabulate_values(game: Game, views: Ints, hole: Ints, rows: Ints, out: Table) -> None:
    """Write what the holes may hold into those rows of a table; all else there is 0 before."""
    _tabulate_values(game.kernels, game.rules, views, hole, rows, _scratch(game.num_values), out)


def stepped(game: Game, worlds: Ints, action: Ints) -> Ints:
    """The worlds after an action or outcome each, int64[N, W]."""
    after = worlds.copy()
    _step(game.kernels, game.rules, after, action)
    return after


def views(game: Game, worlds: Ints, player: int) -> Ints:
    """What a player knows of the worlds, int64[N, W]."""
    seen = worlds.copy()
    _redact(game.kernels, game.rules, seen, player)
    return seen


def holes(game: Game, views: Ints) -> Ints:
    """The next hole of each view, or NO_HOLE, int64[N]."""
    out = np.empty(len(views), np.int64)
    _holes(game.kernels, game.rules, views, out)
    return out


def filled(game: Game, views: Ints, hole: Ints, value: Ints) -> Ints:
    """The views with one hole filled each, int64[N, W]."""
    after = views.copy()
    _fill(game.kernels, game.rules, after, hole, value)
    return after


def true_values(game: Game, views: Ints, hole: Ints, worlds: Ints) -> Ints:
    """The one value of each hole that fits the true world, int64[N]; −1 where none or several do."""
    out, filling = np.empty(len(views), np.int64), np.zeros(game.world_size, np.int64)
    _true_values(game.kernels, game.rules, views, hole, worlds, _scratch(game.num_values), filling, out)
    return out


def midway(game: Game, worlds: Ints) -> Ints:
    """Whether a split action is not complete yet, int64[N]."""
    out = np.empty(len(worlds), np.int64)
    _midway(game.kernels, game.rules, worlds, out)
    return out


def returns(game: Game, worlds: Ints) -> Reals:
    """Returns of finished games, float64[N, P]; NaN where a rule writes none."""
    out = np.full((len(worlds), game.players), np.nan)
    _returns(game.kernels, game.rules, worlds, out)
    return out


def features(game: Game, vectors: Ints, player: int, before: float = 0.0) -> Reals32:
    """What a network sees, float32[N, F], written over an array filled with `before`."""
    out = np.full((len(vectors), game.num_features), before, np.float32)
    _features(game.kernels.features, game.rules, vectors, player, out)
    return out


def count_histories(game: Game, depth: int, limit: int) -> int:
    """How many histories there are up to a depth; counting stops above the limit."""
    worlds = np.zeros((depth + 1, game.world_size), np.int64)
    numbers = np.zeros((depth + 1, game.max_branching + SPARE), np.int64)
    left, chances = np.zeros(depth + 1, np.int64), np.zeros(numbers.shape[1])
    return int(_count_histories(game.kernels, game.rules, worlds, numbers, left, chances, limit))


def _flat(game: Game, most: int, vectors: Ints, what: Ints, count: Kernel, write: Kernel) -> Choices:
    """List the choices of each vector one after the other: first they are counted, then written."""
    scratch = _scratch(most)
    counts = np.empty(len(vectors), np.int64)
    count(game.kernels, game.rules, vectors, what, scratch, counts)
    source = np.repeat(np.arange(len(counts)), np.clip(counts, 0, most + SPARE))
    out = Choices(counts, source, np.empty(len(source), np.int64), np.empty(len(source)))
    write(game.kernels, game.rules, vectors, what, scratch, out)
    return out


def _scratch(most: int) -> Scratch:
    """Room for so many choices of one vector."""
    return Scratch(np.zeros(most + SPARE, np.int64), np.zeros(most + SPARE))


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1]))
def _movers(game: Any, rules: Ints, worlds: Ints, out: Ints) -> None:
    for i in range(worlds.shape[0]):
        out[i] = game.mover(rules.ctypes, worlds[i].ctypes)


@kernel()
def _choose(game: Any, rules: Ints, world: Ints, mover: int, numbers: Ints, chances: Reals) -> Any:
    """Write one world's choices into scratch; return how many the rule reports."""
    if mover == TERMINAL:
        return 0
    if mover == CHANCE:
        return game.chance(rules.ctypes, world.ctypes, numbers.ctypes, chances.ctypes)
    n = game.legal(rules.ctypes, world.ctypes, numbers.ctypes)
    for k in range(min(n, chances.shape[0])):
        chances[k] = 1.0
    return n


@kernel()
def _offer(game: Any, rules: Ints, view: Ints, hole: int, scratch: Scratch) -> Any:
    """Write the values of one hole into scratch; return how many the rule reports."""
    return game.values(rules.ctypes, view.ctypes, hole, scratch.numbers.ctypes, scratch.chances.ctypes)


@kernel()
def _append(scratch: Scratch, n: int, at: int, out: Choices) -> Any:
    """Copy n choices from scratch to a place; return the next place."""
    room = scratch.numbers.shape[0]
    for k in range(min(n, room)):
        out.number[at + k], out.chance[at + k] = scratch.numbers[k], scratch.chances[k]
    return at + min(max(n, 0), room)


_count_type = types.void(KernelsType, RulesType, Vectors, int64[::1], ScratchType, int64[::1])
_write_type = types.void(KernelsType, RulesType, Vectors, int64[::1], ScratchType, ChoicesType)


@kernel(_count_type)
def _count_choices(game: Any, rules: Ints, worlds: Ints, mover: Ints, scratch: Scratch, counts: Ints) -> None:
    for i in range(worlds.shape[0]):
        counts[i] = _choose(game, rules, worlds[i], mover[i], scratch.numbers, scratch.chances)


@kernel(_write_type)
def _write_choices(game: Any, rules: Ints, worlds: Ints, mover: Ints, scratch: Scratch, out: Choices) -> None:
    at = 0
    for i in range(worlds.shape[0]):
        _choose(game, rules, worlds[i], mover[i], scratch.numbers, scratch.chances)
        at = _append(scratch, out.counts[i], at, out)


@kernel(_count_type)
def _count_values(game: Any, rules: Ints, views: Ints, hole: Ints, scratch: Scratch, counts: Ints) -> None:
    for i in range(views.shape[0]):
        counts[i] = _offer(game, rules, views[i], hole[i], scratch)


@kernel(_write_type)
def _write_values(game: Any, rules: Ints, views: Ints, hole: Ints, scratch: Scratch, out: Choices) -> None:
    at = 0
    for i in range(views.shape[0]):
        _offer(game, rules, views[i], hole[i], scratch)
        at = _append(scratch, out.counts[i], at, out)


@kernel()
def _put(scratch: Scratch, n: int, share: float, row: int, out: Table) -> None:
    """Copy n choices from scratch to a row, their chances times `share`."""
    out.counts[row] = min(max(n, 0), out.number.shape[1])
    for k in range(out.counts[row]):
        out.number[row, k], out.chance[row, k] = scratch.numbers[k], share * scratch.chances[k]


_table_type = types.void(KernelsType, RulesType, Vectors, int64[::1], int64[::1], ScratchType, TableType)


@kernel(_table_type)
def _tabulate_choices(
    game: Any, rules: Ints, worlds: Ints, mover: Ints, rows: Ints, scratch: Scratch, out: Table
) -> None:
    for i in range(worlds.shape[0]):
        n = _choose(game, rules, worlds[i], mover[i], scratch.numbers, scratch.chances)
        _put(scratch, n, 1.0 if mover[i] < 0 else 1.0 / max(1, n), rows[i], out)


@kernel(_table_type)
def _tabulate_values(game: Any, rules: Ints, views: Ints, hole: Ints, rows: Ints, scratch: Scratch, out: Table) -> None:
    for i in range(views.shape[0]):
        _put(scratch, _offer(game, rules, views[i], hole[i], scratch), 1.0, rows[i], out)


@kernel(int64(KernelsType, RulesType, Vectors, Vectors, int64[::1], float64[::1], int64))
def _count_histories(
    game: Any, rules: Ints, worlds: Ints, numbers: Ints, left: Ints, chances: Reals, limit: int
) -> int:
    """Depth first; of the path at hand `worlds`, their choices `numbers`, and how many of these are `left` to make."""
    game.initial(rules.ctypes, worlds[0].ctypes)
    left[0] = _choose(game, rules, worlds[0], game.mover(rules.ctypes, worlds[0].ctypes), numbers[0], chances)
    total, depth = 1, 0
    while depth >= 0 and total <= limit:
        if left[depth] <= 0 or depth + 1 == worlds.shape[0]:
            depth -= 1
            continue
        left[depth] -= 1
        world, below = worlds[depth], worlds[depth + 1]
        for i in range(world.shape[0]):
            below[i] = world[i]
        game.step(rules.ctypes, below.ctypes, numbers[depth, left[depth]])
        depth += 1
        left[depth] = _choose(game, rules, below, game.mover(rules.ctypes, below.ctypes), numbers[depth], chances)
        total += 1
    return total


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1]))
def _step(game: Any, rules: Ints, worlds: Ints, action: Ints) -> None:
    for i in range(worlds.shape[0]):
        game.step(rules.ctypes, worlds[i].ctypes, action[i])


@kernel(types.void(KernelsType, RulesType, Vectors, int64))
def _redact(game: Any, rules: Ints, worlds: Ints, player: int) -> None:
    for i in range(worlds.shape[0]):
        game.redact(rules.ctypes, worlds[i].ctypes, player)


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1]))
def _holes(game: Any, rules: Ints, views: Ints, out: Ints) -> None:
    for i in range(views.shape[0]):
        out[i] = game.hole(rules.ctypes, views[i].ctypes)


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1], int64[::1]))
def _fill(game: Any, rules: Ints, views: Ints, hole: Ints, value: Ints) -> None:
    for i in range(views.shape[0]):
        game.fill(rules.ctypes, views[i].ctypes, hole[i], value[i])


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1], Vectors, ScratchType, int64[::1], int64[::1]))
def _true_values(
    game: Any, rules: Ints, views: Ints, hole: Ints, worlds: Ints, scratch: Scratch, filled: Ints, out: Ints
) -> None:
    for i in range(views.shape[0]):
        fitting, out[i] = 0, -1
        for k in range(min(_offer(game, rules, views[i], hole[i], scratch), scratch.numbers.shape[0])):
            for j in range(filled.shape[0]):  # assigning all at once takes seconds to compile
                filled[j] = views[i, j]
            game.fill(rules.ctypes, filled.ctypes, hole[i], scratch.numbers[k])
            fits = True
            for j in range(filled.shape[0]):
                fits &= filled[j] == UNKNOWN or filled[j] == worlds[i, j]
            if fits:
                fitting += 1
                out[i] = scratch.numbers[k] if fitting == 1 else -1


@kernel(types.void(KernelsType, RulesType, Vectors, int64[::1]))
def _midway(game: Any, rules: Ints, worlds: Ints, out: Ints) -> None:
    for i in range(worlds.shape[0]):
        out[i] = game.midway(rules.ctypes, worlds[i].ctypes)


@kernel(types.void(KernelsType, RulesType, Vectors, float64[:, ::1]))
def _returns(game: Any, rules: Ints, worlds: Ints, out: Reals) -> None:
    for i in range(worlds.shape[0]):
        game.returns(rules.ctypes, worlds[i].ctypes, out[i].ctypes)


@kernel(types.void(FeaturesType, RulesType, Vectors, int64, float32[:, ::1]))
def _features(features: Any, rules: Ints, vectors: Ints, player: int, out: Reals32) -> None:
    for i in range(vectors.shape[0]):
        features(rules.ctypes, vectors[i].ctypes, player, out[i].ctypes)

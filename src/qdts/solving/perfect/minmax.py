"""Min-max and alpha-beta search (document 004) for two-player zero-sum games of perfect information without chance.

Player 0 is Max, player 1 is Min. With α the value that Max and β the value that Min can already secure elsewhere,

    V(s) = r(s) at the end,  max over a of V(s·a) where Max moves,  min over a of V(s·a) where Min moves

and alpha-beta leaves a node as soon as V(s) ≥ β (Min avoids it) or V(s) ≤ α (Max avoids it). It tries the best move in
the transposition table first, then the others by past success (the history heuristic: how many nodes a move cut off).
The table keeps, by full position, a value that is exact or a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL, KernelsType, RulesType
from qdts.hashing import hash_vector
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, compile_now, kernel

FREE, EXACT, AT_LEAST, AT_MOST = range(4)
"""What an entry of the table holds: nothing, V, or a lower or upper bound of V."""
LEAVES, CHANCES, TOO_DEEP = range(3)
"""Counters: finished games evaluated; chance nodes, and nodes deeper than the game says (there must be none)."""


@dataclass(frozen=True)
class Outcome:
    """The result of a search."""

    value: float
    """V of the start, for the first player."""
    line: tuple[int, ...]
    """The principal variation: optimal moves of both, the first one where several are equally good."""
    leaves: int
    """How many finished games were evaluated to find the value."""


class Scratch(NamedTuple):
    """Working memory, a row for each depth; B is the widest branching. An empty table is never used."""

    worlds: Ints  # [D, W]
    moves: Ints  # [D, B]
    returns: Reals  # [P]
    counters: Ints  # [3]
    success: Ints  # [2, actions] how often a move of a player cut off a node; no columns: moves stay in order
    key: Ints  # [table, W]
    known: NDArray[np.int8]  # [table] FREE, EXACT, AT_LEAST or AT_MOST
    value: Reals  # [table]
    best: Ints  # [table]
    stop: Ints  # [1] not 0: return at once, whatever the value


_ScratchType = types.NamedTuple(
    [
        *(int64[:, ::1], int64[:, ::1], float64[::1], int64[::1]),
        *(int64[:, ::1], int64[:, ::1], types.int8[::1], float64[::1], int64[::1], FlagType),
    ],
    Scratch,
)


def min_max(game: Game) -> Outcome:
    """Min-max: evaluate every finished game."""
    return _search(game, _scratch(game, table=0, ordering=False), pruning=False)


def alpha_beta(game: Game, *, ordering: bool = True, table: int = 1 << 16) -> Outcome:
    """Alpha-beta: skip what can't matter. `table` is the size of the transposition table (a power of two, or 0)."""
    if table & (table - 1):
        raise InputError(f"table={table}, expected a power of two or 0")
    return _search(game, _scratch(game, table=table, ordering=ordering), pruning=True)


def prepare(*, pruning: bool) -> None:
    """Compile what min-max, or alpha-beta with its pruning, calls."""
    compile_now(_alpha_beta if pruning else _min_max)


def _scratch(game: Game, *, table: int, ordering: bool) -> Scratch:
    if game.hidden or game.players != 2 or not game.zero_sum:
        raise InputError(f"min-max needs a two-player zero-sum game of perfect information, {game.spec} is not one")
    depth = game.max_depth + 1
    return Scratch(
        np.zeros((depth, game.world_size), np.int64),
        np.zeros((depth, game.max_branching), np.int64),
        np.zeros(game.players),
        np.zeros(3, np.int64),
        np.zeros((2, game.num_actions if ordering else 0), np.int64),
        np.zeros((table, game.world_size), np.int64),
        np.zeros(table, np.int8),
        np.zeros(table),
        np.zeros(table, np.int64),
        stop_flag(),
    )


def _search(game: Game, scratch: Scratch, *, pruning: bool) -> Outcome:
    def value(world: Ints) -> float:
        scratch.worlds[0] = world
        if pruning:
            v = _alpha_beta(game.kernels, game.rules, scratch, 0, -np.inf, np.inf)
        else:
            v = _min_max(game.kernels, game.rules, scratch, 0)
        verify_not_stopped()
        if scratch.counters[CHANCES]:
            raise InputError(f"min-max needs a game without chance, {game.spec} has some")
        if scratch.counters[TOO_DEEP]:
            raise InputError(f"{game.spec}: a history is longer than max_depth={game.max_depth}")
        return float(v)

    world = game.initial()
    best = value(world)
    leaves = int(scratch.counters[LEAVES])
    line: list[int] = []
    while game.mover(world) != TERMINAL:
        action = next(a for a in game.legal(world) if value(game.step(world, a)) == best)
        line.append(action)
        world = game.step(world, action)
    return Outcome(best, tuple(line), leaves)


@kernel()
def _end(game: Any, rules: Ints, s: Scratch, depth: int) -> float:
    """Max's return at the end of a game."""
    s.counters[LEAVES] += 1
    game.returns(rules.ctypes, s.worlds[depth].ctypes, s.returns.ctypes)
    return s.returns[0]


@kernel()
def _may_expand(s: Scratch, depth: int, mover: int) -> bool:
    """Whether a node may have children; if not, it is counted, unless the search is to stop."""
    if s.stop[0]:
        return False
    if mover == CHANCE:
        s.counters[CHANCES] += 1
    elif depth + 1 == len(s.worlds):
        s.counters[TOO_DEEP] += 1
    else:
        return True
    return False


@kernel()
def _descend(game: Any, rules: Ints, s: Scratch, depth: int, action: int) -> None:
    """Write the world after an action one row below."""
    s.worlds[depth + 1] = s.worlds[depth]
    game.step(rules.ctypes, s.worlds[depth + 1].ctypes, action)


@kernel(float64(KernelsType, RulesType, _ScratchType, int64))
def _min_max(game: Any, rules: Ints, s: Scratch, depth: int) -> float:
    mover = game.mover(rules.ctypes, s.worlds[depth].ctypes)
    if mover == TERMINAL:
        return _end(game, rules, s, depth)
    if not _may_expand(s, depth, mover):
        return 0.0
    best = -np.inf if mover == 0 else np.inf
    for k in range(game.legal(rules.ctypes, s.worlds[depth].ctypes, s.moves[depth].ctypes)):
        _descend(game, rules, s, depth, s.moves[depth, k])
        v = _min_max(game, rules, s, depth + 1)
        best = max(best, v) if mover == 0 else min(best, v)
    return best


@kernel()
def _look_up(s: Scratch, depth: int) -> int:
    """The entry of the position in the table, or -1 if it has none."""
    if len(s.known) == 0:
        return -1
    place = hash_vector(s.worlds[depth], s.worlds.shape[1], 0) & (len(s.known) - 1)
    if s.known[place] == FREE:
        return -1
    for i in range(s.worlds.shape[1]):
        if s.key[place, i] != s.worlds[depth, i]:
            return -1
    return place


@kernel()
def _store(s: Scratch, depth: int, known: int, value: float, best: int) -> None:
    """Put a position into the table, whatever its entry held."""
    if len(s.known) == 0:
        return
    place = hash_vector(s.worlds[depth], s.worlds.shape[1], 0) & (len(s.known) - 1)
    s.key[place] = s.worlds[depth]
    s.known[place] = known
    s.value[place] = value
    s.best[place] = best


@kernel()
def _order(s: Scratch, depth: int, n: int, mover: int, first: int) -> None:
    """Sort n moves: the table's best move first, then by past success, then in the given order."""
    if s.success.shape[1] == 0:
        return
    moves = s.moves[depth]
    for i in range(1, n):
        move = moves[i]
        j = i - 1
        while j >= 0 and moves[j] != first and (move == first or s.success[mover, move] > s.success[mover, moves[j]]):
            moves[j + 1] = moves[j]
            j -= 1
        moves[j + 1] = move


@kernel(float64(KernelsType, RulesType, _ScratchType, int64, float64, float64))
def _alpha_beta(game: Any, rules: Ints, s: Scratch, depth: int, alpha: float, beta: float) -> float:
    mover = game.mover(rules.ctypes, s.worlds[depth].ctypes)
    if mover == TERMINAL:
        return _end(game, rules, s, depth)
    if not _may_expand(s, depth, mover):
        return 0.0
    place, first = _look_up(s, depth), -1
    if place >= 0:
        known, v, first = s.known[place], s.value[place], s.best[place]
        if known == EXACT or (known == AT_LEAST and v >= beta) or (known == AT_MOST and v <= alpha):
            return v
    n = game.legal(rules.ctypes, s.worlds[depth].ctypes, s.moves[depth].ctypes)
    _order(s, depth, n, mover, first)
    best, choice, low, high = (-np.inf if mover == 0 else np.inf), -1, alpha, beta
    for k in range(n):
        action = s.moves[depth, k]
        _descend(game, rules, s, depth, action)
        v = _alpha_beta(game, rules, s, depth + 1, low, high)
        if choice < 0 or (v > best if mover == 0 else v < best):
            best, choice = v, action
        if mover == 0:
            low = max(low, best)
        else:
            high = min(high, best)
        if low >= high:
            if s.success.shape[1] > 0:
                s.success[mover, action] += 1
            break
    known = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
    _store(s, depth, known, best, choice)
    return best

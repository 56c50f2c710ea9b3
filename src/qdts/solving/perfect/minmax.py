"""Min-max and alpha-beta search (document 004) for two players, zero-sum, nothing hidden, no chance.

Player 0 is Max, player 1 is Min. With α what Max and β what Min is already sure of elsewhere,

    V(s) = r(s) at the end,  max over a of V(s·a) where Max moves,  min over a of V(s·a) where Min moves

and alpha-beta leaves a node as soon as V(s) ≥ β (Min avoids it) or V(s) ≤ α (Max does). It tries the moves in
the order of their past success (the history heuristic: how many nodes a move cut off), after the best move that the
transposition table remembers. The table keeps, by full position, a value that is exact or a bound.
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
from qdts.interrupt import FlagType, stop_flag, verify_not_stopped
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.tree import hash_view

FREE, EXACT, AT_LEAST, AT_MOST = range(4)
"""What a place of the table holds: nothing, V, or a bound of V from below or above."""
LEAVES, CHANCES, TOO_DEEP = range(3)
"""Counters: finished games looked at; chance nodes, and nodes deeper than the game says (there must be none)."""


@dataclass(frozen=True)
class Outcome:
    """What a search found."""

    value: float
    """V of the start, to the first player."""
    line: tuple[int, ...]
    """The principal variation: optimal moves of both, the first one where several are equally good."""
    leaves: int
    """How many finished games were looked at to find the value."""


class Scratch(NamedTuple):
    """Working memory, a row for each depth; B is the widest branching. A table of no rows is never used."""

    worlds: Ints  # [D, W]
    moves: Ints  # [D, B]
    returns: Reals  # [P]
    counters: Ints  # [3]
    success: Ints  # [2, actions] how often a move of a player cut off a node; no columns: moves stay in order
    key: Ints  # [table, W]
    known: NDArray[np.int8]  # [table] FREE, EXACT, AT_LEAST or AT_MOST
    value: Reals  # [table]
    best: Ints  # [table]
    stop: Ints  # [1] not 0: leave, whatever the value


_ScratchType = types.NamedTuple(
    [
        *(int64[:, ::1], int64[:, ::1], float64[::1], int64[::1]),
        *(int64[:, ::1], int64[:, ::1], types.int8[::1], float64[::1], int64[::1], FlagType),
    ],
    Scratch,
)


def min_max(game: Game) -> Outcome:
    """Look at every finished game."""
    return _search(game, _scratch(game, table=0, ordering=False), pruning=False)


def alpha_beta(game: Game, *, ordering: bool = True, table: int = 1 << 16) -> Outcome:
    """Leave out what can't matter. `table` is the number of positions remembered (a power of two, or 0)."""
    if table & (table - 1):
        raise InputError(f"table={table}, expected a power of two or 0")
    return _search(game, _scratch(game, table=table, ordering=ordering), pruning=True)


def _scratch(game: Game, *, table: int, ordering: bool) -> Scratch:
    if game.hidden or game.players != 2 or not game.zero_sum:
        raise InputError(f"min-max needs a zero-sum game for two that hides nothing, {game.spec} is not one")
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
            found = _alpha_beta(game.kernels, game.rules, scratch, 0, -np.inf, np.inf)
        else:
            found = _min_max(game.kernels, game.rules, scratch, 0)
        verify_not_stopped()
        if scratch.counters[CHANCES]:
            raise InputError(f"min-max needs a game without chance, {game.spec} has some")
        if scratch.counters[TOO_DEEP]:
            raise InputError(f"{game.spec}: a history is longer than max_depth={game.max_depth}")
        return float(found)

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
    """Max's return of a finished game."""
    s.counters[LEAVES] += 1
    game.returns(rules.ctypes, s.worlds[depth].ctypes, s.returns.ctypes)
    return s.returns[0]


@kernel()
def _can_go_on(s: Scratch, depth: int, mover: int) -> bool:
    """Whether a node may have children; counted if not, unless the search is to stop."""
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
    if not _can_go_on(s, depth, mover):
        return 0.0
    best = -np.inf if mover == 0 else np.inf
    for k in range(game.legal(rules.ctypes, s.worlds[depth].ctypes, s.moves[depth].ctypes)):
        _descend(game, rules, s, depth, s.moves[depth, k])
        v = _min_max(game, rules, s, depth + 1)
        best = max(best, v) if mover == 0 else min(best, v)
    return best


@kernel()
def _remembered(s: Scratch, depth: int) -> int:
    """The place of the position in the table, or -1 where it is not there."""
    if len(s.known) == 0:
        return -1
    place = hash_view(s.worlds[depth], 0) & (len(s.known) - 1)
    if s.known[place] == FREE:
        return -1
    for i in range(s.worlds.shape[1]):
        if s.key[place, i] != s.worlds[depth, i]:
            return -1
    return place


@kernel()
def _remember(s: Scratch, depth: int, known: int, value: float, best: int) -> None:
    """Put a position into the table, whatever stood there."""
    if len(s.known) == 0:
        return
    place = hash_view(s.worlds[depth], 0) & (len(s.known) - 1)
    s.key[place] = s.worlds[depth]
    s.known[place] = known
    s.value[place] = value
    s.best[place] = best


@kernel()
def _order(s: Scratch, depth: int, n: int, mover: int, first: int) -> None:
    """Sort n moves: the one remembered first, then by past success, then as they came."""
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
    if not _can_go_on(s, depth, mover):
        return 0.0
    place, first = _remembered(s, depth), -1
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
    _remember(s, depth, known, best, choice)
    return best

"""A perfect solver of connect four on its usual board, and a fixed set of positions whose best moves it knows.

A board is two numbers of 7 × 7 bits, a column after the other, the top bit of each always free: `own`, the stones of
the player to move, and `taken`, all stones. The value is that of the player to move: 1 they win, 0 a draw, −1 they
lose. Alpha-beta looks at central columns first, plays a forced defence at once, and remembers bounds in a table.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.kernels import Ints, kernel

ROWS, COLUMNS = 6, 7
HEIGHT = ROWS + 1
BOTTOM = sum(1 << HEIGHT * column for column in range(COLUMNS))
FULL = BOTTOM * ((1 << ROWS) - 1)
TABLE = (1 << 22) + 9
"""Places of the table, an odd number."""
STONES = 14, 24
"""The fewest and the most stones of the positions, which are solved quickly."""
SEED = 4


Bytes = NDArray[np.int8]


class Positions(NamedTuple):
    """Positions at which some moves are better than others."""

    worlds: Ints  # [N, W]
    value: Ints  # [N, 7] of each column to the player to move: 1, 0 or −1; FORBIDDEN where it is full


FORBIDDEN = -2


@kernel(inline=True)
def has_four(cells: int) -> bool:
    """Whether four of some cells are in a line."""
    found = False
    for step in (1, HEIGHT - 1, HEIGHT, HEIGHT + 1):
        pairs = cells & (cells >> step)
        found |= (pairs & (pairs >> 2 * step)) != 0
    return found


@kernel(inline=True)
def free_cells(taken: int) -> int:
    """The lowest free cell of each column that is not full."""
    return (taken + BOTTOM) & FULL


@kernel(inline=True)
def wins(own: int, free: int) -> int:
    """The free cells that complete a line of `own`."""
    found = 0
    left = free
    while left:
        cell = left & -left
        left ^= cell
        if has_four(own | cell):
            found |= cell
    return found


@kernel(int64(int64, int64, int64, int64, int64[::1], types.int8[::1]))
def solve(own: int, taken: int, alpha: int, beta: int, keys: Ints, bounds: Bytes) -> int:
    """The value of a position in which the player to move can't win at once, within alpha and beta."""
    free = free_cells(taken)
    if free == 0:
        return 0
    other = own ^ taken
    threats = wins(other, free)
    if threats & (threats - 1):
        return -1
    if threats:
        free = threats
    key = own + taken + BOTTOM
    place = key % TABLE
    if keys[place] == key:
        bound = bounds[place]
        low, high = bound // 3 - 1, bound % 3 - 1
        alpha, beta = max(alpha, low), min(beta, high)
        if alpha >= beta:
            return alpha
    best, first = -1, alpha
    for i in range(COLUMNS):
        column = COLUMNS // 2 + (i + 1) // 2 * (1 if i % 2 else -1)
        cell = free & ((1 << ROWS) - 1) << HEIGHT * column
        if cell == 0:
            continue
        then = taken | cell
        loses = wins(other, free_cells(then)) != 0
        value = -1 if loses else -solve(other, then, -beta, -alpha, keys, bounds)
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    low = best if best > first else -1
    high = best if best < beta else 1
    keys[place], bounds[place] = key, (low + 1) * 3 + high + 1
    return best


@kernel(types.void(int64, int64, int64[::1], types.int8[::1], int64[::1]))
def solve_moves(own: int, taken: int, keys: Ints, bounds: Bytes, value: Ints) -> None:
    """The value of each column to the player to move, FORBIDDEN where it is full."""
    free = free_cells(taken)
    for column in range(COLUMNS):
        cell = free & ((1 << ROWS) - 1) << HEIGHT * column
        value[column] = FORBIDDEN
        if cell == 0:
            continue
        if has_four(own | cell):
            value[column] = 1
        elif wins(own ^ taken, free_cells(taken | cell)):
            value[column] = -1
        else:
            value[column] = -solve(own ^ taken, taken | cell, -1, 1, keys, bounds)


def bits_of(game: Game, world: Ints) -> tuple[int, int]:
    """A position of the game as `own` and `taken`."""
    column = (1 << ROWS) - 1
    own, other = (
        sum((int(world[p]) >> ROWS * c & column) << HEIGHT * c for c in range(COLUMNS))
        for p in (game.mover(world), 1 - game.mover(world))
    )
    return own, own | other


@lru_cache(maxsize=2)
def solved_positions(count: int) -> Positions:
    """So many positions after random moves, of which some keep the value of the position and others do not."""
    game, stream = load_game("connect_four"), np.random.default_rng(SEED)
    keys, bounds = np.zeros(TABLE, np.int64), np.zeros(TABLE, np.int8)
    worlds: list[Ints] = []
    values: list[Ints] = []
    while len(worlds) < count:
        world = _random_position(game, int(stream.integers(STONES[0], STONES[1] + 1)), stream)
        value = np.zeros(COLUMNS, np.int64)
        if world is not None:
            solve_moves(*bits_of(game, world), keys, bounds, value)
            if len(set(value.tolist()) - {FORBIDDEN}) > 1:
                worlds.append(world)
                values.append(value)
    return Positions(np.array(worlds), np.array(values))


def _random_position(game: Game, stones: int, stream: np.random.Generator) -> Ints | None:
    """A position after so many random moves; None if the game is over before."""
    world = game.initial()
    for _ in range(stones):
        if game.mover(world) < 0:
            return None
        world = game.step(world, int(stream.choice(game.legal(world))))
    return world if game.mover(world) >= 0 else None

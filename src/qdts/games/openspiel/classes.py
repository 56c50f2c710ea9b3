"""What a player can tell apart: classes of histories, from what they see at each of them.

    past(h)    what they did last before h and the class at which they did it, if anything
    class(h)   the number of (past(h), whether it is their turn, what they see at h), in the order of discovery;
               of a finished game: of (class(parent of h), what they did there if it was their turn, what they see at h)

So two histories of one class have the same own turns behind them, with the same views and actions, and a player
knows at the end what they knew just before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdts.games.rule import TERMINAL
from qdts.kernels import Ints, kernel

NONE = -1
"""No class before the first, and no action of their own."""
WAITS, MOVES, OVER = range(3)
"""What a player knows of whose turn it is."""


@kernel()
def same_key(key: Ints, one: int, other: int) -> bool:
    """Whether two rows are equal."""
    same = True
    for i in range(key.shape[1]):
        same &= key[one, i] == key[other, i]
    return same


@kernel("int64[::1](int64[::1], int64[::1], int64[::1], int64[::1], int64)")
def tell_apart(parent: Ints, action: Ints, mover: Ints, seen: Ints, player: int) -> Ints:
    """The player's class of every history, given by number what they see there; parents come first."""
    histories = len(parent)
    key = np.empty((histories, 4), np.int64)  # of each history: its past (class, action), turn, and what they see
    example, classes = np.empty(histories, np.int64), np.empty(histories, np.int64)
    size = 16
    while size < 2 * histories:
        size *= 2
    table = np.full(size, NONE, np.int64)
    count = 0
    for h in range(histories):
        before, over = parent[h], mover[h] == TERMINAL
        if before < 0:
            key[h, 0] = key[h, 1] = NONE
        elif mover[before] == player:
            key[h, 0], key[h, 1] = classes[before], action[h]
        elif over:
            key[h, 0], key[h, 1] = classes[before], NONE
        else:
            key[h, 0], key[h, 1] = key[before, 0], key[before, 1]
        key[h, 2] = OVER if over else MOVES if mover[h] == player else WAITS
        key[h, 3] = seen[h]
        place = np.uint64(0)
        for i in range(4):
            place = (place ^ np.uint64(key[h, i])) * np.uint64(0xFF51AFD7ED558CCD)
            place ^= place >> np.uint64(32)
        at = np.int64(place & np.uint64(size - 1))
        while table[at] != NONE and not same_key(key, example[table[at]], h):
            at = (at + 1) & (size - 1)
        if table[at] == NONE:
            table[at] = count
            example[count] = h
            count += 1
        classes[h] = table[at]
    return classes


@kernel("boolean(int64[::1], int64[::1])")
def tell_the_past(parent: Ints, classes: Ints) -> bool:
    """Whether each class determines which other class came before it."""
    previous = np.full(len(classes), NONE, np.int64)
    before = np.full(len(classes), NONE - 1, np.int64)  # of each class; below NONE: not met yet
    for h in range(len(classes)):
        if parent[h] >= 0:
            after = classes[parent[h]]
            previous[h] = previous[parent[h]] if classes[h] == after else after
        if before[classes[h]] < NONE:
            before[classes[h]] = previous[h]
        elif before[classes[h]] != previous[h]:
            return False
    return True


def examples(classes: Ints) -> NDArray[np.intp]:
    """The first history of each class, classes being numbered in the order of discovery."""
    return np.flatnonzero(np.r_[True, classes[1:] > np.maximum.accumulate(classes)[:-1]])

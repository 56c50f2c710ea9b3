"""Strongly connected components of a graph: sets of positions that can be reached from each other.

Tarjan's algorithm (1972), with an explicit path instead of recursion. A position is *open* from its discovery until its
component is complete; `low` is the number of the earliest open position that is known to be reachable from it. Where
that is the position itself, everything opened since then is one component, and its successors are in earlier ones.
"""

from __future__ import annotations

import numpy as np
from numba import int64, types
from numpy.typing import NDArray

from qdts.kernels import Ints, kernel

UNSEEN = 0


@kernel(types.Tuple((types.int32[::1], types.int32[::1]))(int64[::1], int64[::1]))
def components(first: Ints, child: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All nodes component by component, and the start of each component, with the end of the last.

    The edges of node s are first[s] to first[s + 1]. An edge never leads to a later component.
    """
    n = len(first) - 1
    number, low = np.full(n, UNSEEN, np.int32), np.zeros(n, np.int32)
    cursor = first[:n].copy()
    path, opened = np.empty(n, np.int32), np.empty(n, np.int32)
    order, start = np.empty(n, np.int32), np.zeros(n + 1, np.int32)
    numbered = placed = count = on_path = still_open = 0
    for root in range(n):
        if number[root] != UNSEEN:
            continue
        path[0], on_path = root, 1
        while on_path > 0:
            s = path[on_path - 1]
            if number[s] == UNSEEN:
                numbered += 1
                number[s] = low[s] = numbered
                opened[still_open] = s
                still_open += 1
            elif cursor[s] > first[s]:  # back from the last child visited
                low[s] = min(low[s], low[child[cursor[s] - 1]])
            while cursor[s] < first[s + 1] and number[child[cursor[s]]] != UNSEEN:
                low[s] = min(low[s], low[child[cursor[s]]])
                cursor[s] += 1
            if cursor[s] < first[s + 1]:
                path[on_path] = child[cursor[s]]
                on_path += 1
                cursor[s] += 1
                continue
            on_path -= 1
            if low[s] < number[s]:
                continue
            while still_open > 0 and number[opened[still_open - 1]] >= number[s]:
                still_open -= 1
                order[placed] = opened[still_open]
                low[opened[still_open]] = n + 1  # no longer open: it lowers no other
                placed += 1
            count += 1
            start[count] = placed
    return order, start[: count + 1].copy()

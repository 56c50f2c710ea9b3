"""How large a game of OpenSpiel is, without listing it."""

from __future__ import annotations

import random
from statistics import median
from typing import Any

WALKS = 16
"""Random games from which the size of a game is estimated."""


def estimate_histories(theirs: Any) -> float:
    """About how many histories a game has, more often too few than too many.

    It is the median of estimates from random games: the sum over a game's histories of the product of all numbers of
    choices before it, which is right on average (Knuth 1975), but mostly too small. 0 where play gets stuck: who lists
    the game will see where.
    """
    draw = random.Random(0)
    found = []
    for _ in range(WALKS):
        state, total, product = theirs.new_initial_state(), 1.0, 1.0
        while not state.is_terminal():
            if not (choices := state.legal_actions()):
                return 0.0
            product *= len(choices)
            total += product
            state.apply_action(draw.choice(choices))
        found.append(total)
    return min(median(found), 1e300)

"""What the other player's tries say of each cell, packed into one number, and what is left of that as play goes on.

The *pattern* of a list of tries has five bits for each cell of the board:

    code          the cell
    NEVER         was never tried, or is of no concern any more
    PAST          has a stone that was set before now
    PAST + t      has a stone that is set in turn t, from now on
    FAIL | t      is tried in vain in turn t, from now on

and above them the number of turns, and whether the last ends with a goal. Turns count from 1. `docs/solving.md` says
which patterns of two players agree.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import kernel

BITS = 5
MOST_CELLS = 11
"""Codes of eleven cells, the number of turns and the goal fit into 63 bits."""
NEVER, PAST, FAIL, CODE = 0, 1, 16, 31
LENGTH, GOAL = BITS * MOST_CELLS, BITS * MOST_CELLS + 4
"""Where the number of turns begins, and the bit that says whether the last ends with a goal."""
LENGTHS = 15

ONES = sum(1 << BITS * cell for cell in range(MOST_CELLS))
"""A one in each cell; times a code, that code in each cell."""
FAILS = FAIL * ONES
"""The bit that is set in the code of a failure, and in no other, for each cell."""
DROPPED = -1
"""What becomes of a pattern that does not agree."""


@kernel(inline=True)
def stone(cell: int, turn: int) -> int:
    """The code of a stone that is set in a turn, in its cell."""
    return (PAST + turn) << BITS * cell


@kernel(inline=True)
def failure(cell: int, turn: int) -> int:
    """The code of a try in vain in a turn, in its cell."""
    return (FAIL | turn) << BITS * cell


@kernel(inline=True)
def complete(pattern: int, turns: int, goal: int) -> int:
    """The pattern of a list of so many complete turns."""
    return pattern | turns << LENGTH | goal << GOAL


@kernel(inline=True)
def length(pattern: int) -> int:
    """The number of turns."""
    return pattern >> LENGTH & LENGTHS


@kernel(inline=True)
def is_goal(pattern: int) -> bool:
    """Whether the last turn ends with a goal."""
    return pattern >> GOAL != 0


@kernel(inline=True)
def has_failures(pattern: int) -> bool:
    """Whether there is a try in vain in any cell that still matters."""
    return pattern & FAILS != 0


@kernel(inline=True)
def without_cell(pattern: int, cell: int, failed: int) -> int:
    """The pattern after the responder has tried a cell, with a stone or in vain; DROPPED if it does not agree.

    Stones and failures that are still to come are after now: so the other may fail at the responder's new stone later,
    and the responder fails at stones of the past.
    """
    code = pattern >> BITS * cell & CODE
    agrees = code == PAST if failed else code == NEVER or code & FAIL != 0
    return pattern & ~(CODE << BITS * cell) if agrees else DROPPED


@kernel(inline=True)
def after_turn(pattern: int, turn: int) -> int:
    """The pattern after a turn of the other has passed, one that is neither their last nor before it; or DROPPED.

    They can't have failed in it where the responder has no stone, so at no cell that still matters.
    """
    if cells_with(pattern, FAIL | turn) != 0:
        return DROPPED
    found = cells_with(pattern, PAST + turn)
    return pattern ^ ((found & -found) // FAIL) * (PAST + turn ^ PAST)


@kernel(inline=True)
def cells_with(pattern: int, code: int) -> int:
    """Cells that have a code: the lowest bit that is set is the FAIL bit of the first of them; 0 if there is none.

    A difference of zero is the only one that borrows from the bit above it: (x - 1) & ~x, for all cells at once. Cells
    above the first may be wrong, for it borrows from them.
    """
    different = pattern & (1 << LENGTH) - 1 ^ code * ONES
    return different - ONES & ~different & FAILS


@kernel(inline=True)
def place(pattern: int, mask: int) -> int:
    """Where a pattern is looked for first in a hash table; `mask` is its length minus one."""
    return int(np.uint64(pattern) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask

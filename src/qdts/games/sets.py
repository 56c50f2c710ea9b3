"""Sets of small numbers (cards, cells) as the bits of one component.

These loops are known to the compiler, which makes one instruction of `size` and one of each turn of `nth`.
"""

from __future__ import annotations

import numpy as np

from qdts.kernels import Ints, kernel
from qdts.rng import one_of


@kernel(inline=True)
def size(members: int) -> int:
    """How many members a set has."""
    count = 0
    while members != 0:
        members &= members - 1
        count += 1
    return count


@kernel(inline=True)
def nth(members: int, n: int) -> int:
    """The member of a set that has n smaller ones. Branches would depend on n, which is random: masks don't."""
    while n >= 8:
        members = without(members, 8)
        n -= 8
    members ^= (members ^ without(members, 4)) & -(n >> 2)
    members ^= (members ^ without(members, 2)) & -(n >> 1 & 1)
    members ^= (members ^ without(members, 1)) & -(n & 1)
    return lowest(members)


@kernel(inline=True)
def without(members: int, n: int) -> int:
    """A set without its n smallest members."""
    for _ in range(n):
        members &= members - 1
    return members


@kernel(inline=True)
def lowest(members: int) -> int:
    """The smallest member of a set."""
    return size((members & -members) - 1)


@kernel(inline=True)
def any_of(members: int, bits: np.uint64) -> int:
    """One of the members of a set, by random bits."""
    return nth(members, one_of(size(members), bits))


@kernel()
def listed(members: int, out: Ints) -> int:
    """Write the members of a set, ascending; return how many."""
    count = 0
    while members != 0:
        out[count] = lowest(members)
        members &= members - 1
        count += 1
    return count

"""The rows of scratch: R reals each, which mean something from their writer to their reader and no longer.

Several names stand for one row where their lives never overlap.

    0   PROBABILITY, RULES, LOWER, WEIGHT
    1   STATIC, UPPER, SHARE
    2   FREE, MIRROR_LOWER
    3   MIRROR_UPPER
    4   MIRROR_PRIOR
    5…9 LOW, HIGH, CHILD_VALUE, COUNT, SAMPLED_FROM
"""

from __future__ import annotations

from qdts.kernels import Reals, kernel
from qdts.pointers import moved
from qdts.search.forest.lanes.lane import ROWS, Lane

PROBABILITY = 0
"""D of each term: from `write_terms` to Q or Φ of the same node."""
STATIC = 1
"""V* of each term, as long."""
FREE = 2
"""For what is computed from terms: `expectation_range` and its kind overwrite it."""
LOW, HIGH, CHILD_VALUE, COUNT = 5, 6, 7, 8
"""Q, V_c and N of each term, as long; LOW and HIGH also Q of each edge of an ACT node, for Φ."""
SAMPLED_FROM = 9
"""The distribution that an ACT node's choice was sampled from: from `select` to Φ of that choice."""

RULES = 0
"""What the rules write: weights of a hole's values, or every player's returns. Read at once."""
LOWER, UPPER = 0, 1
"""The ends of each edge's PUCT interval, within `select`."""
WEIGHT, SHARE = 0, 1
"""The shares of an ACT node's edges in its Q, and those that are not zero, within `back_up`."""
MIRROR_LOWER, MIRROR_UPPER, MIRROR_PRIOR = 2, 3, 4
"""Q and P of each edge, within `write_mirror`, which may write into any other row."""

assert max(SAMPLED_FROM, COUNT) < ROWS


@kernel()
def scratch(lane: Lane, row: int) -> Reals:
    """One of the rows of R numbers."""
    return moved(lane.reals, row * lane.row)

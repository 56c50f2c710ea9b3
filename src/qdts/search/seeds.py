"""Seeds of searches, derived from the view that is searched: the same view and seed give the same search."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from qdts.kernels import Ints


def view_seed(view: Ints, seed: int) -> int:
    """The seed of the search at a view: 63 bits of a hash of the view and a seed."""
    return _hash(f"{seed} ".encode(), view) >> 1


def nested_seed(view: Ints, player: int, seed: int) -> int:
    """The seed of a search from a player's view within a search with a seed of its own: 64 bits of a hash."""
    return _hash(np.array([seed & 0x7FFFFFFFFFFFFFFF, player], np.int64).tobytes(), view)


def _hash(prefix: bytes, view: Ints) -> int:
    return int.from_bytes(blake2b(prefix + view.tobytes(), digest_size=8).digest(), "little")

"""Random numbers for kernels: one explicit 64-bit state, so that nothing depends on who else draws.

SplitMix64 (Steele, Lea and Flood 2014): the state advances by a constant, the output is a mix of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdts.kernels import Reals, kernel

State = NDArray[np.uint64]
"""uint64[1]"""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""By how much the state advances for each draw."""
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def seeded(*seeds: int) -> State:
    """The states that seeds stand for."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF for seed in seeds], np.uint64)


@kernel(inline=True)
def mixed(state: np.uint64) -> np.uint64:
    """The 64 random bits of a state."""
    z = (state ^ (state >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@kernel(inline=True)
def fraction(bits: np.uint64) -> float:
    """A number from [0, 1), by 53 random bits."""
    return float(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(inline=True)
def one_of(count: int, bits: np.uint64) -> int:
    """A number from 0 to count - 1, by 32 random bits: all alike, up to a difference of 2⁻³²."""
    return int(np.int64((bits >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)))


@kernel()
def drawn(probabilities: Reals, count: int, bits: np.uint64) -> int:
    """One of the first `count` entries, each with its probability."""
    u = fraction(bits)
    for k in range(count - 1):
        u -= probabilities[k]
        if u < 0.0:
            return k
    return count - 1


@kernel()
def uniform(state: State) -> float:
    """A number from [0, 1) with 53 random bits; the state moves on."""
    state[0] += GOLDEN
    return fraction(mixed(state[0]))


@kernel()
def sampled(probabilities: Reals, count: int, state: State) -> int:
    """One of the first `count` entries, each with its probability; the state moves on."""
    state[0] += GOLDEN
    return drawn(probabilities, count, mixed(state[0]))

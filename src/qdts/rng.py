"""Random numbers for kernels: each user has an explicit 64-bit state, so results don't depend on other users.

SplitMix64 (Steele, Lea and Flood 2014): the state advances by a constant, the output is a mix of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdts.kernels import Reals, kernel

State = NDArray[np.uint64]
"""uint64[1]"""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""By how much the state advances for each sample."""
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def seeded(*seeds: int) -> State:
    """One state per seed, uint64[seeds]."""
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
    """A number from 0 to count - 1, uniform up to 2⁻³², by 32 random bits."""
    return int(np.int64((bits >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)))


@kernel()
def sample_index(probabilities: Reals, count: int, bits: np.uint64) -> int:
    """The index of one of the first `count` entries, sampled with their probabilities by 64 random bits."""
    u = fraction(bits)
    for k in range(count - 1):
        u -= probabilities[k]
        if u < 0.0:
            return k
    return count - 1


@kernel()
def uniform(state: State) -> float:
    """A number from [0, 1) with 53 random bits; the state advances."""
    state[0] += GOLDEN
    return fraction(mixed(state[0]))


@kernel()
def sampled(probabilities: Reals, count: int, state: State) -> int:
    """The index of one of the first `count` entries, sampled with their probabilities; the state advances."""
    state[0] += GOLDEN
    return sample_index(probabilities, count, mixed(state[0]))


@kernel()
def sample_by_weight(weights: Reals, count: int, state: State) -> int:
    """One of the first `count` entries, in proportion to its weight; the state moves on by one number."""
    total = 0.0
    for i in range(count):
        total += weights[i]
    u = uniform(state) * total
    last = 0
    for i in range(count):
        if weights[i] > 0.0:
            u -= weights[i]
            last = i
            if u < 0.0:
                break
    return last

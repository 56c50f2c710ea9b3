"""A policy and everything that follows from it exactly, as arrays that a kernel can look things up in.

    axis  counts
    H     histories              I     information sets
    A     pairs of information set and legal action
    M     pairs of information set and history in it, those of one information set being neighbours
    P     players                W     components of a world

Noise can be added, the same for the same query: of V and V_c a normal error, of H a shift of mass of a given L1 length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int32, int64, types
from numpy.typing import NDArray

from qdts.hashing import index_rows
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import element
from qdts.solving.exact.belief import tree_worlds
from qdts.solving.exact.values import belief_weights, chance_reach, merged_values, reach
from qdts.solving.policy.table import Policy, aligned
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.recent import game_tree

Ints32 = NDArray[np.int32]

H_MODEL, H_RULES, H_UNIFORM, H_WEIGHTS = range(4)
"""Where H comes from: the owner's belief with its noise; the rules; evenly; `belief`, and the rules where that is 0."""


class PolicyTable(NamedTuple):
    """What a table evaluator knows."""

    worlds: Ints  # [H, W]
    world_table: Ints32  # hash table of worlds, see `index`
    views: Ints  # [I, W]
    view_table: Ints32  # hash table of views
    offset: Ints32  # [I + 1] into A
    probability: Reals  # [A] P
    first: Ints32  # [H] the first child
    member_offset: Ints32  # [I + 1] into M
    member: Ints32  # [M] histories of an information set
    weight: Reals  # [M] the owner's belief, by Bayes' rule
    prior_weight: Reals  # [M] the same by chance alone, for what the others never do
    belief: Reals  # [M] what takes the place of the owner's belief in H, not normalised
    value: Reals  # [H, P] the value of a history to each player, his own later views merged
    noise: Reals  # [3] standard deviation in V, in V_c, L1 length in H
    seed: Ints  # [1] of the noise
    h: Ints  # [1] H_MODEL and so on


PolicyTableType = types.NamedTuple(
    [int64[:, ::1], int32[::1], int64[:, ::1], int32[::1], int32[::1], float64[::1], int32[::1], int32[::1], int32[::1],
     float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1], int64[::1], int64[::1]],
    PolicyTable,
)  # fmt: skip


class PolicyTablePointers(NamedTuple):
    """Pointers to the arrays of a `PolicyTable`, the last axis running fastest, and what it takes to read them."""

    worlds: Ints
    world_table: Ints32
    views: Ints
    view_table: Ints32
    offset: Ints32
    probability: Reals
    first: Ints32
    member_offset: Ints32
    member: Ints32
    weight: Reals
    prior_weight: Reals
    belief: Reals
    value: Reals
    noise: Reals
    seed: Ints
    h: int
    world_mask: int
    view_mask: int
    players: int


@kernel()
def table_pointers(b: PolicyTable) -> PolicyTablePointers:
    """A book as kernels read it."""
    return PolicyTablePointers(
        element(b.worlds, 0), element(b.world_table, 0), element(b.views, 0), element(b.view_table, 0),
        element(b.offset, 0), element(b.probability, 0), element(b.first, 0), element(b.member_offset, 0),
        element(b.member, 0), element(b.weight, 0), element(b.prior_weight, 0), element(b.belief, 0),
        element(b.value, 0), element(b.noise, 0), element(b.seed, 0), b.h[0], len(b.world_table) - 1,
        len(b.view_table) - 1, b.value.shape[1],
    )  # fmt: skip


def empty_policy_table() -> PolicyTable:
    """A book for evaluators that need none."""
    i, r = np.zeros((0, 1), np.int64), np.zeros(0)
    n = np.zeros(0, np.int32)
    none = np.zeros(0, np.int64)
    return PolicyTable(i, n, i, n, n, r, n, n, n, r, r, r, np.zeros((0, 1)), r, none, np.array([H_MODEL]))


def policy_table(policy: Policy, noise: tuple[float, float, float], seed: int) -> PolicyTable:
    """Everything that follows from a policy; noise in units of the game's returns (V, V_c) and as an L1 length (H)."""
    tree = game_tree(policy.game)
    probability = aligned(tree, policy)
    histories, sets = tree.histories, tree.infosets
    order = np.argsort(np.where(histories.infoset == NONE, tree.num_infosets, histories.infoset), kind="stable")
    member = order[: np.count_nonzero(histories.infoset != NONE)].astype(np.int32)
    group = histories.infoset[member]
    weight = np.zeros(len(member))
    prior = chance_reach(tree)
    value = np.empty((tree.num_histories, policy.game.players))
    for player in range(policy.game.players):
        value[:, player] = merged_values(tree, probability, player)
        own = sets.owner[group] == player
        weight[own] = belief_weights(
            group[own], reach(tree, probability, player)[member[own]], prior[member[own]], tree.num_infosets
        )
    worlds = tree_worlds(tree)
    return PolicyTable(
        worlds=worlds,
        world_table=index_rows(worlds),
        views=sets.views,
        view_table=index_rows(sets.views),
        offset=sets.offset,
        probability=np.ascontiguousarray(probability),
        first=histories.first,
        member_offset=np.searchsorted(group, np.arange(tree.num_infosets + 1)).astype(np.int32),
        member=member,
        weight=weight,
        prior_weight=belief_weights(group, prior[member], prior[member], tree.num_infosets),
        belief=weight,
        value=value,
        noise=np.array(noise),
        seed=np.array([seed], np.int64),
        h=np.array([H_MODEL]),
    )

"""A policy and everything that follows from it exactly, as arrays for kernels to look up.

    axis  counts
    H     histories              I     information sets
    A     pairs of information set and legal action
    M     pairs of information set and history in it, those of one information set being neighbours
    P     players                W     components of a world

Noise can be added, the same for the same query: of V and V_c a normal error, of H a shift of mass of a given L1 length.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.fields import tuple_type
from qdts.hashing import index_rows, probe
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.exact.belief import tree_worlds
from qdts.solving.exact.values import belief_weights, chance_reach, merged_values, reach
from qdts.solving.policy.table import Policy, aligned
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.recent import game_tree

Ints32 = NDArray[np.int32]

H_MODEL, H_RULES, H_UNIFORM, H_WEIGHTS = range(4)
"""What H is: the owner's belief with its noise; the rules' weights; uniform; `belief`, and the rules' where it is 0."""
NOISE_V, NOISE_VC, NOISE_H = range(3)
"""Entries of `noise`."""


class PolicyTable(NamedTuple):
    """What a table evaluator knows; in kernels pointers to the arrays (`pointers_to`)."""

    worlds: Annotated[Ints, "H W"]
    world_table: Annotated[Ints32, "any"]  # hash table of worlds, see `hashing`
    views: Annotated[Ints, "I W"]
    view_table: Annotated[Ints32, "any"]  # hash table of views
    offset: Annotated[Ints32, "I+1"]  # into A
    probability: Annotated[Reals, "A"]  # P
    first: Annotated[Ints32, "H"]  # the first child
    member_offset: Annotated[Ints32, "I+1"]  # into M
    member: Annotated[Ints32, "M"]  # histories of an information set
    weight: Annotated[Reals, "M"]  # the owner's belief, by Bayes' rule
    prior_weight: Annotated[Reals, "M"]  # the same by chance alone, for what the others never do
    belief: Annotated[Reals, "M"]  # what takes the place of the owner's belief in H, not normalised
    value: Annotated[Reals, "H P"]  # of a history to each player, their own later views merged
    noise: Annotated[Reals, "3"]  # standard deviation in V, in V_c, L1 length in H
    seed: int = 0  # of the noise
    h: int = H_MODEL  # H_MODEL and so on
    world_mask: int = 0  # the lengths of both hash tables less one
    view_mask: int = 0
    players: int = 1  # P


PolicyTableType = tuple_type(PolicyTable)


@kernel()
def find_view(table: PolicyTable, view: Ints, size: int) -> int:
    """The information set of a view, negative if the table has none."""
    return table.view_table[probe(table.views, table.view_table, table.view_mask, view, size)]


@kernel()
def find_world(table: PolicyTable, world: Ints, size: int) -> int:
    """The first history that leads to a world, negative if the table has none."""
    return table.world_table[probe(table.worlds, table.world_table, table.world_mask, world, size)]


def empty_policy_table() -> PolicyTable:
    """A policy table for evaluators that need none."""
    i, n, r = np.zeros((0, 1), np.int64), np.zeros(0, np.int32), np.zeros(0)
    return PolicyTable(i, n, i, n, n, r, n, n, n, r, r, r, np.zeros((0, 1)), r)


def policy_table(policy: Policy, noise: tuple[float, float, float], seed: int) -> PolicyTable:
    """The table of a policy; noise is in units of the game's returns (V, V_c) and an L1 length (H)."""
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
    world_table, view_table = index_rows(worlds), index_rows(sets.views)
    return PolicyTable(
        worlds=worlds,
        world_table=world_table,
        views=sets.views,
        view_table=view_table,
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
        seed=seed,
        world_mask=len(world_table) - 1,
        view_mask=len(view_table) - 1,
        players=policy.game.players,
    )

"""Exact best responses and NashConv, for any number of players.

With perfect recall a player's last own choice, his *sequence*, tells all his earlier ones. What the finished
games below a sequence are worth, weighted by r₋ᵢ, adds up in one pass over the histories; a best response
then takes the maximum at each of his information sets, the last first. Where a game declares its memory
merely sufficient, histories of one view may differ in what the player did before, but not in what is best: the
maximum is taken over their sum, depth by depth. Games that hide nothing are measured on their `positions`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.policy import Policy, aligned, game_tree, policy_on
from qdts.solving.tree import NONE, GameTree, Histories, HistoriesType, InfoSets, InfoSetsType
from qdts.solving.values import edge, history_values, reach


class BestResponse(NamedTuple):
    """The best that a player can do against the others."""

    value: float
    probability: Reals
    """float64[A]: the others' policy as it was, the player's own a best response."""


def best_response_gains(policy: Policy) -> Reals:
    """What each player could gain by a best response. float64[P]"""
    if not policy.game.hidden:
        from qdts.solving.positions import position_gains

        return position_gains(policy)
    tree = game_tree(policy.game)
    return gains(tree, aligned(tree, policy))


def best_response(policy: Policy, player: int) -> tuple[float, Policy]:
    """A best response of one player: its value, and the profile in which he plays it."""
    policy.game.verify_player(player)
    if not policy.game.hidden:
        from qdts.solving.positions import position_response

        return position_response(policy, player)
    tree = game_tree(policy.game)
    found = respond(tree, aligned(tree, policy), player)
    return found.value, policy_on(tree, found.probability)


def gains(tree: GameTree, probability: Reals) -> Reals:
    """What each player could gain by a best response. float64[P]"""
    values = history_values(tree, probability)[0]
    best = [respond(tree, probability, player).value for player in range(tree.game.players)]
    return np.array(best) - values


def respond(tree: GameTree, probability: Reals, player: int) -> BestResponse:
    """A best response of one player to probabilities in the order of a tree."""
    r = reach(tree, probability, player)
    if tree.game.memory == "sufficient":
        order = _by_depth(tree)
        value, response = _respond_by_depth(tree.histories, tree.infosets, probability, r, order, player)
        return BestResponse(value, response)
    sequence, before = sequences(tree, player)
    value, response = _respond(tree.histories, tree.infosets, probability, r, sequence, before, player)
    return BestResponse(value, response)


def sequences(tree: GameTree, player: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """A player's last own choice, as a slot in A or NONE: at each history [H], before each of his views [I].

    Raises an InputError where he does not remember it.
    """
    sequence, before, fault = _sequences(tree.histories, tree.infosets, player)
    if fault != NONE:
        view = tree.game.layout.write(tree.infosets.views[fault])
        raise InputError(f"{tree.game.spec}: player {player} does not recall his own moves at {view}")
    return sequence, before


def _by_depth(tree: GameTree) -> Ints:
    """The numbers of all histories, the deepest first and those of one information set together. int64[H]

    Raises an InputError if an information set holds histories of different depths.
    """
    depth = _depths(tree.histories)
    deciding = np.flatnonzero(tree.histories.infoset != NONE)
    shallow, deep = np.full(tree.num_infosets, len(depth)), np.zeros(tree.num_infosets, np.int64)
    np.minimum.at(shallow, tree.histories.infoset[deciding], depth[deciding])
    np.maximum.at(deep, tree.histories.infoset[deciding], depth[deciding])
    if (shallow != deep).any():
        view = tree.game.layout.write(tree.infosets.views[int(np.argmax(shallow != deep))])
        raise InputError(f"{tree.game.spec}: histories of different lengths share the view {view}: no best response")
    return np.lexsort((tree.histories.infoset, -depth)).astype(np.int64)


@kernel(int64[::1](HistoriesType))
def _depths(histories: Histories) -> Ints:
    depth = np.zeros(len(histories.parent), np.int64)
    for h in range(1, len(depth)):
        depth[h] = depth[histories.parent[h]] + 1
    return depth


@kernel(
    types.Tuple((float64, float64[::1]))(HistoriesType, InfoSetsType, float64[::1], float64[::1], int64[::1], int64)
)
def _respond_by_depth(
    histories: Histories, infosets: InfoSets, probability: Reals, r: Reals, order: Ints, player: int
) -> tuple[float, Reals]:
    value = histories.utility[:, player].copy()
    response = probability.copy()
    worth = np.zeros(len(infosets.action))
    start = 0
    while start < len(order):
        i, end = histories.infoset[order[start]], start + 1
        while i != NONE and end < len(order) and histories.infoset[order[end]] == i:
            end += 1
        if i != NONE and infosets.owner[i] == player:
            for h in order[start:end]:
                for c in range(histories.first[h], histories.first[h] + histories.children[h]):
                    worth[histories.slot[c]] += r[h] * value[c]
            best = infosets.offset[i] + np.argmax(worth[infosets.offset[i] : infosets.offset[i + 1]])
            response[infosets.offset[i] : infosets.offset[i + 1]] = 0.0
            response[best] = 1.0
        for h in order[start:end]:
            for c in range(histories.first[h], histories.first[h] + histories.children[h]):
                value[h] += edge(histories, response, c) * value[c]
        start = end
    return value[0], response


@kernel(types.Tuple((types.int32[::1], types.int32[::1], int64))(HistoriesType, InfoSetsType, int64))
def _sequences(
    histories: Histories, infosets: InfoSets, player: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    sequence = np.full(len(histories.parent), NONE, np.int32)
    before = np.full(len(infosets.owner), NONE - 1, np.int32)
    for h in range(len(histories.parent)):
        parent = histories.parent[h]
        if parent != NONE:
            sequence[h] = histories.slot[h] if histories.mover[parent] == player else sequence[parent]
        if histories.mover[h] == player:
            i = histories.infoset[h]
            if before[i] == NONE - 1:
                before[i] = sequence[h]
            elif before[i] != sequence[h]:
                return sequence, before, int(i)
    return sequence, before, NONE


@kernel(
    types.Tuple((float64, float64[::1]))(
        HistoriesType, InfoSetsType, float64[::1], float64[::1], types.int32[::1], types.int32[::1], int64
    )
)
def _respond(
    histories: Histories,
    infosets: InfoSets,
    probability: Reals,
    r: Reals,
    sequence: NDArray[np.int32],
    before: NDArray[np.int32],
    player: int,
) -> tuple[float, Reals]:
    worth = np.zeros(len(infosets.action))
    value = 0.0
    for h in range(len(histories.parent)):
        if histories.mover[h] == TERMINAL:
            gain = r[h] * histories.utility[h, player]
            if sequence[h] == NONE:
                value += gain
            else:
                worth[sequence[h]] += gain
    response = probability.copy()
    for i in range(len(infosets.owner) - 1, -1, -1):
        if infosets.owner[i] != player:
            continue
        best = infosets.offset[i]
        for s in range(infosets.offset[i], infosets.offset[i + 1]):
            response[s] = 0.0
            if worth[s] > worth[best]:
                best = s
        response[best] = 1.0
        if before[i] == NONE:
            value += worth[best]
        else:
            worth[before[i]] += worth[best]
    return value, response

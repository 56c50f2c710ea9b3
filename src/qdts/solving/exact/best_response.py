"""Exact best responses on the enumerated game, for any number of players.

With perfect recall a player's last own choice, the *sequence*, determines all earlier ones. The returns of the finished
games after each sequence, weighted by r₋ᵢ, are added up in one pass over the histories; a best response then takes the
maximum at each of the player's information sets, the last first. Where a game declares its memory merely sufficient,
histories with one view may differ in what the player did before, but not in which action is best: the maximum is
taken over their sum, depth by depth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.exact.values import edge, history_values, reach
from qdts.solving.tree.arrays import NONE, GameTree, Histories, HistoriesType, InfoSets, InfoSetsType


class BestResponse(NamedTuple):
    """A best response of one player to the others."""

    value: float
    probability: Reals
    """float64[A]: the others' policy unchanged, the player's own replaced by a best response."""


def gains(tree: GameTree, probability: Reals) -> Reals:
    """What each player would gain by a best response. float64[P]"""
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
    """A player's last own choice, an entry of A or NONE: at each history [H], before each own information set [I].

    Raises an InputError where the player's views forget it.
    """
    sequence, before, fault = _sequences(tree.histories, tree.infosets, player)
    if fault != NONE:
        view = tree.game.layout.write(tree.infosets.views[fault])
        raise InputError(f"{tree.game.spec}: player {player} does not recall their own moves at {view}")
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
                    worth[histories.entry[c]] += r[h] * value[c]
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
            sequence[h] = histories.entry[h] if histories.mover[parent] == player else sequence[parent]
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
        for e in range(infosets.offset[i], infosets.offset[i + 1]):
            response[e] = 0.0
            if worth[e] > worth[best]:
                best = e
        response[best] = 1.0
        if before[i] == NONE:
            value += worth[best]
        else:
            worth[before[i]] += worth[best]
    return value, response

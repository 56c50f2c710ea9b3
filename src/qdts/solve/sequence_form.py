"""A two-player game in sequence form: realisation plans, and payoffs as a sparse matrix between them.

A player's *sequence* is his last own choice (0: none yet); with perfect recall it tells all earlier ones. His
*realisation plan* x gives each sequence the product of his own probabilities along it. The expected return
of player i is then xᵢᵀ Uᵢ x₋ᵢ, where Uᵢ[s, t] adds up chance's probability times his return over the finished
games with his sequence s and the other's t.

Sequences are laid out for vector instructions. Information sets at the same level (own choices before
them) with the same number of actions form a *group*; choice a of the k-th of a group's m information sets is
sequence base + a·m + k, so that the same step for all of a group runs over neighbouring numbers. Groups are
ordered by level: parents come before children.

    axis  counts
    G     groups of one player
    J     his information sets, in the order of groups
    S     his sequences, the empty one included
    Z     entries of his payoff matrix
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals, kernel
from qdts.solve.best_response import sequences
from qdts.solve.tree import NONE, GameTree
from qdts.solve.values import chance_reach

EMPTY = 0
"""The sequence of a player who has not moved yet."""
CHUNK = 128
"""Information sets of a group that are worked on together; their slots stay in the fastest cache."""


class Seat(NamedTuple):
    """One player's side of the game."""

    count: Ints  # [G] m, the information sets of a group
    actions: Ints  # [G] how many actions each has
    base: Ints  # [G] its first sequence
    first: Ints  # [G] its first information set
    parent: NDArray[np.int32]  # [J] the sequence that leads to an information set
    row: NDArray[np.int32]  # [S + 1] the payoffs of sequence s are entries row[s] to row[s + 1]
    column: NDArray[np.int32]  # [Z] the other player's sequence
    payoff: Reals  # [Z] chance's probability times this player's return, summed


SeatType = types.NamedTuple(
    [int64[::1]] * 4 + [types.int32[::1]] * 3 + [float64[::1]],
    Seat,
)


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Both seats, and how their sequences stand to the slots of the tree's policies."""

    tree: GameTree
    seats: tuple[Seat, Seat]
    slots: tuple[NDArray[np.int32], NDArray[np.int32]]
    """[S - 1] for each player: the slot in A of sequences 1, 2, …"""

    def plan(self, probability: Reals, player: int) -> Reals:
        """The realisation plan of a policy. float64[S]"""
        choice = np.ones(len(self.slots[player]) + 1)
        choice[1:] = probability[self.slots[player]]
        realise(self.seats[player], choice)
        return choice

    def policy(self, plans: tuple[Reals, Reals]) -> Reals:
        """The policy of two realisation plans (or sums of such): uniform where a player never gets. float64[A]"""
        probability = np.empty(len(self.tree.infosets.action))
        for seat, plan, slots in zip(self.seats, plans, self.slots, strict=True):
            probability[slots] = _behaviour(seat, plan)[1:]
        return probability

    def value(self, plans: tuple[Reals, Reals], player: int) -> float:
        """xᵢᵀ Uᵢ x₋ᵢ: the player's expected return."""
        return float(plans[player] @ payoffs(self.seats[player], plans[1 - player]))

    def nash_conv(self, plans: tuple[Reals, Reals]) -> float:
        """What both players together could gain by best responses."""
        return sum(best_value(self.seats[i], plans[1 - i]) - self.value(plans, i) for i in (0, 1))


@lru_cache(maxsize=4)
def sequence_form(tree: GameTree) -> SequenceForm:
    """The sequence form of a two-player game with perfect recall; raises an InputError for others."""
    game = tree.game
    if game.players != 2 or not game.hidden:
        raise InputError(f"{game.spec} has no sequence form: it needs two players, and views with perfect recall")
    last = [sequences(tree, i) for i in (0, 1)]
    ends = np.flatnonzero(tree.histories.mover == TERMINAL)
    weight = chance_reach(tree)[ends]
    grouped = [_group(tree, i, before) for i, (_, before) in enumerate(last)]
    number = [g[1] for g in grouped]
    at = [number[i][last[i][0][ends]] for i in (0, 1)]
    seats = [
        Seat(*grouped[i][0], *_matrix(at[i], at[1 - i], weight * tree.histories.utility[ends, i], len(grouped[i][2]) + 1))
        for i in (0, 1)
    ]
    return SequenceForm(tree, (seats[0], seats[1]), (grouped[0][2], grouped[1][2]))


def _group(
    tree: GameTree, player: int, before: NDArray[np.int32]
) -> tuple[tuple[Ints, Ints, Ints, Ints, NDArray[np.int32]], NDArray[np.int32], NDArray[np.int32]]:
    """A seat without its payoffs; the sequence of each slot in A (and, last, of NONE); the slot of each sequence."""
    sets = tree.infosets
    own = np.flatnonzero(sets.owner == player)
    width = np.diff(sets.offset)
    owner_of_slot = np.repeat(np.arange(tree.num_infosets), width)
    level = np.zeros(tree.num_infosets, np.int64)
    for i in own:  # parents come first
        if before[i] != NONE:
            level[i] = level[owner_of_slot[before[i]]] + 1
    order = own[np.lexsort((own, width[own], level[own]))]
    key = np.stack([level[order], width[order]], 1)
    starts = np.flatnonzero(np.r_[True, (key[1:] != key[:-1]).any(1)]) if len(own) else np.zeros(0, np.int64)
    count = np.diff(np.r_[starts, len(order)])
    actions = key[starts, 1].astype(np.int64)
    base = 1 + np.r_[0, np.cumsum(count * actions)][: len(starts)]
    number = np.full(len(sets.action) + 1, EMPTY, np.int32)
    for start, m, n, b in zip(starts, count, actions, base, strict=True):
        slots = sets.offset[order[start : start + m]][None, :] + np.arange(n)[:, None]
        number[slots] = b + np.arange(n * m).reshape(n, m)
    slot = np.zeros(int(width[own].sum()), np.int32)
    used = number[:-1] > EMPTY
    slot[number[:-1][used] - 1] = np.flatnonzero(used)
    parent = number[before[order]]
    return (count.astype(np.int64), actions, base.astype(np.int64), starts.astype(np.int64), parent), number, slot


def _matrix(
    rows: NDArray[np.int32], columns: NDArray[np.int32], values: Reals, size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Reals]:
    """A sparse matrix by rows, entries at the same place added up and zeros left out."""
    from scipy.sparse import coo_array

    width = int(columns.max(initial=0)) + 1
    matrix = coo_array((values, (rows, columns)), shape=(size, width)).tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)


@kernel()
def multiply(seat: Seat, plan: Reals, worth: Reals) -> None:
    """worth = U · plan: what each sequence's own finished games are worth against the other's plan."""
    for s in range(len(worth)):
        total = 0.0
        for z in range(seat.row[s], seat.row[s + 1]):
            total += seat.payoff[z] * plan[seat.column[z]]
        worth[s] = total


@kernel()
def realise_group(seat: Seat, g: int, plan: Reals) -> None:
    """Turn choices into a plan for one group: x(s) = x(parent of s) · choice(s)."""
    m, base, first = seat.count[g], seat.base[g], seat.first[g]
    for a in range(seat.actions[g]):
        for k in range(m):
            plan[base + a * m + k] *= plan[seat.parent[first + k]]


@kernel(types.void(SeatType, float64[::1]))
def realise(seat: Seat, plan: Reals) -> None:
    """Turn choices into a realisation plan, in place."""
    for g in range(len(seat.count)):
        realise_group(seat, g, plan)


@kernel(float64[::1](SeatType, float64[::1]))
def payoffs(seat: Seat, plan: Reals) -> Reals:
    """U · plan."""
    worth = np.empty(len(seat.row) - 1)
    multiply(seat, plan, worth)
    return worth


@kernel(float64(SeatType, float64[::1]))
def best_value(seat: Seat, plan: Reals) -> float:
    """What a best response to the other's plan is worth."""
    worth = np.empty(len(seat.row) - 1)
    multiply(seat, plan, worth)
    for g in range(len(seat.count) - 1, -1, -1):
        m, base, first = seat.count[g], seat.base[g], seat.first[g]
        for k in range(m):
            best = worth[base + k]
            for a in range(1, seat.actions[g]):
                best = max(best, worth[base + a * m + k])
            worth[seat.parent[first + k]] += best
    return worth[EMPTY]


@kernel(float64[::1](SeatType, float64[::1]))
def _behaviour(seat: Seat, plan: Reals) -> Reals:
    choice = np.ones(len(plan))
    for g in range(len(seat.count)):
        m, n, base = seat.count[g], seat.actions[g], seat.base[g]
        for k in range(m):
            total = 0.0
            for a in range(n):
                total += plan[base + a * m + k]
            for a in range(n):
                s = base + a * m + k
                choice[s] = plan[s] / total if total > 0 else 1.0 / n
    return choice

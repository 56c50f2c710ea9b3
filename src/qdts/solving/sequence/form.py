"""A two-player game in sequence form: realisation plans, and payoffs as a sparse matrix between them.

A player's *sequence* is their last own choice (0: none yet); with perfect recall it determines all earlier ones. A
*realisation plan* x gives each sequence the product of the player's own probabilities along it. The expected return of
player i is then xᵢᵀ Uᵢ x₋ᵢ, where Uᵢ[s, t] is the sum of chance's probability times player i's return over the finished
games with sequences s of player i and t of the other (von Stengel 1996).

Sequences are laid out for vector instructions. Information sets at the same level (own choices before them) with the
same number of actions form a *group*; choice a of the k-th of a group's m information sets is sequence base + a·m + k,
so that the same step for a whole group runs over neighbouring numbers. Groups are ordered by level: parents come before
children. Within a group, information sets that meet the same sequences of the other player (hands with the same public
line) are neighbours, so that their payoffs fall into dense `row_blocks`.

    axis  counts
    G     groups of one player
    J     the player's information sets, in the order of groups
    S     the player's sequences, the empty one included
    A     entries of the tree's policies: pairs of information set and action
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from qdts.errors import InputError
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals, kernel
from qdts.solving.exact.best_response import sequences
from qdts.solving.exact.values import chance_reach
from qdts.solving.sequence.row_blocks import HEIGHT, RowBlocks, RowBlocksType, make_row_blocks, multiply
from qdts.solving.tree.arrays import NONE, GameTree

EMPTY = 0
"""The sequence of a player who has not moved yet."""
CHUNK = 128
"""Information sets of a group that are processed together; their entries stay in the fastest cache."""


class Seat(NamedTuple):
    """One player's side of the game."""

    sets: Ints  # [G] m, the information sets of a group
    actions: Ints  # [G] how many actions each has
    base: Ints  # [G] its first sequence
    first: Ints  # [G] its first information set
    parent: NDArray[np.int32]  # [J] the sequence that leads to an information set
    payoff: RowBlocks  # U, [S, the other's S]


SeatType = types.NamedTuple([int64[::1]] * 4 + [types.int32[::1], RowBlocksType], Seat)


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Both seats, and the entry of the tree's policies for each of their sequences."""

    tree: GameTree
    seats: tuple[Seat, Seat]
    entries: tuple[NDArray[np.int32], NDArray[np.int32]]
    """[S - 1] for each player: the entry of A of sequences 1, 2, …"""

    matrices: tuple[csr_array, csr_array]
    """U of each player as a scipy matrix."""

    def plan(self, probability: Reals, player: int) -> Reals:
        """The realisation plan of a policy. float64[S]"""
        return _plan(self.seats[player], self.entries[player], probability)

    def policy(self, plans: tuple[Reals, Reals]) -> Reals:
        """The policy of two realisation plans, or of sums of plans; uniform where a player never goes. float64[A]"""
        probability = np.empty(len(self.tree.infosets.action))
        for seat, plan, entries in zip(self.seats, plans, self.entries, strict=True):
            probability[entries] = _behaviour(seat, plan)[1:]
        return probability

    def value(self, plans: tuple[Reals, Reals], player: int) -> float:
        """xᵢᵀ Uᵢ x₋ᵢ: the player's expected return."""
        return float(plans[player] @ (self.matrices[player] @ plans[1 - player]))

    def nash_conv(self, probability: Reals) -> float:
        """What both players together would gain by best responses to a policy float64[A]."""
        return float(_nash_conv(*self.seats, *self.entries, probability))


@lru_cache(maxsize=4)
def sequence_form(tree: GameTree) -> SequenceForm:
    """The sequence form of a two-player game with perfect recall; raises an InputError for any other game."""
    game = tree.game
    if game.players != 2 or not game.hidden:
        raise InputError(f"{game.spec} has no sequence form: it needs two players, and views with perfect recall")
    ends = np.flatnonzero(tree.histories.mover == TERMINAL)
    weight = chance_reach(tree)[ends]
    last, before = zip(*(sequences(tree, i) for i in (0, 1)), strict=True)
    at = [s[ends] for s in last]
    sides = [_Side.make(tree, i, before[i], _public_lines(tree, at[i], at[1 - i])) for i in (0, 1)]
    seats, matrices = [], []
    for i, (me, other) in enumerate((sides, sides[::-1])):
        matrix = _matrix(me.number[at[i]], other.number[at[1 - i]], weight * tree.histories.utility[ends, i], me, other)
        matrices.append(matrix)
        seats.append(
            Seat(
                me.sets,
                me.actions,
                me.base,
                me.first,
                me.parent,
                make_row_blocks(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data),
            )
        )
    return SequenceForm(tree, (seats[0], seats[1]), (sides[0].entry, sides[1].entry), (matrices[0], matrices[1]))


def _public_lines(tree: GameTree, own: NDArray[np.int32], other: NDArray[np.int32]) -> Ints:
    """A number for each information set; equal ones have endings that meet connected sequences of the other player.

    `own` and `other` are both players' sequences (entries of A, or NONE) at the finished games. int64[I]
    """
    infosets, entries = tree.num_infosets, len(tree.infosets.action)
    infoset_of = np.repeat(np.arange(infosets), np.diff(tree.infosets.offset))
    ended = own != NONE
    rows, columns = infoset_of[own[ended]], infosets + 1 + other[ended]
    size = infosets + entries + 1
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][:infosets], np.int64)


class _Side(NamedTuple):
    """The layout of one player's sequences: the first fields of the `Seat`, and the map to and from entries."""

    sets: Ints
    actions: Ints
    base: Ints
    first: Ints
    parent: NDArray[np.int32]
    number: NDArray[np.int32]  # [A + 1] the sequence of each entry; EMPTY for NONE, the last
    entry: NDArray[np.int32]  # [S - 1] the entry of each sequence but the empty one

    @classmethod
    def make(cls, tree: GameTree, player: int, before: NDArray[np.int32], line: Ints) -> _Side:
        sets = tree.infosets
        own = np.flatnonzero(sets.owner == player)
        width = np.diff(sets.offset)
        level = _levels(tree, own, before)
        order = own[np.lexsort((own, line[own], width[own], level[own]))]
        key = np.stack([level[order], width[order]], 1)
        new = np.r_[True, (key[1:] != key[:-1]).any(1)] if len(order) else np.zeros(0, bool)
        first = np.flatnonzero(new).astype(np.int64)
        count = np.diff(np.r_[first, len(order)]).astype(np.int64)
        actions = key[first, 1].astype(np.int64)
        base = 1 + np.r_[0, np.cumsum(count * actions)][: len(first)].astype(np.int64)
        number = np.full(len(sets.action) + 1, EMPTY, np.int32)
        for f, m, n, b in zip(first, count, actions, base, strict=True):
            entries = sets.offset[order[f : f + m]][None, :] + np.arange(n)[:, None]
            number[entries] = b + np.arange(n * m).reshape(n, m)
        entry = np.argsort(number[:-1], kind="stable")[np.count_nonzero(number[:-1] == EMPTY) :]
        return cls(count, actions, base, first, number[before[order]], number, entry.astype(np.int32))


def _levels(tree: GameTree, own: NDArray[np.intp], before: NDArray[np.int32]) -> Ints:
    """The number of own choices before each of a player's information sets. int64[I]"""
    infoset_of = np.repeat(np.arange(tree.num_infosets), np.diff(tree.infosets.offset))
    level = np.zeros(tree.num_infosets, np.int64)
    for i in own[before[own] != NONE]:  # parents have lower numbers
        level[i] = level[infoset_of[before[i]]] + 1
    return level


def _matrix(rows: NDArray[np.int32], columns: NDArray[np.int32], values: Reals, me: _Side, other: _Side) -> csr_array:
    """A sparse matrix: entries at the same place are added up, zeros are left out."""
    shape = (len(me.entry) + 1, len(other.entry) + 1)
    matrix = csr_array(coo_array((values, (rows, columns)), shape=shape))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


@kernel(float64[::1](SeatType, types.int32[::1], float64[::1]))
def _plan(seat: Seat, entries: NDArray[np.int32], probability: Reals) -> Reals:
    """x(s) = x(parent of s) · the probability of s."""
    plan = np.ones(len(entries) + 1)
    for g in range(len(seat.sets)):
        m, base, first = seat.sets[g], seat.base[g], seat.first[g]
        for a in range(seat.actions[g]):
            for k in range(m):
                s = base + a * m + k
                plan[s] = plan[seat.parent[first + k]] * probability[entries[s - 1]]
    return plan


@kernel()
def _gain(seat: Seat, own: Reals, other: Reals) -> float:
    """What a best response to the other's plan gains over the player's own plan."""
    worth = np.empty(len(own) + HEIGHT)
    multiply(seat.payoff, other, worth)
    value = 0.0
    for s in range(len(own)):
        value += own[s] * worth[s]
    for g in range(len(seat.sets) - 1, -1, -1):
        m, base, first = seat.sets[g], seat.base[g], seat.first[g]
        for k in range(m):
            best = worth[base + k]
            for a in range(1, seat.actions[g]):
                best = max(best, worth[base + a * m + k])
            worth[seat.parent[first + k]] += best
    return worth[EMPTY] - value


@kernel(float64(SeatType, SeatType, types.int32[::1], types.int32[::1], float64[::1]))
def _nash_conv(
    seat0: Seat, seat1: Seat, entries0: NDArray[np.int32], entries1: NDArray[np.int32], probability: Reals
) -> float:
    plan0, plan1 = _plan(seat0, entries0, probability), _plan(seat1, entries1, probability)
    return _gain(seat0, plan0, plan1) + _gain(seat1, plan1, plan0)


@kernel(float64[::1](SeatType, float64[::1]))
def _behaviour(seat: Seat, plan: Reals) -> Reals:
    choice = np.ones(len(plan))
    for g in range(len(seat.sets)):
        m, n, base = seat.sets[g], seat.actions[g], seat.base[g]
        for k in range(m):
            total = 0.0
            for a in range(n):
                total += plan[base + a * m + k]
            for a in range(n):
                s = base + a * m + k
                choice[s] = plan[s] / total if total > 0 else 1.0 / n
    return choice

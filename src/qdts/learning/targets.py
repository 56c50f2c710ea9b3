"""What networks are taught from records: rows of nodes with targets for P, V and V_c.

For an owner i and a played game let F(t) be what follows at step t, from the end (Learning, *Targets*):

    F(end) = i's return
    at his own turn      F(t) = λ F(t + 1) + (1 − λ) S(t),    S(t) = Σ move(a) · middle of Q(a), the search's own value;
                         S(t) alone if he explored there, or if what follows is not known
    elsewhere            F(t) = F(t + 1), not known if the mover explored

F(t) is the target of V at the ACT, OPPONENT or CHANCE node of step t, and F(t + 1) at the SAMPLE nodes after his move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.learning.nodes import Flags, Nodes, arrive, distinct, joined, reveals_nothing, sample_chain
from qdts.learning.record import NO_SEARCH, Record


@dataclass(frozen=True)
class ValueTarget:
    """How F is made."""

    mix: float = 0.5
    """λ"""
    deblunder: bool = True
    """Whether S takes the place of what follows an exploring move; else rows before one are left out."""


OUTCOME = ValueTarget(mix=1.0, deblunder=False)
"""The plain outcome everywhere."""


class ValueRows(NamedTuple):
    """Nodes with the value that V should have; K is the number of values of a node."""

    nodes: Nodes  # [N]
    target: Reals  # [N, K]
    known: Reals  # [N, K] 1 where there is a target
    weight: Reals  # [N] how many rows of records this one stands for
    spread: Reals  # [N] the mean square of their targets' distance from `target`


class PolicyRows(NamedTuple):
    """Views with the policy that P should be; the actions of one view are neighbours."""

    nodes: Nodes  # [N]
    offset: Ints  # [N + 1]
    target: Reals  # [A]
    weight: Reals  # [N]


def root_values(record: Record) -> Reals:
    """S of every search: what its move distribution is worth by its own Q. float64[S]"""
    middle = (record.q_lo.astype(np.float64) + record.q_hi) / 2
    return np.add.reduceat(record.move * middle, record.offset[:-1]) if len(record.offset) > 1 else np.zeros(0)


def following(record: Record, player: int, how: ValueTarget) -> tuple[Reals, Flags]:
    """F of a player at every step and after the last of each game, and whether it is known.

    Game g has the places first[g] + g to first[g + 1] + g.
    """
    games = len(record)
    value, known = np.zeros(len(record.action) + games), np.ones(len(record.action) + games, np.bool_)
    length = np.diff(record.first)
    value[record.first[1:] + np.arange(games)] = record.returns[:, player]
    s = root_values(record)
    for back in range(1, int(length.max(initial=0)) + 1):
        g = np.flatnonzero(length >= back)
        t = record.first[g + 1] - back
        place = t + g
        own, explored = record.mover[t] == player, record.explored[t] == 1
        after, sure = value[place + 1], known[place + 1]
        value[place], known[place] = after, sure & ~explored
        if how.mix < 1.0 or how.deblunder:
            searched = own & (record.search[t] != NO_SEARCH)
            rely = known[place] & searched
            mine = np.where(searched, s[np.maximum(record.search[t], 0)] if len(s) else 0.0, 0.0)
            value[place] = np.where(rely, how.mix * after + (1.0 - how.mix) * mine, value[place])
            if how.deblunder:
                alone = searched & ~known[place]
                value[place] = np.where(alone, mine, value[place])
                known[place] |= alone
    return value, known


def value_rows(record: Record, how: ValueTarget) -> ValueRows:
    """The nodes of every owner's tree on the paths of all games, with their targets; equal ones are merged."""
    rows = _hidden_rows(record, how) if record.game.hidden else _open_rows(record, how)
    return merged(*rows)


def merged(nodes: Nodes, target: Reals, known: Reals) -> ValueRows:
    """Every node once, with the mean of its targets."""
    least, which = distinct(nodes)
    n, k = len(least.kind), target.shape[1]
    count = np.bincount(which, minlength=n).astype(np.float64)
    columns = []
    for i in range(k):
        seen = np.bincount(which, known[:, i], n)
        total = np.bincount(which, known[:, i] * target[:, i], n)
        square = np.bincount(which, known[:, i] * target[:, i] ** 2, n)
        columns.append((total / np.maximum(seen, 1), seen > 0, square / np.maximum(seen, 1)))
    mean = np.column_stack([c[0] for c in columns])
    there = np.column_stack([c[1] for c in columns]).astype(np.float64)
    spreads = there * np.maximum(0.0, np.column_stack([c[2] for c in columns]) - mean**2)
    spread = spreads.sum(1) / np.maximum(there.sum(1), 1)
    return ValueRows(least, mean, there, count, spread)


def _places(record: Record) -> Ints:
    """The place of every step in what `following` gives."""
    return np.arange(len(record.action)) + np.repeat(np.arange(len(record)), np.diff(record.first))


def _hidden_rows(record: Record, how: ValueTarget) -> tuple[Nodes, Reals, Reals]:
    game, worlds, place = record.game, record.worlds, _places(record)
    parts: list[Nodes] = []
    targets: list[Reals] = []
    for player in range(game.players):
        value, known = following(record, player, how)
        own = record.mover == player
        turns = np.concatenate([[0], np.cumsum(own)])
        begun = turns[1:] > np.repeat(turns[record.first[:-1]], np.diff(record.first))
        there = np.flatnonzero(begun & known[place])
        parts.append(arrive(game, worlds[there], np.full(len(there), player)))
        targets.append(value[place[there]])
        then = np.flatnonzero(own & known[place + 1])
        actions = record.action[then].astype(np.int64)
        nodes, at, _ = decided_chain(game, worlds[then], np.full(len(then), player), actions)
        parts.append(nodes)
        targets.append(value[place[then[at]] + 1])
    target = np.concatenate(targets)[:, None]
    return joined(parts), target, np.ones_like(target)


def decided_chain(game: Game, worlds: Ints, players: Ints, actions: Ints) -> tuple[Nodes, Ints, Ints]:
    """The SAMPLE nodes after moves of players in some worlds, as `sample_chain` gives them."""
    vectors = arrive(game, worlds, players).vector
    whole = np.flatnonzero((batch.holes(game, vectors) != NO_HOLE) & ~reveals_nothing(game, vectors, actions))
    chain, at, true = sample_chain(game, vectors[whole], worlds[whole], players[whole], actions[whole])
    return chain, whole[at], true


def _open_rows(record: Record, how: ValueTarget) -> tuple[Nodes, Reals, Reals]:
    game, place = record.game, _places(record)
    value, known = zip(*(following(record, player, how) for player in range(game.players)), strict=True)
    target, sure = (np.column_stack([column[place] for column in columns]) for columns in (value, known))
    there = np.flatnonzero(sure.any(1))
    nodes = arrive(game, record.worlds[there], np.zeros(len(there), np.int64))
    return nodes, target[there], sure[there].astype(np.float64)


def policy_rows(record: Record, *, played: bool = False, power: float = 1.0) -> PolicyRows:
    """Every searched view with its policy target: the search's, or how its action was played.

    A view that was met n times weighs n to the `power`; nothing, if its action was never played but to explore.
    """
    steps = np.flatnonzero(record.search != NO_SEARCH)
    search = record.search[steps].astype(np.int64)
    count = np.bincount(search, minlength=len(record.offset) - 1).astype(np.float64)
    _, first = np.unique(search, return_index=True)
    at = steps[first]
    nodes = arrive(record.game, record.worlds[at], record.mover[at].astype(np.int64))
    target = record.target.astype(np.float64)
    if played:
        target, count = _played(record, nodes, steps[record.explored[steps] == 0])
    return PolicyRows(nodes, record.offset, target, np.where(count > 0, count**power, 0.0))


def _played(record: Record, nodes: Nodes, steps: Ints) -> tuple[Reals, Reals]:
    """Which share of moves each action was where nobody explored, and how many moves these were."""
    legal = batch.choices(record.game, nodes.vector, np.zeros(len(nodes.kind), np.int64))
    search = record.search[steps].astype(np.int64)
    place = np.full((len(nodes.kind), record.game.num_actions), -1)
    place[legal.source, legal.number] = np.arange(len(legal.number))
    times = np.bincount(place[search, record.action[steps]], minlength=len(legal.number)).astype(np.float64)
    total = np.add.reduceat(times, record.offset[:-1])
    share = times / np.repeat(np.maximum(total, 1.0), np.diff(record.offset))
    return share, total


def residual_variance(rows: ValueRows, value: Reals, scale: float) -> float:
    """The mean square of what targets differ from V by, over all rows of records, in units of S².

    `value` is V of each of the merged rows, float64[N, K].
    """
    error = (rows.known * (rows.target - value) ** 2).sum(1) / np.maximum(rows.known.sum(1), 1)
    return float(np.average(error + rows.spread, weights=rows.weight)) / scale**2

"""S_n: games sampled from P, without search, for H to learn from (QDTS, Hidden State Model).

Games with the same history are played as one: one multinomial sample says how many of them take each action. So any
number of games of a small game costs no more than its tree, and games of a large game cost what they cost one by one.

Players may explore: a share e of a player's moves is sampled uniformly. A player's own moves reveal nothing of what is
hidden to them. Games in which another player explored before would have to be left out; instead each counts with the
probability that none did, given their moves:

    w = Π (1 − e) P(a) / ((1 − e) P(a) + e / |A|)      over the others' moves before

    e       the share of the mover's moves that are sampled uniformly
    P(a)    the probability of their action a           |A|     the number of their legal actions

So H learns what follows from P, also at views that P seldom reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.nodes import columns_of, unique_rows, views_of

P = Callable[[Ints, Ints], Reals]
"""From views [N, W] and the players to move there to P, negative beyond the actions of each. [N, B]"""
SMALLEST = 1e-300
"""What the probability of not having explored counts as at least."""


class Moves(NamedTuple):
    """Moves of players that H may learn from; M counts them, and equal ones may be one."""

    world: Ints  # [M, W] before the move
    mover: Ints  # [M]
    action: Ints  # [M]
    times: Ints  # [M] how often it was made
    sound: Reals  # [M] w: the probability that none of the others has explored before

    def of(self, player: int) -> Moves:
        """The moves of one player."""
        return Moves._make(column[self.mover == player] for column in self)


def joined(parts: list[Moves]) -> Moves:
    """The moves of all parts, in order."""
    return Moves._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def sample_moves(game: Game, policy: P, games: int, explore: Reals, stream: np.random.Generator) -> Moves:
    """The moves of all players in so many games sampled from P; `explore` holds e of each player."""
    worlds, times = game.initial()[None], np.array([games])
    log_sound = np.zeros((1, game.players))  # of each player's own moves
    parts: list[Moves] = []
    while True:
        mover = batch.movers(game, worlds)
        on = mover != TERMINAL
        if not on.any():
            return joined(parts)
        worlds, times, log_sound, mover = worlds[on], times[on], log_sound[on], mover[on]
        acts = mover >= 0
        e = np.where(acts, explore[mover], 0.0)[:, None]
        p, number, degree = _choices(game, policy, worlds, mover)
        uniform = np.where(np.arange(p.shape[1]) < degree[:, None], 1.0 / degree[:, None], 0.0)
        taken = _split(times, (1.0 - e) * p + e * uniform, degree, stream)
        row, column = np.nonzero(taken)
        mover, action, times = mover[row], number[row, column], taken[row, column]
        before, sound = worlds[row], log_sound[row]
        own = np.flatnonzero(acts[row])  # by players, not chance
        others = sound[own].sum(1) - sound[own, mover[own]]
        parts.append(Moves(before[own], mover[own], action[own], times[own], np.exp(others)))
        kept = ((1.0 - e) * p)[row, column]
        sound[own, mover[own]] += np.log(np.maximum(kept / (kept + (e * uniform)[row, column]), SMALLEST))[own]
        worlds, log_sound = batch.stepped(game, before, action), sound


def _choices(game: Game, policy: P, worlds: Ints, mover: Ints) -> tuple[Reals, Ints, Ints]:
    """The choices in each world: probabilities [N, B], actions or outcomes [N, B], and how many there are [N]."""
    offered = batch.choices(game, worlds, mover)
    column = columns_of(offered)
    p, number = np.zeros((len(worlds), game.max_branching)), np.zeros((len(worlds), game.max_branching), np.int64)
    p[offered.source, column], number[offered.source, column] = offered.chance, offered.number
    acts = np.flatnonzero(mover >= 0)
    if len(acts):
        seen, players = views_of(game, worlds[acts], mover[acts]), mover[acts]
        first, which = unique_rows(np.column_stack([players, seen]))
        known = policy(seen[first], players[first])
        p[acts] = 0.0
        p[acts, : known.shape[1]] = np.maximum(known, 0.0)[which]
    return p, number, offered.counts


def _split(times: Ints, p: Reals, degree: Ints, stream: np.random.Generator) -> Ints:
    """How many of `times` games take each choice, a multinomial sample. int64[N, B]"""
    taken = stream.multinomial(times, p / p.sum(1, keepdims=True))
    last, row = degree - 1, np.arange(len(times))
    beyond = np.where(np.arange(p.shape[1]) >= degree[:, None], taken, 0)  # where rounding has left some
    taken[row, last] += beyond.sum(1)
    return taken - beyond

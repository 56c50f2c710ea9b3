"""S_n: games drawn from P, without search, for H to learn from (QDTS, Hidden State Model).

Games that went the same way are played as one: how many of them take each action is one draw. So a small game is drawn
as often as one likes for the price of its tree, and a large one for the price of its games.

Players may explore, each with a share of his moves that is drawn evenly. What a player does himself tells him nothing
of what is hidden. But games in which another explored before would have to be left out; instead each counts for the
chance that he did not, given what he did:

    w = Π (1 − e) P(a) / ((1 − e) P(a) + e / |A|)      over the others' moves before

    e       the share of the mover's moves that is drawn evenly     P(a), |A|   of his action, and of what he may do

So H learns what follows from P, also at views that P hardly ever leads to.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.beliefs import Moves
from qdts.learning.nodes import different, views

P = Callable[[Ints, Ints], Reals]
"""From views [N, W] and the players who move there to P, whatever is below 0 beyond the actions of each. [N, B]"""
SMALLEST = 1e-300
"""What the chance of not having explored counts as at least."""


def sample_moves(game: Game, policy: P, games: int, explore: Reals, stream: np.random.Generator) -> Moves:
    """The moves of all players in so many games; `explore` holds e of each player."""
    worlds, times = game.initial()[None], np.array([games])
    log_sound = np.zeros((1, game.players))  # of each player's own moves
    parts: list[Moves] = []
    while True:
        mover = batch.movers(game, worlds)
        on = mover != TERMINAL
        if not on.any():
            return Moves._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
        worlds, times, log_sound, mover = worlds[on], times[on], log_sound[on], mover[on]
        acts = mover >= 0
        e = np.where(acts, explore[mover], 0.0)[:, None]
        p, number, degree = _choices(game, policy, worlds, mover)
        even = np.where(np.arange(p.shape[1]) < degree[:, None], 1.0 / degree[:, None], 0.0)
        taken = _split(times, (1.0 - e) * p + e * even, degree, stream)
        row, column = np.nonzero(taken)
        mover, action, times = mover[row], number[row, column], taken[row, column]
        before, sound = worlds[row], log_sound[row]
        his = np.flatnonzero(acts[row])
        others = sound[his].sum(1) - sound[his, mover[his]]
        parts.append(Moves(before[his], mover[his], action[his], times[his], np.exp(others)))
        kept = ((1.0 - e) * p)[row, column]
        sound[his, mover[his]] += np.log(np.maximum(kept / (kept + (e * even)[row, column]), SMALLEST))[his]
        worlds, log_sound = batch.stepped(game, before, action), sound


def _choices(game: Game, policy: P, worlds: Ints, mover: Ints) -> tuple[Reals, Ints, Ints]:
    """What may happen in each world: probabilities [N, B], their actions or outcomes [N, B], and how many there are."""
    offered = batch.choices(game, worlds, mover)
    column = np.arange(len(offered.source)) - np.repeat(np.cumsum(offered.counts) - offered.counts, offered.counts)
    p, number = np.zeros((len(worlds), game.max_branching)), np.zeros((len(worlds), game.max_branching), np.int64)
    p[offered.source, column], number[offered.source, column] = offered.chance, offered.number
    acts = np.flatnonzero(mover >= 0)
    if len(acts):
        seen, players = views(game, worlds[acts], mover[acts]), mover[acts]
        first, which = different(np.column_stack([players, seen]))
        known = policy(seen[first], players[first])
        p[acts] = 0.0
        p[acts, : known.shape[1]] = np.maximum(known, 0.0)[which]
    return p, number, offered.counts


def _split(times: Ints, p: Reals, degree: Ints, stream: np.random.Generator) -> Ints:
    """How many of so many games take each choice. int64[N, B]"""
    taken = stream.multinomial(times, p / p.sum(1, keepdims=True))
    last, row = degree - 1, np.arange(len(times))
    beyond = np.where(np.arange(p.shape[1]) >= degree[:, None], taken, 0)  # what rounding has left over
    taken[row, last] += beyond.sum(1)
    return taken - beyond

"""Games sampled from P, without search, in bulk.

The games of a part, in which players explore alike, are one row if they have the same history, with their number. So
any number of games of a small game costs no more than its tree, and games of a large game cost what they cost one by
one. Of n games in a row, either ⌊n μ(a)⌋ or one more take choice a, and n μ(a) on average (systematic sampling,
Kitagawa 1996).

Players explore: a share e of a player's moves is sampled uniformly,

    μ(a) = (1 − e) P(a) + e / |A|

What is learned of player i at a history h must not depend on the others' exploring. A player's own moves reveal
nothing of what is hidden to them, so h counts with the ratio of the others' probabilities (importance weights):

    w_i(h) = Π P(a) / μ(a)      over the others' moves before h
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals, Reals32
from qdts.solving.sampled_games import choose_actions

NO_PARENT = -1
"""The parent of a row with the start of the game."""
SMALLEST = 1e-12
"""What a ratio of probabilities counts as at least."""


class Guess(NamedTuple):
    """What networks say about N worlds in which somebody moves."""

    policy: Reals  # [N, B] P of the player to move, 0 beyond their actions; not read where chance moves
    children: Reals32  # [N, B, P] V_c of each player; or [N, B, 0]


Evaluate = Callable[[Ints, Ints], Guess]
"""From worlds [N, W] that are not over and who moves there, a player or chance, to a guess."""


class Level(NamedTuple):
    """All histories of one length. N counts them, B the choices of one, at most, P players."""

    parent: Ints  # [N] the row of the level before that it follows; NO_PARENT at the start
    column: Ints  # [N] by which of its choices
    part: Ints  # [N] the part of the games that it belongs to
    world: Ints  # [N, W]
    mover: Ints  # [N] a player, chance, or TERMINAL
    times: Ints  # [N] the number of games with this history
    log_ratio: Reals  # [N, P] the logarithm of Π P(a) / μ(a) over each player's own moves
    returns: Reals  # [N, P] of finished games, else 0
    degree: Ints  # [N] the number of choices
    choice: Ints  # [N, B] actions or outcomes
    policy: Reals  # [N, B] P, or the rules' probabilities; 0 where there is no choice
    sampled: Reals  # [N, B] μ
    taken: Ints  # [N, B] the number of games that take each choice
    children: Reals32  # [N, B, P] V_c, as it was given

    def weight(self, rows: Ints, player: int) -> Reals:
        """W of some rows for a player."""
        ratio = self.log_ratio[rows]
        return np.exp(ratio.sum(1) - ratio[:, player])


def moves_of(levels: Sequence[Level]) -> Iterator[tuple[int, Ints, Ints]]:
    """For each level its number, and the row and the column of every choice of a player that a game took."""
    for number, (level, after) in enumerate(pairwise(levels)):
        own = level.mover[after.parent] >= 0
        yield number, after.parent[own], after.column[own]


def sample_games(
    game: Game, evaluate: Evaluate, games: int, explore: Reals, stream: np.random.Generator
) -> list[Level]:
    """Games sampled from P, level by level: so many in each part. `explore` holds e of each player in each part."""
    parts = len(explore)
    worlds, times, part = np.tile(game.initial(), (parts, 1)), np.full(parts, games), np.arange(parts)
    parent, column = np.full(parts, NO_PARENT), np.zeros(parts, np.int64)
    log_ratio = np.zeros((parts, game.players))
    levels: list[Level] = []
    while len(worlds):
        level = _sampled(game, evaluate, (parent, column, part, worlds, times, log_ratio), explore, stream)
        levels.append(level)
        parent, column = (np.ascontiguousarray(x) for x in np.nonzero(level.taken))
        part, times, log_ratio = level.part[parent], level.taken[parent, column], level.log_ratio[parent]
        mover = level.mover[parent]
        own = np.flatnonzero(mover >= 0)
        at = parent[own], column[own]
        log_ratio[own, mover[own]] += np.log(np.maximum(level.policy[at] / level.sampled[at], SMALLEST))
        worlds = batch.stepped(game, level.world[parent], level.choice[parent, column])
    return levels


def _sampled(
    game: Game, evaluate: Evaluate, rows: tuple[Ints, Ints, Ints, Ints, Ints, Reals], explore: Reals,
    stream: np.random.Generator,
) -> Level:  # fmt: skip
    """One level: who moves, by which probabilities, and how many games take each choice."""
    parent, column, part, worlds, times, log_ratio = rows
    n, b = len(worlds), game.max_branching
    mover = batch.movers(game, worlds)
    returns, degree, choice = np.zeros((n, game.players)), np.zeros(n, np.int64), np.zeros((n, b), np.int64)
    policy, sampled, taken = np.zeros((n, b)), np.zeros((n, b)), np.zeros((n, b), np.int64)
    over = mover == TERMINAL
    if over.any():
        returns[over] = batch.returns(game, worlds[over])
    on = np.flatnonzero(~over)
    children = np.zeros((n, b, game.players), np.float32)
    if len(on):
        batch.tabulate_choices(game, worlds[on], mover[on], on, batch.Table(degree, choice, policy))
        guess = evaluate(worlds[on], mover[on])
        acts = mover[on] >= 0
        policy[on[acts]] = guess.policy[acts]
        children = np.zeros((n, b, guess.children.shape[2]), np.float32)
        children[on] = guess.children
        own = explore[part, np.maximum(mover, 0)]
        choose_actions(times, mover, degree, policy, own, stream.random(n), sampled, taken)
    return Level(
        parent, column, part, worlds, mover, times, log_ratio, returns, degree, choice, policy, sampled, taken, children
    )

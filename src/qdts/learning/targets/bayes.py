"""What Bayes' rule says of the worlds behind a view, from games sampled from P (NI, *Bayes' Rule Loss Term*).

For a world w behind a view of player i, with P of the others' actions at the views from which they were made:

    start   q(w) ∝ chance(w) · Π P(a)            over the others' moves since the start of the game
    turn    q(w) ∝ H(w') · chance(w since w') · Π P(a)      over those since i's last own turn, in the world w'

i's own moves count 1. Where the rules' weights of holes are those of chance, they stand for chance: rules(w), and
rules(w) / rules(w') since w'. They count all histories that lead to a world, and a game has sampled only one of them.
Otherwise chance is the probability of the outcomes in one history that led to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.clock import Timed
from qdts.learning.nodes.nodes import distinct, queries_of, sample_chain, views_of
from qdts.learning.selfplay.sampling import NO_PARENT, Level
from qdts.nets.bayes import BayesExamples
from qdts.nets.evaluator import Network
from qdts.nets.examples import choose
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import NOTHING

NONE = -1
"""The level of a turn that was not."""
FEW = 64
"""Worlds from which the number of SAMPLE nodes is estimated."""
SMALLEST = 1e-300
"""What a probability counts as at least in a logarithm."""


class Worlds(NamedTuple):
    """Worlds at the turns of players, each once, those of one view in a row; M counts them."""

    world: Ints  # [M, W]
    player: Ints  # [M]
    view: Ints  # [M] the number of the view
    times: Ints  # [M] how many games came there
    log_start: Reals  # [M] the logarithm of the others' and chance's probability since the start
    log_since: Reals  # [M] the same since the player's last own turn
    last_level: Ints  # [M] the level of that turn, or NONE
    last_row: Ints  # [M] its row there


class _Reach(NamedTuple):
    """The logarithms of the others' and chance's probability at the rows of a level; P players."""

    start: Reals  # [N, P]
    since: Reals  # [N, P] since the player's last own turn
    last_level: Ints  # [N, P] the level of that turn, or NONE
    last_row: Ints  # [N, P] its row there


def worlds_met(game: Game, levels: Sequence[Level]) -> Worlds:
    """Every different world that sampled games met at the turn of a player."""
    parts = []
    for level, reach in zip(levels, _reaches(game, levels), strict=True):
        rows = np.flatnonzero(level.mover >= 0)
        player = level.mover[rows]
        parts.append((level.world[rows], player, level.times[rows], *(column[rows, player] for column in reach)))
    world, player, times, start, since, last_level, last_row = (np.concatenate(c) for c in zip(*parts, strict=True))
    view, _ = distinct_rows(np.column_stack([player, views_of(game, world, player)]))
    which, first = distinct_rows(np.column_stack([player, world]))
    total = np.bincount(which, times, len(first)).astype(np.int64)
    order = np.argsort(view[first], kind="stable")
    at = first[order]
    return Worlds(world[at], player[at], view[at], total[order], start[at], since[at], last_level[at], last_row[at])


def _reaches(game: Game, levels: Sequence[Level]) -> Iterator[_Reach]:
    """The reach at every level."""
    before: tuple[Level, _Reach] | None = None
    for number, level in enumerate(levels):
        if before is None or level.parent[0] == NO_PARENT:
            size = len(level.parent), game.players
            certain, none = np.zeros(size), np.full(size, NONE)
            reach = _Reach(certain, certain, none, none)
        else:
            reach = _next(game, *before, level, number - 1)
        yield reach
        before = level, reach


def _next(game: Game, level: Level, reach: _Reach, after: Level, number: int) -> _Reach:
    """The reach one move after the level of a number."""
    p, mover = after.parent, level.mover[after.parent]
    log = np.log(np.maximum(level.policy[p, after.column], SMALLEST))
    if game.weights == "chance":
        log = np.where(mover == CHANCE, 0.0, log)
    others = np.arange(game.players) != mover[:, None]
    start, since = (x[p] + np.where(others, log[:, None], 0.0) for x in (reach.start, reach.since))
    last_level, last_row = reach.last_level[p], reach.last_row[p]
    turn = np.flatnonzero((mover >= 0) & (batch.midway(game, after.world) == 0))
    who = mover[turn]
    since[turn, who], last_level[turn, who], last_row[turn, who] = 0.0, number, p[turn]
    return _Reach(start, since, last_level, last_row)


def bayes_examples(
    game: Game, levels: Sequence[Level], network: Network | Timed, *, since: str, most: int, power: float,
    stream: np.random.Generator,
) -> BayesExamples:  # fmt: skip
    """Views with several worlds, with about `most` SAMPLE nodes in all; a view that n games met has weight n^power.

    `since` is the setting `belief.bayes_since`: turn or start. The network gives H.
    """
    met = worlds_met(game, levels)
    count = np.bincount(met.view)
    several = np.flatnonzero(count > 1)
    times = np.bincount(met.view, met.times)[several].astype(np.float64)
    each = count[several].mean() * _mean_holes(game, met) if len(several) else 1.0
    chosen, weight = choose(np.asarray(times**power), max(1, round(most / each)), stream)
    rows = np.flatnonzero(np.isin(met.view, several[chosen]))
    met = Worlds._make(column[rows] for column in met)
    first = np.flatnonzero(np.diff(met.view, prepend=-1))
    chain = _Chain(game, met.world, met.player)
    log_q = chain.rules if game.weights == "chance" else np.zeros(len(rows))
    if since == "start":
        log_q = log_q + met.log_start
    else:
        has = np.flatnonzero(met.last_level != NONE)
        earlier = _Chain(game, _last_worlds(levels, met, has), met.player[has])
        h = earlier.belief(network) - (earlier.rules if game.weights == "chance" else 0.0)
        log_q = log_q + np.where(met.last_level != NONE, met.log_since, met.log_start)
        log_q[has] += h
    begins = np.append(first, len(rows)).astype(np.int64)
    return BayesExamples(chain.queries, begins, _shares(log_q, begins), chain.first, chain.node, chain.column, weight)


def _mean_holes(game: Game, met: Worlds) -> float:
    """The mean number of SAMPLE nodes on the way to a world, at least 1; from a few worlds."""
    few = np.unique(np.linspace(0, len(met.player) - 1, FEW).astype(np.int64))
    return max(1.0, len(_Chain(game, met.world[few], met.player[few]).node) / len(few))


def _last_worlds(levels: Sequence[Level], met: Worlds, which: Ints) -> Ints:
    """The worlds at the players' last own turns, for some of the worlds."""
    worlds = np.empty((len(which), met.world.shape[1]), np.int64)
    level = met.last_level[which]
    for number in np.unique(level):
        at = np.flatnonzero(level == number)
        worlds[at] = levels[number].world[met.last_row[which[at]]]
    return worlds


def _shares(log_q: Reals, first: Ints) -> Reals:
    """The exponentials, divided by their sum in each group."""
    if len(log_q) == 0:
        return log_q
    count = np.diff(first)
    q = np.exp(log_q - np.repeat(np.maximum.reduceat(log_q, first[:-1]), count))
    return np.asarray(q / np.repeat(np.add.reduceat(q, first[:-1]), count))


class _Chain:
    """The SAMPLE nodes between players' views and worlds, each node once."""

    def __init__(self, game: Game, worlds: Ints, players: Ints) -> None:
        nothing = np.full(len(worlds), NOTHING)
        nodes, world, true = sample_chain(game, views_of(game, worlds, players), worlds, players, nothing)
        order = np.argsort(world, kind="stable")
        unique, which = distinct(nodes)
        self.game = game
        self.queries = queries_of(game, unique)
        self.node = which[order]
        self.column = np.argmax(self.queries.choices[self.node] == true[order][:, None], 1)
        self.of = world[order]
        self.first = np.searchsorted(self.of, np.arange(len(worlds) + 1)).astype(np.int64)

    def _total(self, probability: Reals) -> Reals:
        """The logarithm of the product of the probabilities along each chain."""
        total = np.bincount(self.of, np.log(np.maximum(probability, SMALLEST)), len(self.first) - 1)
        return total.astype(np.float64)

    @property
    def rules(self) -> Reals:
        """The logarithm of the product of the rules' weights, for each world."""
        return self._total(self.queries.weights[self.node, self.column])

    def belief(self, network: Network | Timed) -> Reals:
        """The logarithm of what H gives each world."""
        evaluations = empty_evaluations(self.game, len(self.queries.kind))
        network.evaluate_batch(self.queries, evaluations)
        return self._total(evaluations.prior[self.node, self.column])

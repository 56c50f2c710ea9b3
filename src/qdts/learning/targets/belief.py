"""The targets of H: how often each value of a hole was the true one, at the SAMPLE nodes of players' own views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.nodes import Nodes, chain_after, distinct, few_of, mean_chain, queries_of
from qdts.learning.selfplay.places import Places, actions_at, players_moves, rows_at, worlds_at
from qdts.learning.selfplay.record import Record
from qdts.learning.selfplay.sampling import Level
from qdts.nets.examples import PolicyExamples, choose
from qdts.search.evaluation.evaluator import NOTHING

FIRM = 8.0
"""How often a node must occur for its targets to be right by themselves."""


class Moves(NamedTuple):
    """Moves of players that H may learn from; M counts them, and equal ones may be one."""

    world: Ints  # [M, W] before the move
    mover: Ints  # [M]
    action: Ints  # [M]
    times: Ints  # [M] how often it was made
    weight: Reals  # [M] w: what each time counts


def choose_moves(game: Game, moves: Moves, most: int, stream: np.random.Generator) -> Moves:
    """As many of the moves as have at most so many SAMPLE nodes, drawn by how often they were made."""
    nodes = mean_chain(game, moves.world, moves.mover, moves.action) if len(moves.mover) else 1.0
    rows, times = choose(moves.times.astype(np.float64), max(1, round(most / nodes)), stream)
    return Moves(moves.world[rows], moves.mover[rows], moves.action[rows], times.astype(np.int64), moves.weight[rows])


def moves_at(levels: Sequence[Level], places: Places) -> Moves:
    """The moves of players at some places of sampled games."""
    ratio = rows_at([level.log_ratio for level in levels], places)
    weight = np.exp(ratio.sum(1) - ratio[np.arange(len(ratio)), places.player])
    return Moves(worlds_at(levels, places), places.player, actions_at(levels, places), places.times, weight)


def choose_sampled_moves(game: Game, levels: Sequence[Level], most: int, stream: np.random.Generator) -> Moves:
    """`choose_moves` among those of all players in sampled games; only the worlds of the chosen ones are copied."""
    places = players_moves(levels)
    few = moves_at(levels, places.take(few_of(len(places.row))))
    nodes = mean_chain(game, few.world, few.mover, few.action)
    rows, times = choose(places.times.astype(np.float64), max(1, round(most / nodes)), stream)
    return moves_at(levels, places.take(rows)._replace(times=times.astype(np.int64)))


class BeliefTargets(NamedTuple):
    """Every SAMPLE node once, with how often each value of its hole was the true one; each time counts w."""

    nodes: Nodes  # [N]
    counts: Reals  # [N, X] by value
    times: Reals  # [N] how often the node occurred

    def weight(self, power: float) -> Reals:
        """(Σw · (n + k) / (Σw + k))^power for each node that occurred n times, with k = FIRM.

        A node that occurred often counts as often as it occurred, however seldom P leads there. One that occurred once
        counts about w: its value is then right only on average over w.
        """
        total = self.counts.sum(1)
        return np.asarray((total * (self.times + FIRM) / (total + FIRM)) ** power)


def explorers_moves(record: Record) -> Moves:
    """The moves of the exploring seats, or of all seats in games without one.

    A player's own moves reveal nothing of what is hidden to them, so their belief follows from the others' play. The
    others' beliefs would be biased by the exploring player's moves.
    """
    who = np.repeat(record.explorer, np.diff(record.first))
    steps = np.flatnonzero((record.mover >= 0) & ((who == record.mover) | (who < 0)))
    mover, action = record.mover[steps].astype(np.int64), record.action[steps].astype(np.int64)
    once = np.ones(len(steps), np.int64)
    return Moves(record.worlds[steps], mover, action, once, once.astype(np.float64))


def belief_targets(game: Game, moves: Moves) -> BeliefTargets:
    """The SAMPLE nodes after these moves; equal nodes are merged."""
    chain, at, true = chain_after(game, moves.world, moves.mover, moves.action)
    chain = chain._replace(pending=np.full(len(chain.kind), NOTHING, np.int64))
    unique, which = distinct(chain)
    counts = np.zeros((len(unique.kind), game.num_values))
    np.add.at(counts, (which, true), moves.times[at] * moves.weight[at])
    times = np.bincount(which, moves.times[at], len(counts)).astype(np.float64)
    return BeliefTargets(unique, counts, times)


def belief_examples(game: Game, targets: BeliefTargets, power: float = 1.0) -> PolicyExamples:
    """The examples of H: distributions over the values of holes."""
    queries = queries_of(game, targets.nodes)
    target = np.take_along_axis(targets.counts, queries.choices, 1) / targets.counts.sum(1)[:, None]
    target[np.arange(target.shape[1]) >= queries.degree[:, None]] = 0.0
    return PolicyExamples(queries, target, targets.weight(power))

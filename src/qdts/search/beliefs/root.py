"""The belief at the root: as if the others had responded to P from their first move, instead of playing it.

    weight(w) = H(w) Π σ_u(a) / P_u(a)

    w   a completion of the root's view         u   a view at which another player has moved on the way to w
    H   the evaluator's, along the holes        a   their action there
    σ   their response to P, by a search from u

H is a belief under P, but simulated players respond to P. What pays against a player who responds from now on may pay
nothing against one who has responded from their first move (docs/search.md, *The belief at the root*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import float64, int64, types

from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE
from qdts.kernels import Ints, Reals, declare
from qdts.rng import seeded
from qdts.search.beliefs.likelihoods import history_of
from qdts.search.decision.result import Result
from qdts.search.evaluation.batches import OneByOne, as_queries, empty_evaluations, sample_query
from qdts.search.evaluation.evaluator import BatchEvaluator
from qdts.search.seeds import nested_seed

MOST = 256
"""Completions of a view that are weighed at most; with more of them H stays as it is."""

Search = Callable[[Sequence[Ints], Sequence[int], Sequence[int]], list[Result]]
"""Searches from views of players, each with a seed, for the responses of these players."""


class RootBeliefs(NamedTuple):
    """The weighted completions of every lane's root; none where H is the evaluator's."""

    worlds: Ints  # [M, W]
    weights: Reals  # [M]
    start: Ints  # [S + 1] those of lane s are from start[s] up to start[s + 1]


RootBeliefsType = types.NamedTuple([int64[:, ::1], float64[::1], int64[::1]], RootBeliefs)
declare(RootBeliefs, RootBeliefsType)


class Filled(NamedTuple):
    """A view with some of its holes filled in every possible way, and the product of H along them."""

    vectors: list[Ints]
    weights: list[float]


class Move(NamedTuple):
    """An action of another player on the way to a completion."""

    view: Ints
    """The player's view when they acted."""
    player: int
    action: int

    @property
    def key(self) -> tuple[int, bytes]:
        """The player and the view."""
        return self.player, self.view.tobytes()


def no_beliefs(game: Game, lanes: int) -> RootBeliefs:
    """The evaluator's H in every lane."""
    return RootBeliefs(np.zeros((0, game.world_size), np.int64), np.zeros(0), np.zeros(lanes + 1, np.int64))


def replace_lane(beliefs: RootBeliefs, s: int, new: RootBeliefs) -> RootBeliefs:
    """The beliefs of all lanes, with those of lane s replaced by `new`, which holds one lane."""
    first, last = beliefs.start[s], beliefs.start[s + 1]
    worlds = np.concatenate([beliefs.worlds[:first], new.worlds, beliefs.worlds[last:]])
    weights = np.concatenate([beliefs.weights[:first], new.weights, beliefs.weights[last:]])
    start = beliefs.start.copy()
    start[s + 1 :] += len(new.weights) - (last - first)
    return RootBeliefs(worlds, weights, start)


def response_beliefs(
    game: Game,
    views: Ints,
    players: Ints,
    seeds: Sequence[int],
    evaluator: BatchEvaluator | OneByOne,
    search: Search,
) -> RootBeliefs:
    """The weights of all completions, where the rules have a `replay` and there are not too many completions."""
    if not game.hidden or game.replay is None:
        return no_beliefs(game, len(views))
    filled = fill_by_h(game, views, players, evaluator)
    histories = [
        [moves_of_others(game, world, int(player)) for world in of.vectors] if can_weigh(game, of) else []
        for of, player in zip(filled, players, strict=True)
    ]
    roots = {
        (s, move.key): (move.view, move.player, nested_seed(move.view, move.player, seeds[s]))
        for s, of_lane in enumerate(histories)
        for moves in of_lane
        for move in moves
    }
    results = search(*zip(*roots.values(), strict=True)) if roots else []
    ratio = dict(zip(roots, map(response_ratios, results), strict=True))
    worlds: list[Ints] = []
    weights: list[float] = []
    start = [0]
    for s, (of, of_lane) in enumerate(zip(filled, histories, strict=True)):
        if any(of_lane):
            worlds += of.vectors
            weights += [
                weight * float(np.prod([ratio[s, move.key][move.action] for move in moves]))
                for weight, moves in zip(of.weights, of_lane, strict=True)
            ]
        start.append(len(worlds))
    return RootBeliefs(
        np.array(worlds, np.int64).reshape(-1, game.world_size), np.array(weights), np.array(start, np.int64)
    )


def can_weigh(game: Game, filled: Filled) -> bool:
    """Whether there are several completions, and no action at the view is split: its parts lead to other views."""
    if len(filled.vectors) < 2:
        return False
    world = filled.vectors[0]
    return not any(game.midway(game.step(world, action)) for action in game.legal(world))


def response_ratios(result: Result) -> dict[int, float]:
    """σ(a) / P(a) of every action; 1 where P is 0."""
    prior = np.where(result.prior > 0.0, result.prior, 1.0)
    ratios = np.where(result.prior > 0.0, result.move / prior, 1.0)
    return dict(zip(result.actions.tolist(), ratios.tolist(), strict=True))


def moves_of_others(game: Game, world: Ints, player: int) -> list[Move]:
    """The actions on the way to a world that are neither the player's nor chance's."""
    return [
        Move(game.view(step.world, step.mover), step.mover, step.move)
        for step in history_of(game, world)
        if step.mover not in (CHANCE, player)
    ]


def fill_by_h(game: Game, views: Ints, players: Ints, evaluator: BatchEvaluator | OneByOne) -> list[Filled]:
    """The completions of each view with the product of H along their holes; none where there are too many.

    H is evaluated hole by hole, for all views at once, with the first legal action pending.
    """
    filled = [Filled([view], [1.0]) for view in views]
    pending = [game.legal(view)[0] for view in views]
    while True:
        queries = [
            sample_query(game, vector, int(player), action)
            for of, player, action in zip(filled, players, pending, strict=True)
            for vector in of.vectors
            if game.hole(vector) != NO_HOLE
        ]
        if not queries:
            return filled
        evaluations = empty_evaluations(game, len(queries))
        evaluator.evaluate_batch(as_queries(game, queries, seeded(0)), evaluations)
        evaluated = zip(queries, evaluations.prior, strict=True)
        for s, of in enumerate(filled):
            next_filled = Filled([], [])
            for vector, weight in zip(*of, strict=True):
                if game.hole(vector) == NO_HOLE:
                    next_filled.vectors.append(vector)
                    next_filled.weights.append(weight)
                    continue
                query, prior = next(evaluated)
                for value, h in zip(query.choices.tolist(), prior.tolist(), strict=False):
                    next_filled.vectors.append(game.fill(vector, query.hole, value))
                    next_filled.weights.append(weight * h)
            filled[s] = next_filled if len(next_filled.vectors) <= MOST else Filled([], [])

"""The belief at the root, as if the others had answered P all along instead of played it.

    weight(w) = H(w) Π σ_u(a) / P_u(a)

    w   a completion of the root's view         u   a view at which another player has moved on the way to w
    H   the evaluator's, along the holes        a   what he did there
    σ   his answer to P, by a search from u

H is a belief under P, but simulated players answer P. What is worth something against a player who answers from now
on may be worth nothing against one who has answered from his first move (docs/search.md, *The belief at the root*).
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
from qdts.search.beliefs.likelihoods import way_to
from qdts.search.decision.result import Result
from qdts.search.evaluation.batches import OneByOne, as_queries, empty_evaluations, sample_query
from qdts.search.evaluation.evaluator import BatchEvaluator
from qdts.search.seeds import nested_seed

MOST = 256
"""Completions of a view that are weighed at most; with more of them H stays as it is."""

Search = Callable[[Sequence[Ints], Sequence[int], Sequence[int]], list[Result]]
"""Searches from views of players, each with a seed, for what these players answer."""


class RootBeliefs(NamedTuple):
    """The weighed completions of every lane's root; none where H is as the evaluator says."""

    worlds: Ints  # [M, W]
    weights: Reals  # [M]
    start: Ints  # [S + 1] those of lane s are from start[s] up to start[s + 1]


RootBeliefsType = types.NamedTuple([int64[:, ::1], float64[::1], int64[::1]], RootBeliefs)
declare(RootBeliefs, RootBeliefsType)


class Held(NamedTuple):
    """Completions of a view, and what H gives to each."""

    worlds: list[Ints]
    weights: list[float]


class Move(NamedTuple):
    """What another player has done on the way to a completion."""

    view: Ints
    """Where."""
    player: int
    action: int

    @property
    def place(self) -> tuple[int, bytes]:
        """Who moved where."""
        return self.player, self.view.tobytes()


def no_beliefs(game: Game, lanes: int) -> RootBeliefs:
    """H as the evaluator says, in every lane."""
    return RootBeliefs(np.zeros((0, game.world_size), np.int64), np.zeros(0), np.zeros(lanes + 1, np.int64))


def exchanged(beliefs: RootBeliefs, s: int, by: RootBeliefs) -> RootBeliefs:
    """Beliefs with those of one lane in the place of what lane s had."""
    first, last = beliefs.start[s], beliefs.start[s + 1]
    worlds = np.concatenate([beliefs.worlds[:first], by.worlds, beliefs.worlds[last:]])
    weights = np.concatenate([beliefs.weights[:first], by.weights, beliefs.weights[last:]])
    start = beliefs.start.copy()
    start[s + 1 :] += len(by.weights) - (last - first)
    return RootBeliefs(worlds, weights, start)


def response_beliefs(
    game: Game,
    views: Ints,
    players: Ints,
    seeds: Sequence[int],
    evaluator: BatchEvaluator | OneByOne,
    search: Search,
) -> RootBeliefs:
    """The weights of all completions, where the rules tell how they came about and there are not too many."""
    if not game.hidden or game.replay is None:
        return no_beliefs(game, len(views))
    held = held_by(game, views, players, evaluator)
    moves = [
        [moves_of_others(game, world, int(player)) for world in of.worlds] if is_weighed(game, of) else []
        for of, player in zip(held, players, strict=True)
    ]
    asked = {
        (s, move.place): (move.view, move.player, nested_seed(move.view, move.player, seeds[s]))
        for s, ways in enumerate(moves)
        for way in ways
        for move in way
    }
    evaluations = (
        dict(zip(asked, map(ratios, search(*zip(*asked.values(), strict=True))), strict=True)) if asked else {}
    )
    worlds: list[Ints] = []
    weights: list[float] = []
    start = [0]
    for s, (of, ways) in enumerate(zip(held, moves, strict=True)):
        if any(ways):
            worlds += of.worlds
            weights += [
                weight * float(np.prod([evaluations[s, move.place][move.action] for move in way]))
                for weight, way in zip(of.weights, ways, strict=True)
            ]
        start.append(len(worlds))
    return RootBeliefs(
        np.array(worlds, np.int64).reshape(-1, game.world_size), np.array(weights), np.array(start, np.int64)
    )


def is_weighed(game: Game, held: Held) -> bool:
    """Whether there is something to weigh, and all actions at the view are whole: pieces lead to views of their own."""
    if len(held.worlds) < 2:
        return False
    world = held.worlds[0]
    return not any(game.midway(game.step(world, action)) for action in game.legal(world))


def ratios(result: Result) -> dict[int, float]:
    """σ(a) / P(a) of every action; 1 where P is 0."""
    prior = np.where(result.prior > 0.0, result.prior, 1.0)
    told = np.where(result.prior > 0.0, result.move / prior, 1.0)
    return dict(zip(result.actions.tolist(), told.tolist(), strict=True))


def moves_of_others(game: Game, world: Ints, player: int) -> list[Move]:
    """The actions on the way to a world that are neither the player's nor chance's."""
    return [
        Move(game.view(step.world, step.mover), step.mover, step.move)
        for step in way_to(game, world)
        if step.mover not in (CHANCE, player)
    ]


def held_by(game: Game, views: Ints, players: Ints, evaluator: BatchEvaluator | OneByOne) -> list[Held]:
    """The completions of each view with the product of H along their holes; none where there are too many.

    H is asked hole by hole, for all views at once, with the first legal action pending.
    """
    held = [Held([view], [1.0]) for view in views]
    pending = [game.legal(view)[0] for view in views]
    while True:
        queries = [
            sample_query(game, vector, int(player), action)
            for of, player, action in zip(held, players, pending, strict=True)
            for vector in of.worlds
            if game.hole(vector) != NO_HOLE
        ]
        if not queries:
            return held
        evaluations = empty_evaluations(game, len(queries))
        evaluator.evaluate_batch(as_queries(game, queries, seeded(0)), evaluations)
        told = zip(queries, evaluations.prior, strict=True)
        for s, of in enumerate(held):
            filled = Held([], [])
            for vector, weight in zip(*of, strict=True):
                if game.hole(vector) == NO_HOLE:
                    filled.worlds.append(vector)
                    filled.weights.append(weight)
                    continue
                query, prior = next(told)
                for value, h in zip(query.choices.tolist(), prior.tolist(), strict=False):
                    filled.worlds.append(game.fill(vector, query.hole, value))
                    filled.weights.append(weight * h)
            held[s] = filled if len(filled.worlds) <= MOST else Held([], [])

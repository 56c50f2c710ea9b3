"""The encoding of queries as inputs of a network, and of its outputs as evaluations.

Inputs of the model of P, V and V_c, from the point of view of the query's player:

    perfect information     features of the vector
    hidden information      features of the vector, the kind of node (one of 4), the pending action (one of A, or none)

Inputs of the model of H: features of the vector, and the hole that is filled next (one of W).

Outputs of the model of P, V and V_c, with A actions, O outcomes, X values of holes and R values of a node:

    [0, A)                      logits of P
    [A, A + R)                  V
    [A + R, A + R (2 + …))      V_c of each action, outcome and value, if the model has it; else V_c is V

An output x of V or V_c stands for the return (max + min) / 2 + S x, clipped to the bounds of returns. R is 1 with
hidden information (the owner's value) and in a two-player zero-sum game of perfect information (the value of the
query's player; the opponent's is the opposite). Otherwise it is the number of players: the query's player first, the
others after them in turn.

    P(a) ∝ exp(logit(a))                over the legal actions
    H(x) ∝ weight(x) · exp(logit(x))    over the values that the hole may hold, with the weights of the rules

So a model of H whose logits are all equal gives the weights of the rules.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, types
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.games.interface import FeaturesType, RulesType
from qdts.kernels import Ints, Reals, Reals32, declare, kernel
from qdts.pointers import element
from qdts.search.evaluation.evaluator import (
    ACT,
    CHANCE,
    NOTHING,
    SAMPLE,
    Evaluations,
    EvaluationsType,
    Queries,
    QueriesType,
)

Flags = NDArray[np.bool_]


class Shape(NamedTuple):
    """The layout of the inputs and outputs of a game's networks."""

    features: int
    hidden: int
    """1 with hidden information: then the kind of node and the pending action are inputs."""
    actions: int  # A
    outcomes: int  # O
    values: int  # X
    components: int  # W, of a world's vector
    returns: int  # R
    players: int
    child_values: int
    """1 if the model has V_c."""
    middle: float
    """(max + min) / 2 of returns."""
    scale: float
    """S"""

    @property
    def inputs(self) -> int:
        """Inputs of the model of P, V and V_c."""
        return self.features + self.hidden * (4 + self.actions)

    @property
    def outputs(self) -> int:
        """Outputs of the model of P, V and V_c."""
        children = self.child_values * (self.actions + self.outcomes + self.values)
        return self.actions + self.returns * (1 + children)

    @property
    def belief_inputs(self) -> int:
        """Inputs of the model of H."""
        return self.features + self.components


ShapeType = types.NamedTuple([int64] * 9 + [float64] * 2, Shape)
declare(Shape, ShapeType)


def shape_of(game: Game, *, child_values: bool = True) -> Shape:
    """The layout for a game, with or without V_c."""
    one = game.hidden or (game.zero_sum and game.players == 2)
    return Shape(
        features=game.num_features,
        hidden=int(game.hidden),
        actions=game.num_actions,
        outcomes=game.num_outcomes,
        values=game.num_values,
        components=game.world_size,
        returns=1 if one else game.players,
        players=game.players,
        child_values=int(child_values),
        middle=(game.max_return + game.min_return) / 2,
        scale=game.scale,
    )


@kernel(int64(FeaturesType, RulesType, ShapeType, QueriesType, int64[::1], int64, float32[:, ::1], float32[:, ::1]))
def encode(
    features: Any,
    rules: Ints,
    shape: Shape,
    queries: Queries,
    which: Ints,
    count: int,
    inputs: Reals32,
    beliefs: Reals32,
) -> int:
    """Write the inputs of the first `count` queries of `which`, and of those at SAMPLE nodes again for H.

    Rows beyond these keep their old contents; their outputs are ignored.

    Returns:
        The number of queries at SAMPLE nodes.
    """
    size, samples = queries.vector.shape[1], 0
    for row in range(count):
        q = which[row]
        features(
            element(rules, 0), element(queries.vector, q * size), queries.player[q],
            element(inputs, row * inputs.shape[1]),
        )  # fmt: skip
        if shape.hidden == 0:
            continue
        for i in range(shape.features, inputs.shape[1]):
            inputs[row, i] = 0.0
        inputs[row, shape.features + queries.kind[q]] = 1.0
        if queries.pending[q] != NOTHING:
            inputs[row, shape.features + 4 + queries.pending[q]] = 1.0
        if queries.kind[q] == SAMPLE:
            for i in range(shape.features):
                beliefs[samples, i] = inputs[row, i]
            for i in range(shape.components):
                beliefs[samples, shape.features + i] = 1.0 if i == queries.hole[q] else 0.0
            samples += 1
    return samples


@kernel(inline=True)
def seat(shape: Shape, player: int, k: int) -> int:
    """The position of player k's value in the output for `player`, whose own value comes first."""
    return 0 if shape.returns == 1 else (k - player + shape.players) % shape.players


@kernel(inline=True)
def worth(shape: Shape, number: float, sign: float) -> float:
    """The return that an output stands for; sign is −1 for the opponent in a zero-sum game."""
    return shape.middle + sign * shape.scale * min(1.0, max(-1.0, number))


@kernel(inline=True)
def write_softmax(
    weighted: bool, queries: Queries, q: int, logits: Reals32, row: int, evaluations: Evaluations
) -> None:
    """The prior over a query's choices: ∝ exp(logit), times the rules' weight if `weighted`."""
    count, top, total = queries.degree[q], -np.inf, 0.0
    for i in range(count):
        top = max(top, logits[row, queries.choices[q, i]])
    for i in range(count):
        p = np.exp(np.float64(logits[row, queries.choices[q, i]]) - top)
        if weighted:
            p *= queries.weights[q, i]
        evaluations.prior[q, i] = p
        total += p
    for i in range(count):
        evaluations.prior[q, i] /= total


@kernel(types.void(ShapeType, QueriesType, int64[::1], int64, float32[:, ::1], float32[:, ::1], EvaluationsType))
def decode(
    shape: Shape,
    queries: Queries,
    which: Ints,
    count: int,
    outputs: Reals32,
    beliefs: Reals32,
    evaluations: Evaluations,
) -> None:
    """Write the evaluations of the first `count` queries of `which`."""
    samples = 0
    for row in range(count):
        q = which[row]
        player, kind = queries.player[q], queries.kind[q]
        first = shape.actions + shape.returns
        if kind == CHANCE:
            first += shape.actions * shape.returns
        elif kind == SAMPLE:
            first += (shape.actions + shape.outcomes) * shape.returns
        for k in range(evaluations.value.shape[1]):
            sign = -1.0 if shape.returns == 1 and shape.hidden == 0 and k != player else 1.0
            at = seat(shape, player, k)
            evaluations.value[q, k] = worth(shape, outputs[row, shape.actions + at], sign)
            for i in range(queries.degree[q]):
                if shape.child_values:
                    column = first + queries.choices[q, i] * shape.returns + at
                    evaluations.children[q, i, k] = worth(shape, outputs[row, column], sign)
                else:
                    evaluations.children[q, i, k] = evaluations.value[q, k]
        if kind == ACT:
            write_softmax(False, queries, q, outputs, row, evaluations)
        elif kind == SAMPLE:
            write_softmax(True, queries, q, beliefs, samples, evaluations)
            samples += 1
        else:
            for i in range(queries.degree[q]):
                evaluations.prior[q, i] = queries.weights[q, i]


def offered(queries: Queries) -> Flags:
    """Which places of `choices` hold a choice. bool[N, B]"""
    there: Flags = np.arange(queries.choices.shape[1]) < queries.degree[:, None]
    return there


def in_seats(shape: Shape, queries: Queries, values: Reals) -> Reals:
    """Values of all players, on the last axis, in the order of a model's output: the query's player first."""
    if shape.hidden:
        return values
    seat = (queries.player[:, None] + np.arange(shape.returns)) % shape.players
    seat = seat.reshape(len(seat), *[1] * (values.ndim - 2), -1)
    return np.take_along_axis(values, np.broadcast_to(seat, (*values.shape[:-1], shape.returns)), -1)


def as_outputs(shape: Shape, values: Reals) -> Reals:
    """The outputs that stand for returns."""
    return (values - shape.middle) / shape.scale


def child_columns(shape: Shape, queries: Queries) -> Ints:
    """The outputs of the model that are V_c of each choice. int64[N, B, R]"""
    before = np.select(
        [queries.kind == CHANCE, queries.kind == SAMPLE], [shape.actions, shape.actions + shape.outcomes], 0
    )
    first = shape.actions + shape.returns * (1 + before[:, None] + queries.choices)
    return first[..., None] + np.arange(shape.returns)

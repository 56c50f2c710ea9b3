"""Filling the holes of many views side by side: in every way, according to a true world, or at random.

The axes of arrays:

    axis  counts
    N     views at the start
    M     vectors that are being filled; each comes from one view
    W     components
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import NO_HOLE, UNKNOWN
from qdts.kernels import Ints, Reals
from qdts.testing.faults import Law, Named, require
from qdts.testing.positions import TOLERANCE, sample_choices


class Filling(NamedTuple):
    """Vectors on the way from views to worlds."""

    vectors: Ints  # [M, W]
    origin: Ints  # [M] the view that it comes from
    weight: Reals  # [M] the product of the weights on the way


class Completions(NamedTuple):
    """Filled views, and every vector met on the way to them."""

    worlds: Ints  # [M, W]
    origin: Ints  # [M]
    weight: Reals  # [M]
    between: Ints  # [any, W] views with some holes filled, but not all


Offer = tuple[Filling, batch.Choices]
"""All ways to fill one hole of each vector, and the choices that lead there."""


def complete(game: Game, views: Ints, most: int) -> Completions:
    """Every completion of the views, or `most` of them: nothing is a dead end, so that many do exist."""
    return _fill(game, views, lambda offer: np.arange(min(len(offer[0].origin), most)))


def follow(game: Game, views: Ints, worlds: Ints) -> Completions:
    """Fill each view with the values of the world beside it, which must be on offer."""

    def true_values(offer: Offer) -> Ints:
        filling, choices = offer
        known = filling.vectors != UNKNOWN
        true = (~known | (filling.vectors == worlds[filling.origin])).all(axis=1)
        first = np.flatnonzero(true)
        source, at = np.unique(choices.source[first], return_index=True)
        found = np.zeros(len(choices.counts), np.bool_)
        found[source] = True
        origin = np.zeros(len(found), np.int64)
        origin[choices.source] = filling.origin
        what = "the true world {0} is not among the completions: no value on offer leads to it"
        require(Law.COMPLETIONS, game, found, views[origin], what, worlds[origin])
        return first[at]

    return _fill(game, views, true_values)


def sample(game: Game, views: Ints, rng: np.random.Generator) -> Completions:
    """A random completion of each view, sampled with the weights that the rules give."""
    return _fill(game, views, lambda offer: sample_choices(offer[1], rng))


def _fill(game: Game, views: Ints, pick: Callable[[Offer], Ints]) -> Completions:
    """Fill hole after hole; after each round only the fillings that `pick` names are kept."""
    filling = Filling(views, np.arange(len(views)), np.ones(len(views)))
    done: list[Filling] = []
    between = [views[:0]]
    for fills in range(game.world_size + 1):
        before = filling.vectors.copy()
        hole = batch.holes(game, filling.vectors)
        _check_holes(game, before, hole)
        unchanged = (filling.vectors == before).all(axis=1)
        require(Law.COMPLETIONS, game, unchanged, before, "reading the next hole changes the view")
        full = hole == NO_HOLE
        done.append(_subset(filling, full))
        if full.all():
            break
        filling, hole = _subset(filling, ~full), hole[~full]
        if fills:
            between.append(filling.vectors)
        what = f"there are holes after {fills} fills"
        require(Law.COMPLETIONS, game, np.full(len(hole), fills < game.world_size), filling.vectors, what)
        offer = _offer(game, filling, hole)
        filling = _subset(offer[0], pick(offer))
    joined = Filling(*(np.concatenate(parts) for parts in zip(*done, strict=True)))
    return Completions(*joined, np.concatenate(between))


def _subset(filling: Filling, which: Ints | NDArray[np.bool_]) -> Filling:
    return Filling(filling.vectors[which], filling.origin[which], filling.weight[which])


def _offer(game: Game, filling: Filling, hole: Ints) -> Offer:
    """Every way to fill the hole at hand of each vector, once the values on offer are known to be in order."""
    before = filling.vectors.copy()
    choices = batch.values(game, filling.vectors, hole)
    _check_values(game, before, hole, choices)
    unchanged = (filling.vectors == before).all(axis=1)
    require(
        Law.COMPLETIONS,
        game,
        unchanged,
        before,
        "reading what {0} may hold changes the view",
        Named(hole, game.layout.code),
    )
    source = choices.source
    vectors = batch.filled(game, filling.vectors[source], hole[source], choices.number)
    return Filling(vectors, filling.origin[source], filling.weight[source] * choices.chance), choices


def _check_holes(game: Game, vectors: Ints, hole: Ints) -> None:
    inside = (hole == NO_HOLE) | ((hole >= 0) & (hole < game.world_size))
    require(Law.COMPLETIONS, game, inside, vectors, "hole {0} is not a component", hole)
    names = Named(hole, game.layout.code)
    value = vectors[np.arange(len(hole)), np.maximum(hole, 0)]
    empty = (hole == NO_HOLE) | (value == UNKNOWN)
    require(Law.COMPLETIONS, game, empty, vectors, "hole gives {0}, which is known to be {1}", names, value)
    full = (hole != NO_HOLE) | (vectors != UNKNOWN).all(axis=1)
    what = "hole gives NO_HOLE, but {0} is unknown: either hole names it, or fill sets it with an earlier one"
    left = np.argmax(vectors == UNKNOWN, axis=1)
    require(Law.COMPLETIONS, game, full, vectors, what, Named(left, game.layout.code))


def _check_values(game: Game, vectors: Ints, hole: Ints, choices: batch.Choices) -> None:
    names = Named(hole, game.layout.code)
    require(Law.COMPLETIONS, game, choices.counts > 0, vectors, "dead end: values offers nothing for {0}", names)
    what = "values offers {1} values for {0}, more than num_values"
    require(Law.COMPLETIONS, game, choices.counts <= game.num_values, vectors, what, names, choices.counts)
    source, number = choices.source, choices.number
    inside = (number >= 0) & (number < game.num_values)
    require(Law.COMPLETIONS, game, inside, vectors[source], "value {0} is not below num_values", number)
    order = np.lexsort((number, source))
    twice = (np.diff(number[order]) == 0) & (np.diff(source[order]) == 0)
    require(Law.COMPLETIONS, game, ~twice, vectors[source[order][1:]], "value {0} is offered twice", number[order][1:])
    positive = np.isfinite(choices.chance) & (choices.chance > 0)
    require(Law.COMPLETIONS, game, positive, vectors[source], "a value has weight {0}, expected more", choices.chance)
    total = np.bincount(source, choices.chance, minlength=len(vectors))
    one = np.abs(total - 1) < TOLERANCE
    require(Law.COMPLETIONS, game, one, vectors, "the weights of {0} sum to {1}, expected 1", names, total)

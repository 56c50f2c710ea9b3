"""Nodes of records one by one: their names, and the SAMPLE nodes between a view and the true world."""

from __future__ import annotations

from qdts.games.game import Game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints
from qdts.learning.nodes.nodes import Nodes
from qdts.search.evaluation.evaluator import NOTHING

Key = tuple[int, int, int, int, bytes]
"""Kind, player, pending, hole and vector of a node."""


def key(kind: int, player: int, vector: Ints, pending: int = NOTHING, hole: int = NO_HOLE) -> Key:
    return kind, player, pending, hole, vector.tobytes()


def keys(nodes: Nodes) -> list[Key]:
    return [
        key(int(nodes.kind[n]), int(nodes.player[n]), nodes.vector[n], int(nodes.pending[n]), int(nodes.hole[n]))
        for n in range(len(nodes.kind))
    ]


def chain(game: Game, world: Ints, player: int) -> list[tuple[Ints, int, int]]:
    """The vectors between a player's view and the true world, with the hole of each and its true value."""
    out = []
    vector = game.view(world, player)
    while (hole := game.hole(vector)) != NO_HOLE:
        fits = [x for x, _ in game.values(vector, hole) if leads_to(game, game.fill(vector, hole, x), world)]
        assert len(fits) == 1
        out.append((vector, hole, fits[0]))
        vector = game.fill(vector, hole, fits[0])
    return out


def leads_to(game: Game, vector: Ints, world: Ints) -> bool:
    """Whether the holes of a vector can be filled so that it is the world."""
    if (hole := game.hole(vector)) == NO_HOLE:
        return bool((vector == world).all())
    return any(leads_to(game, game.fill(vector, hole, x), world) for x, _ in game.values(vector, hole))

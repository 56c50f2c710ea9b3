"""The roots of a bandit search, a lane each: what is searched, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.fields import tuple_type
from qdts.games.game import Game
from qdts.kernels import Ints, Reals, kernel
from qdts.rng import State, seeded
from qdts.search.bandit.tree import CAPPED, NODES, ROOT, Tree


class Lanes(NamedTuple):
    """S counts the roots, A a game's actions, W the components of a world."""

    views: Annotated[Ints, "S W"]  # what the observer knows
    observer: Annotated[Ints, "S"]  # the player to move there
    state: Annotated[State, "S"]  # random states
    worlds: Annotated[Ints, "any W"]  # where the worlds of a root are listed, those of all roots
    weights: Annotated[Reals, "any"]  # how likely each is
    first_world: Annotated[Ints, "S+1"]  # into them
    width: Annotated[Ints, "S"]  # how many legal actions the root has
    action: Annotated[Ints, "S A"]
    visits: Annotated[Ints, "S A"]  # N
    total: Annotated[Reals, "S A"]  # W
    nodes: Annotated[Ints, "S"]
    capped: Annotated[NDArray[np.bool_], "S"]  # whether a node was not made for want of room


LanesType = tuple_type(Lanes)


def make_lanes(
    game: Game,
    views: Sequence[Ints],
    players: Sequence[int],
    seeds: Sequence[int],
    pools: Sequence[tuple[Ints, Reals]],
) -> Lanes:
    """The lanes of some roots, each with its worlds and their weights, where they are listed."""
    count, shape = len(views), (len(views), game.num_actions)
    return Lanes(
        views=np.array(views, np.int64).reshape(count, game.world_size),
        observer=np.array(players, np.int64),
        state=seeded(*seeds),
        worlds=np.concatenate([np.empty((0, game.world_size), np.int64), *(worlds for worlds, _ in pools)]),
        weights=np.concatenate([np.empty(0), *(weights for _, weights in pools)]),
        first_world=np.cumsum([0, *(len(worlds) for worlds, _ in pools)], dtype=np.int64),
        width=np.zeros(count, np.int64),
        action=np.zeros(shape, np.int64),
        visits=np.zeros(shape, np.int64),
        total=np.zeros(shape),
        nodes=np.zeros(count, np.int64),
        capped=np.zeros(count, np.bool_),
    )


@kernel()
def harvest(tree: Tree, lanes: Lanes, s: int) -> None:
    """Copy what was found at the root into its lane."""
    lanes.width[s] = tree.width[ROOT]
    for k in range(tree.width[ROOT]):
        lanes.action[s, k] = tree.edge_action[tree.first[ROOT] + k]
        lanes.visits[s, k] = tree.visits[tree.first[ROOT] + k]
        lanes.total[s, k] = tree.total[tree.first[ROOT] + k]
    lanes.nodes[s] = tree.registers[NODES] - ROOT
    lanes.capped[s] = tree.registers[CAPPED] != 0

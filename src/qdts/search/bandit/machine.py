"""The bandit machine: it searches lanes one after another, in the same memory.

    next lane → plant → (simulate)* → harvest → next lane … → FINISHED
                        between two simulations: PAUSED, NODES_FULL or EDGES_FULL; Python calls again

Its state is two registers, LANE and MADE, and the tree.
"""

from __future__ import annotations

from numba import int64

from qdts.kernels import Ints, kernel
from qdts.pointers import element, pointers_to
from qdts.search.bandit.lanes import Lanes, LanesType, harvest
from qdts.search.bandit.scratch import Scratch, ScratchType
from qdts.search.bandit.setup import Setup, SetupType
from qdts.search.bandit.simulation import DEAD_END, DONE, simulate
from qdts.search.bandit.tree import ACTIONS, EDGE_ROOM, EDGES, HEIGHT, NODE_ROOM, NODES, Tree, TreeType, plant
from qdts.search.bandit.worlds import fill_all, fill_first

FINISHED, PAUSED, NODES_FULL, EDGES_FULL = -1, -2, -3, -4
"""Why the machine stops: every lane is searched; the visits of this call are made; an array is full; else a fault."""
LANE, MADE = range(2)
"""Registers of the machine: the lane at hand, and how many visits it has had."""


@kernel(inline=True)
def begin_lane(setup: Setup, tree: Tree, lanes: Lanes, scratch: Scratch, s: int) -> bool:
    """Plant the root of a lane and list what its first hole, or all of them, may be filled with. False if nothing."""
    size = lanes.views.shape[1]
    plant(tree, element(lanes.views, s * size), lanes.observer[s])
    first, count = lanes.first_world[s], lanes.first_world[s + 1] - lanes.first_world[s]
    if count == 0:
        return fill_first(setup, tree, scratch)
    fill_all(tree, scratch, element(lanes.worlds, first * size), element(lanes.weights, first), count)
    return True


@kernel(inline=True)
def run(setup: Setup, tree: Tree, lanes: Lanes, scratch: Scratch, where: Ints, quota: int) -> int:
    """Continue with the lanes for `quota` visits."""
    used, period = tree.registers, setup.period
    new_nodes = 1 if period == 0 else 2
    while where[LANE] < len(lanes.views):
        s = where[LANE]
        observer, state = lanes.observer[s], element(lanes.state, s)
        if where[MADE] == 0 and not begin_lane(setup, tree, lanes, scratch, s):
            return DEAD_END
        while where[MADE] < setup.visits:
            if quota == 0:
                return PAUSED
            if used[NODES] + new_nodes > used[NODE_ROOM] and used[NODE_ROOM] < setup.max_nodes:
                return NODES_FULL
            passed = used[HEIGHT] + 1  # by one simulation, at most
            if setup.many:
                passed = min(used[NODES] + new_nodes, setup.depth)
            if used[EDGES] + passed * used[ACTIONS] > used[EDGE_ROOM]:
                return EDGES_FULL
            elsewhere = period != 0 and (where[MADE] + 1) % period == 0
            status = simulate(setup, tree, scratch, observer, state, elsewhere)
            if status != DONE:
                return status
            where[MADE] += 1
            quota -= 1
        harvest(tree, lanes, s)
        where[LANE] += 1
        where[MADE] = 0
    return FINISHED


_RUN = int64(SetupType, TreeType, LanesType, ScratchType, int64[::1], int64)


@kernel(_RUN)
def run_any(setup: Setup, tree: Tree, lanes: Lanes, scratch: Scratch, where: Ints, quota: int) -> int:
    """`run` with everything that it can do."""
    return run(pointers_to(setup), pointers_to(tree), lanes, pointers_to(scratch), where, quota)


@kernel(_RUN)
def run_plain(setup: Setup, tree: Tree, lanes: Lanes, scratch: Scratch, where: Ints, quota: int) -> int:
    """The same where `is_plain`, compiled for that alone: a fifth faster on small games."""
    given = pointers_to(setup)
    plain = Setup(
        game=given.game,
        rules=given.rules,
        playout=given.playout,
        table=given.table,
        hidden=given.hidden,
        many=False,
        uniform=False,
        rolled=False,
        period=0,
        explore=given.explore,
        max_nodes=given.max_nodes,
        visits=given.visits,
        depth=given.depth,
    )
    return run(plain, pointers_to(tree), lanes, pointers_to(scratch), where, quota)

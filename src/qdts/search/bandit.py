"""The bandit machine, `uct` and `ismcts`: one tree, UCB and random playouts (docs/search.md, *The bandit*).

Many roots are searched by one call, since to call a kernel with a game's functions costs as much as hundreds of
simulations. A thread searches its *slots* one after another, in the memory of one tree. Each slot has its own random
state, so its result depends neither on the others nor on the number of threads.

    next slot → plant → (simulate)* → harvest → next slot … → FINISHED
                        between two simulations: PAUSED, NODES_FULL or EDGES_FULL; Python calls again
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, types
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import KernelsType, RulesType
from qdts.games.playouts import PlayoutType, playout_of
from qdts.kernels import Ints, Reals, declare, kernel
from qdts.pointers import element
from qdts.rng import State, StateType, seeded
from qdts.search.bandit_tree import (
    ACTIONS,
    CAPPED,
    EDGE_ROOM,
    EDGES,
    HEIGHT,
    NODE_ROOM,
    NODES,
    Tree,
    TreeType,
    enlarged,
    make_tree,
    plant,
    tree_at,
)
from qdts.search.decision import decide
from qdts.search.options import Options
from qdts.search.result import Result
from qdts.search.roots import verify_roots, verify_visits
from qdts.search.settings import scale_of
from qdts.search.simulation import (
    DEAD_END,
    DONE,
    FAULTS,
    Scratch,
    ScratchType,
    fill_first,
    make_scratch,
    scratch_at,
    simulate,
)

FINISHED, PAUSED, NODES_FULL, EDGES_FULL = -1, -2, -3, -4
"""What the machine says: every slot is searched; the visits of this call are made; an array is full; else a fault."""
SLOT, MADE = range(2)
"""Registers of the machine: the slot at hand, and how many visits it has had."""

SLICE = 1 << 15
"""Visits between two looks at Ctrl-C."""
CAPACITY = 1 << 15
"""Nodes that there is room for at first, unless fewer visits are made."""
EDGES_PER_NODE = 8
"""Edges that there is room for at first, for each of them."""


class Slots(NamedTuple):
    """What is asked and found; S counts the roots, A a game's actions."""

    views: Ints  # [S, W] what the observer knows
    observer: Ints  # [S] the player to move there
    state: State  # [S] random states
    width: Ints  # [S] how many legal actions the root has
    action: Ints  # [S, A]
    visits: Ints  # [S, A] N
    total: Reals  # [S, A] W
    nodes: Ints  # [S]
    capped: NDArray[np.bool_]  # [S] whether a node was not made for want of room


_SlotsType = types.NamedTuple(
    [
        *(int64[:, ::1], int64[::1], StateType, int64[::1]),
        *(int64[:, ::1], int64[:, ::1], float64[:, ::1], int64[::1], boolean[::1]),
    ],
    Slots,
)
declare(Slots, _SlotsType)


def bandit_search(
    game: Game,
    views: Sequence[Ints],
    players: Sequence[int],
    options: Options,
    visits: int,
    seeds: Sequence[int],
    threads: int = 1,
    report: Callable[[int], None] | None = None,
) -> list[Result]:
    """Search each view for its player, who is to move there; one seed a view.

    `report` is told the visits of every slice, by the thread that made them. Ctrl-C ends a search between slices.
    """
    verify_roots(game, views, players, seeds, threads)
    bounds = np.linspace(0, len(views), min(threads, max(len(views), 1)) + 1).astype(int).tolist()
    parts = [slice(*ends) for ends in pairwise(bounds)]
    bandits = [Bandit(game, views[p], players[p], options, visits, seeds[p]) for p in parts]
    stop = Event()

    def work(bandit: Bandit) -> None:
        while not (bandit.done or stop.is_set()):
            made = bandit.run(SLICE)
            if report is not None:
                report(made)

    if len(bandits) == 1:
        work(bandits[0])
    else:
        with ThreadPoolExecutor(len(bandits)) as pool:
            try:
                list(pool.map(work, bandits))
            finally:
                stop.set()
    return [result for bandit in bandits for result in bandit.results()]


class Bandit:
    """The search of some roots, one after another, by one thread."""

    def __init__(
        self,
        game: Game,
        views: Sequence[Ints],
        players: Sequence[int],
        options: Options,
        visits: int,
        seeds: Sequence[int],
        capacity: int = CAPACITY,
    ) -> None:
        if options.machine != "bandit":
            raise InputError(f"machine={options.machine} is not a bandit, expected the options of uct or ismcts")
        verify_visits(visits)
        verify_roots(game, views, players, seeds)
        self.game, self.options, self.visits = game, options, visits
        self.slots = _make_slots(game, views, players, seeds)
        self.scratch = make_scratch(game)
        nodes = min(visits + 1, options.max_nodes, capacity)
        self.tree = make_tree(game, nodes, EDGES_PER_NODE * nodes + game.num_actions)
        self.where = np.zeros(2, np.int64)

    @property
    def done(self) -> bool:
        """Whether every root is searched."""
        return bool(self.where[SLOT] == len(self.slots.views))

    def run(self, quota: int) -> int:
        """Go on for at most `quota` visits; how many were made."""
        before, status = self._made(), NODES_FULL
        while status in (NODES_FULL, EDGES_FULL):
            status = _run(
                self.game.kernels,
                playout_of(self.game),
                self.game.rules,
                self.tree,
                self.slots,
                self.scratch,
                self.where,
                self.game.hidden,
                self.options.c * scale_of(self.game),
                self.options.max_nodes,
                self.visits,
                quota - (self._made() - before),
            )
            if status in FAULTS:
                raise InputError(f"{self.game.spec} can't be searched: {FAULTS[status]}")
            if status == NODES_FULL:
                self._grow(min(2 * len(self.tree.mover), self.options.max_nodes), len(self.tree.visits))
            if status == EDGES_FULL:
                self._grow(len(self.tree.mover), 2 * len(self.tree.visits))
        return self._made() - before

    def results(self) -> list[Result]:
        """What was found at every root, when all is done."""
        return [self._result(s) for s in range(len(self.slots.views))]

    def _made(self) -> int:
        return int(self.where[SLOT]) * self.visits + int(self.where[MADE])

    def _grow(self, nodes: int, edges: int) -> None:
        self.tree = enlarged(self.game, self.tree, nodes, edges)

    def _result(self, s: int) -> Result:
        slots, n = self.slots, int(self.slots.width[s])
        visits, total = slots.visits[s, :n].copy(), slots.total[s, :n]
        q = np.where(visits > 0, total / np.maximum(visits, 1), total.sum() / visits.sum())
        prior = np.full(n, 1 / n)
        move, target = decide(self.options, scale_of(self.game), visits, q, q, prior)
        return Result(
            actions=slots.action[s, :n].copy(),
            visits=visits,
            q_lo=q,
            q_hi=q,
            prior=prior,
            move=move,
            target=target,
            nodes=int(slots.nodes[s]),
            full=bool(slots.capped[s]),
        )


def _make_slots(game: Game, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> Slots:
    count, shape = len(views), (len(views), game.num_actions)
    return Slots(
        views=np.array(views, np.int64).reshape(count, game.world_size),
        observer=np.array(players, np.int64),
        state=np.array([seeded(seed)[0] for seed in seeds], np.uint64),
        width=np.zeros(count, np.int64),
        action=np.zeros(shape, np.int64),
        visits=np.zeros(shape, np.int64),
        total=np.zeros(shape),
        nodes=np.zeros(count, np.int64),
        capped=np.zeros(count, np.bool_),
    )


@kernel()
def _harvest(tree: Tree, slots: Slots, s: int) -> None:
    """Copy what the root knows into its slot."""
    slots.width[s] = tree.width[0]
    for k in range(tree.width[0]):
        slots.action[s, k] = tree.edge_action[tree.first[0] + k]
        slots.visits[s, k] = tree.visits[tree.first[0] + k]
        slots.total[s, k] = tree.total[tree.first[0] + k]
    slots.nodes[s] = tree.registers[NODES]
    slots.capped[s] = tree.registers[CAPPED] != 0


@kernel(
    int64(
        *(KernelsType, PlayoutType, RulesType, TreeType, _SlotsType, ScratchType, int64[::1]),
        *(boolean, float64, int64, int64, int64),
    )
)
def _run(
    game: Any,
    playout: Any,
    rules: Ints,
    tree_arrays: Tree,
    slots: Slots,
    scratch_arrays: Scratch,
    where: Ints,
    hidden: bool,
    explore: float,
    max_nodes: int,
    visits: int,
    quota: int,
) -> int:
    """Go on with the slots for `quota` visits; `explore` is c · S."""
    tree, scratch, rules_at = tree_at(tree_arrays), scratch_at(scratch_arrays), element(rules, 0)
    used, depth = tree.registers, len(scratch_arrays.path)
    while where[SLOT] < len(slots.views):
        s = where[SLOT]
        observer, state = slots.observer[s], element(slots.state, s)
        if where[MADE] == 0:
            plant(tree, element(slots.views, s * slots.views.shape[1]), observer)
            if not fill_first(game, rules_at, tree, scratch):
                return DEAD_END
        while where[MADE] < visits:
            if quota == 0:
                return PAUSED
            if used[NODES] == used[NODE_ROOM] and used[NODE_ROOM] < max_nodes:
                return NODES_FULL
            if used[EDGES] + (used[HEIGHT] + 1) * used[ACTIONS] > used[EDGE_ROOM]:
                return EDGES_FULL
            status = simulate(game, playout, rules_at, tree, scratch, observer, state, hidden, explore, depth)
            if status != DONE:
                return status
            where[MADE] += 1
            quota -= 1
        _harvest(tree, slots, s)
        where[SLOT] += 1
        where[MADE] = 0
    return FINISHED

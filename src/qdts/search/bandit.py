"""The bandit machine, `uct`, `ismcts` and `mt-ismcts`: UCB and playouts (docs/search.md, *The bandit*).

Many roots are searched by one call, since to call a kernel with a game's functions costs as much as hundreds of
simulations. A thread searches its *slots* one after another, in the same memory. Each slot has its own random
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
from qdts.pointers import StateType, element
from qdts.rng import State, seeded
from qdts.search.bandit_tree import (
    ACTIONS,
    CAPPED,
    EDGE_ROOM,
    EDGES,
    HEIGHT,
    NODE_ROOM,
    NODES,
    ROOT,
    Tree,
    TreeType,
    enlarged,
    make_tree,
    plant,
    tree_at,
)
from qdts.search.book import Book, BookType, open_book
from qdts.search.completions import completions
from qdts.search.decision import decide
from qdts.search.fit import verify_belief
from qdts.search.inference import Inference
from qdts.search.options import Options
from qdts.search.result import Result
from qdts.search.rollouts import rollout_book
from qdts.search.roots import verified_roots, verify_visits
from qdts.search.settings import neutral_value, scale_of
from qdts.search.simulation import (
    DEAD_END,
    DONE,
    FAULTS,
    Scratch,
    ScratchType,
    fill_all,
    fill_first,
    make_scratch,
    scratch_at,
    simulate,
)
from qdts.solving.policy import Policy

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

HIDDEN, MANY, EVEN, ROLLED = 1, 2, 4, 8
"""Flags: the game hides something; there is a tree for each player; the values of a hole are equally likely; playouts
follow a policy."""
PERIOD = {"none": 0, "pure": 1, "split": 2}
"""Every how many simulations the world is one that the player knows to be impossible."""


class Slots(NamedTuple):
    """What is asked and found; S counts the roots, A a game's actions."""

    views: Ints  # [S, W] what the observer knows
    observer: Ints  # [S] the player to move there
    state: State  # [S] random states
    worlds: Ints  # [any, W] where the worlds of a root are listed, those of all roots
    weights: Reals  # [any] how likely each is
    first_world: Ints  # [S + 1] into them
    width: Ints  # [S] how many legal actions the root has
    action: Ints  # [S, A]
    visits: Ints  # [S, A] N
    total: Reals  # [S, A] W
    nodes: Ints  # [S]
    capped: NDArray[np.bool_]  # [S] whether a node was not made for want of room


_SlotsType = types.NamedTuple(
    [
        *(int64[:, ::1], int64[::1], StateType, int64[:, ::1], float64[::1], int64[::1], int64[::1]),
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
    rollout: Policy | None = None,
) -> list[Result]:
    """Search each view for its player, who is to move there; one seed a view. Playouts follow `rollout`, or are even.

    `report` is told the visits of every slice, by the thread that made them. Ctrl-C ends a search between slices.
    """
    verified_roots(game, views, players, seeds, threads)
    bounds = np.linspace(0, len(views), min(threads, max(len(views), 1)) + 1).astype(int).tolist()
    parts = [slice(*ends) for ends in pairwise(bounds)]
    book = rollout_book(game, rollout)
    bandits = [Bandit(game, views[p], players[p], options, visits, seeds[p], book=book) for p in parts]
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
        *,
        book: Book | None = None,
        inference: Inference | None = None,
    ) -> None:
        if options.machine != "bandit":
            raise InputError(
                f"machine={options.machine} is not a bandit, expected the options of uct, ismcts or mt-ismcts"
            )
        verify_belief(options)
        verify_visits(visits)
        verified_roots(game, views, players, seeds)
        self.game, self.options, self.visits = game, options, visits
        self.book = rollout_book(game, None) if book is None else book
        pools = [self._pool(*root, inference) for root in zip(views, players, seeds, strict=True)]
        self.slots = _make_slots(game, views, players, seeds, pools)
        self.scratch = make_scratch(game, max((len(worlds) for worlds, _ in pools), default=0))
        nodes = min(visits + 1, options.max_nodes, capacity) + ROOT
        self.tree = make_tree(game, nodes, EDGES_PER_NODE * nodes + game.num_actions)
        self.where = np.zeros(2, np.int64)

    def _pool(self, view: Ints, player: int, seed: int, inference: Inference | None) -> tuple[Ints, Reals]:
        """The worlds that simulations of a root begin with and their weights; none where holes are filled singly."""
        if self.game.hidden and self.options.belief == "completions":
            worlds = completions(self.game, view).worlds
            return worlds, np.full(len(worlds), 1 / len(worlds))
        if self.game.hidden and self.options.belief == "visits":
            return (inference or Inference(self.game, seed, self._infer)).believed(view, player)
        return np.empty((0, self.game.world_size), np.int64), np.empty(0)

    def _infer(self, view: Ints, player: int, seed: int, inference: Inference) -> Result:
        """The search of an earlier view, all else being the same."""
        earlier = Bandit(
            self.game, [view], [player], self.options, self.visits, [seed], book=self.book, inference=inference
        )
        earlier.run(self.visits)
        return earlier.results()[0]

    @property
    def done(self) -> bool:
        """Whether every root is searched."""
        return bool(self.where[SLOT] == len(self.slots.views))

    def run(self, quota: int) -> int:
        """Go on for at most `quota` visits; how many were made."""
        before, status = self._made(), NODES_FULL
        many = self.game.hidden and self.options.trees == "many"
        flags = MANY * many + EVEN * (self.options.belief == "holes") + ROLLED * (len(self.book.views) > 0)
        run = _run_plain if flags == 0 else _run_any
        while status in (NODES_FULL, EDGES_FULL):
            status = run(
                self.game.kernels,
                playout_of(self.game),
                self.game.rules,
                self.tree,
                self.slots,
                self.scratch,
                self.book,
                self.where,
                flags + HIDDEN * self.game.hidden,
                PERIOD[self.options.self_determinization] if many else 0,
                self.options.c * scale_of(self.game),
                self.options.max_nodes + ROOT,
                self.visits,
                quota - (self._made() - before),
            )
            if status in FAULTS:
                raise InputError(f"{self.game.spec} can't be searched: {FAULTS[status]}")
            if status == NODES_FULL:
                self._grow(min(2 * len(self.tree.mover), self.options.max_nodes + ROOT), len(self.tree.visits))
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
        slots = self.slots
        actions = slots.action[s, : slots.width[s]]
        if len(actions) == 0:  # self-determinization can leave a root without a visit
            actions = np.array(self.game.legal(slots.views[s]))
        n = len(actions)
        visits, total = slots.visits[s, :n].copy(), slots.total[s, :n]
        mean = total.sum() / visits.sum() if visits.any() else neutral_value(self.game)
        q = np.where(visits > 0, total / np.maximum(visits, 1), mean)
        prior = np.full(n, 1 / n)
        move, target = decide(self.options, scale_of(self.game), visits, q, q, prior)
        return Result(
            actions=actions.copy(),
            visits=visits,
            q_lo=q,
            q_hi=q,
            prior=prior,
            move=move,
            target=target,
            nodes=int(slots.nodes[s]),
            full=bool(slots.capped[s]),
        )


def _make_slots(
    game: Game,
    views: Sequence[Ints],
    players: Sequence[int],
    seeds: Sequence[int],
    pools: Sequence[tuple[Ints, Reals]],
) -> Slots:
    count, shape = len(views), (len(views), game.num_actions)
    return Slots(
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
def _harvest(tree: Tree, slots: Slots, s: int) -> None:
    """Copy what the root knows into its slot."""
    slots.width[s] = tree.width[ROOT]
    for k in range(tree.width[ROOT]):
        slots.action[s, k] = tree.edge_action[tree.first[ROOT] + k]
        slots.visits[s, k] = tree.visits[tree.first[ROOT] + k]
        slots.total[s, k] = tree.total[tree.first[ROOT] + k]
    slots.nodes[s] = tree.registers[NODES] - ROOT
    slots.capped[s] = tree.registers[CAPPED] != 0


@kernel(inline=True)
def _run(
    game: Any,
    playout: Any,
    rules: Ints,
    tree_arrays: Tree,
    slots: Slots,
    scratch_arrays: Scratch,
    book_arrays: Book,
    where: Ints,
    flags: int,
    period: int,
    explore: float,
    max_nodes: int,
    visits: int,
    quota: int,
) -> int:
    """Go on with the slots for `quota` visits; `explore` is c · S, and `max_nodes` counts the empty place."""
    tree, scratch, rules_at = tree_at(tree_arrays), scratch_at(scratch_arrays), element(rules, 0)
    book = open_book(book_arrays)
    used, depth, size = tree.registers, len(scratch_arrays.path), slots.views.shape[1]
    hidden, many, even, rolled = flags & HIDDEN != 0, flags & MANY != 0, flags & EVEN != 0, flags & ROLLED != 0
    new_nodes = 1 if period == 0 else 2
    while where[SLOT] < len(slots.views):
        s = where[SLOT]
        observer, state = slots.observer[s], element(slots.state, s)
        if where[MADE] == 0:
            plant(tree, element(slots.views, s * size), observer)
            first, count = slots.first_world[s], slots.first_world[s + 1] - slots.first_world[s]
            if count > 0:
                fill_all(tree, scratch, element(slots.worlds, first * size), element(slots.weights, first), count)
            elif not fill_first(game, rules_at, tree, scratch, even):
                return DEAD_END
        while where[MADE] < visits:
            if quota == 0:
                return PAUSED
            if used[NODES] + new_nodes > used[NODE_ROOM] and used[NODE_ROOM] < max_nodes:
                return NODES_FULL
            passed = min(used[NODES] + new_nodes, depth) if many else used[HEIGHT] + 1  # by one simulation, at most
            if used[EDGES] + passed * used[ACTIONS] > used[EDGE_ROOM]:
                return EDGES_FULL
            elsewhere = period != 0 and (where[MADE] + 1) % period == 0
            status = simulate(
                game, playout, rules_at, tree, scratch, book, observer, state, hidden, many, even, elsewhere, rolled,
                explore, depth,
            )  # fmt: skip
            if status != DONE:
                return status
            where[MADE] += 1
            quota -= 1
        _harvest(tree, slots, s)
        where[SLOT] += 1
        where[MADE] = 0
    return FINISHED


_RUN = int64(
    *(KernelsType, PlayoutType, RulesType, TreeType, _SlotsType, ScratchType, BookType, int64[::1]),
    *(int64, int64, float64, int64, int64, int64),
)


@kernel(_RUN)
def _run_any(
    game: Any, playout: Any, rules: Ints, tree: Tree, slots: Slots, scratch: Scratch, book: Book, where: Ints,
    flags: int, period: int, explore: float, max_nodes: int, visits: int, quota: int,
) -> int:  # fmt: skip
    """`_run` with all that it can do."""
    return _run(
        game, playout, rules, tree, slots, scratch, book, where, flags, period, explore, max_nodes, visits, quota
    )


@kernel(_RUN)
def _run_plain(
    game: Any, playout: Any, rules: Ints, tree: Tree, slots: Slots, scratch: Scratch, book: Book, where: Ints,
    flags: int, period: int, explore: float, max_nodes: int, visits: int, quota: int,
) -> int:  # fmt: skip
    """The same for one tree, the rules' weights and even playouts: a fifth faster on small games."""
    return _run(
        game, playout, rules, tree, slots, scratch, book, where, flags & HIDDEN, 0, explore, max_nodes, visits, quota
    )

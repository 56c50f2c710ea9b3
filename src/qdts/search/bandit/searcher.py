"""The bandit, `uct`, `ismcts` and `mt-ismcts`: UCB and playouts (docs/search.md, *The bandit*).

Many roots are searched by one call, since calling a kernel with a game's functions costs as much as hundreds of
simulations. A thread searches its *lanes* one after another, in the same memory. Each lane has its own random
state, so its result depends neither on the others nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event

import numpy as np

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.search.bandit.lanes import make_lanes
from qdts.search.bandit.machine import EDGES_FULL, LANE, MADE, NODES_FULL, run_any, run_plain
from qdts.search.bandit.scratch import make_scratch
from qdts.search.bandit.setup import make_setup
from qdts.search.bandit.simulation import FAULTS
from qdts.search.bandit.tree import ROOT, enlarged, make_tree
from qdts.search.beliefs.completions import completions
from qdts.search.beliefs.inference import Inference
from qdts.search.decision.result import Result
from qdts.search.decision.root import decide
from qdts.search.evaluation.policy_table import PolicyTable
from qdts.search.evaluation.rollouts import rollout_table
from qdts.search.options.compatibility import verify_belief
from qdts.search.options.options import Options
from qdts.search.roots import verified_roots, verify_visits
from qdts.solving.policy.table import Policy

SLICE = 1 << 15
"""Visits between two checks of Ctrl-C."""
CAPACITY = 1 << 15
"""Nodes of the first tree, unless fewer visits are made."""
EDGES_PER_NODE = 8
"""Edges of the first tree for each of its nodes."""


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
    """Search each view for its player, who is to move there; one seed a view. Playouts follow `rollout`, or are random.

    `report` is called with the visits of every slice, by the thread that made them. Ctrl-C ends a search after a slice.
    """
    verified_roots(game, views, players, seeds, threads)
    bounds = np.linspace(0, len(views), min(threads, max(len(views), 1)) + 1).astype(int).tolist()
    parts = [slice(*ends) for ends in pairwise(bounds)]
    table = rollout_table(game, rollout)
    bandits = [Bandit(game, views[p], players[p], options, visits, seeds[p], table=table) for p in parts]
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
        table: PolicyTable | None = None,
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
        self.table = rollout_table(game, None) if table is None else table
        pools = [self._pool(*root, inference) for root in zip(views, players, seeds, strict=True)]
        self.lanes = make_lanes(game, views, players, seeds, pools)
        self.scratch = make_scratch(game, max((len(worlds) for worlds, _ in pools), default=0))
        nodes = min(visits + 1, options.max_nodes, capacity) + ROOT
        self.tree = make_tree(game, nodes, EDGES_PER_NODE * nodes + game.num_actions)
        self.where = np.zeros(2, np.int64)

    def _pool(self, view: Ints, player: int, seed: int, inference: Inference | None) -> tuple[Ints, Reals]:
        """The worlds that simulations of a root begin with, and weights; none where holes are filled one by one."""
        if self.game.hidden and self.options.belief == "completions":
            worlds = completions(self.game, view).worlds
            return worlds, np.full(len(worlds), 1 / len(worlds))
        if self.game.hidden and self.options.belief == "visits":
            return (inference or Inference(self.game, seed, self._infer)).belief(view, player)
        return np.empty((0, self.game.world_size), np.int64), np.empty(0)

    def _infer(self, view: Ints, player: int, seed: int, inference: Inference) -> Result:
        """The search of an earlier view, all else being the same."""
        earlier = Bandit(
            self.game, [view], [player], self.options, self.visits, [seed], table=self.table, inference=inference
        )
        earlier.run(self.visits)
        return earlier.results()[0]

    @property
    def done(self) -> bool:
        """Whether every root is searched."""
        return bool(self.where[LANE] == len(self.lanes.views))

    def run(self, quota: int) -> int:
        """Continue for at most `quota` visits; how many were made."""
        before, status = self._made(), NODES_FULL
        setup = make_setup(self.game, self.options, self.visits, self.table)
        run = run_plain if setup.is_plain else run_any
        while status in (NODES_FULL, EDGES_FULL):
            left = quota - (self._made() - before)
            status = run(setup, self.tree, self.lanes, self.scratch, self.where, left)
            if status in FAULTS:
                raise InputError(f"{self.game.spec} can't be searched: {FAULTS[status]}")
            if status == NODES_FULL:
                self._grow(min(2 * len(self.tree.mover), self.options.max_nodes + ROOT), len(self.tree.visits))
            if status == EDGES_FULL:
                self._grow(len(self.tree.mover), 2 * len(self.tree.visits))
        return self._made() - before

    def results(self) -> list[Result]:
        """The result of every root, once all are searched."""
        return [self._result(s) for s in range(len(self.lanes.views))]

    def _made(self) -> int:
        return int(self.where[LANE]) * self.visits + int(self.where[MADE])

    def _grow(self, nodes: int, edges: int) -> None:
        self.tree = enlarged(self.game, self.tree, nodes, edges)

    def _result(self, s: int) -> Result:
        lanes = self.lanes
        actions = lanes.action[s, : lanes.width[s]]
        if len(actions) == 0:  # self-determinization can leave a root without a visit
            actions = np.array(self.game.legal(lanes.views[s]))
        n = len(actions)
        visits, total = lanes.visits[s, :n].copy(), lanes.total[s, :n]
        mean = total.sum() / visits.sum() if visits.any() else self.game.neutral_value
        q = np.where(visits > 0, total / np.maximum(visits, 1), mean)
        prior = np.full(n, 1 / n)
        move, target = decide(self.options, self.game.scale, visits, q, q, prior)
        return Result(
            actions=actions.copy(),
            visits=visits,
            q_lo=q,
            q_hi=q,
            prior=prior,
            move=move,
            target=target,
            nodes=int(lanes.nodes[s]),
            full=bool(lanes.capped[s]),
        )

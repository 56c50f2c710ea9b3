"""Many forest searches side by side: the machine is run, its queries are evaluated, and its trees get room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.rng import seeded
from qdts.search.beliefs.overrides import with_belief
from qdts.search.beliefs.root import RootBeliefs, no_beliefs, replace_lane, response_beliefs
from qdts.search.decision.result import Result
from qdts.search.decision.root import decide
from qdts.search.evaluation.batches import OneByOne
from qdts.search.evaluation.builtin import Compiled, no_entry, outside_model
from qdts.search.evaluation.compiled import OUTSIDE
from qdts.search.evaluation.evaluator import KINDS, BatchEvaluator, Evaluator
from qdts.search.forest.lanes.lane import (
    CURRENT,
    DEPTH,
    EDGES,
    EVALUATIONS,
    FULL,
    NODES,
    NONE,
    PHASE,
    ROOT,
    STATUS,
    TARGET,
    VISITS,
)
from qdts.search.forest.lanes.layout import Forest, allocate, bytes_a_node, bytes_an_edge
from qdts.search.forest.machine import Turn, advance
from qdts.search.forest.requests import Requests
from qdts.search.forest.reuse import continue_all, find_nodes, find_view, plant, plant_all, prune
from qdts.search.forest.visit.growth import carry_over
from qdts.search.forest.visit.phases import DONE, EVALUATE, FAULTY, GO_ON, GROW, LOST, PARKED
from qdts.search.options.compatibility import verify_belief
from qdts.search.options.options import Options
from qdts.search.options.packed import pack_options
from qdts.search.options.variants import Belief, Decision, RootBelief, RootQ
from qdts.search.roots import verified_roots, verify_root, verify_visits

QUOTA = 256, 1024
"""The least and the most visits of a lane between two checks of progress and Ctrl-C. With more of them at a time, more
of its trees stays in the cache."""
TURN = 1 << 16
"""Visits of all lanes between two checks, within these bounds."""
RANGES = 8
"""Ranges of lanes for each thread: more than one, since lanes differ in cost and threads in speed."""
NODES_A_VISIT = 8
"""Nodes that are reserved for each visit of a lane: more than most searches make."""
SIDE_BY_SIDE = 2048
"""Searches for the responses of others that run at a time, which bounds their memory."""
RESERVED_BYTES = 1 << 29
"""The most that is reserved for all lanes. It is address space: pages that are never written take no memory."""

Report = Callable[[int], None]
"""Called at intervals with the visits made so far, over all lanes."""


def cut(first: int, last: int, threads: int) -> list[int]:
    """The bounds of the ranges into which the lanes from `first` up to `last` are divided among threads."""
    parts = 1 if threads == 1 else max(1, min(last - first, RANGES * threads))
    return [first + (last - first) * part // parts for part in range(parts + 1)]


class Searcher:
    """Searches of one game from many views, each with its own trees and its own random stream."""

    def __init__(
        self, game: Game, views: Sequence[Ints], players: Sequence[int], options: Options, evaluator: Evaluator, *,
        seeds: Sequence[int] | None = None, threads: int = 1, first_nodes: int | None = None,
    ) -> None:  # fmt: skip
        if options.machine != "forest":
            raise InputError(f"machine={options.machine} is not possible here, expected forest")
        if isinstance(evaluator, Compiled | BatchEvaluator) and evaluator.game.spec != game.spec:
            raise InputError(f"the evaluator is for {evaluator.game.spec}, expected one for {game.spec}")
        verify_belief(options)
        evaluator = with_belief(game, evaluator, options.belief, options.belief_turns)
        seeds = range(len(views)) if seeds is None else seeds
        rows, seats = verified_roots(game, views, players, seeds, threads)
        self.game = game
        self.options = options
        self.evaluator = evaluator
        self.threads = threads
        self._packed = pack_options(game, options)
        self._outside = evaluator if isinstance(evaluator, BatchEvaluator) else OneByOne(game, evaluator)
        if isinstance(evaluator, Compiled):
            self._model = evaluator.model(self._packed)
        else:
            self._model = outside_model(game, self._packed)
        self._quota = min(max(QUOTA[0], TURN // max(1, len(views))), QUOTA[1])
        self._reserves = first_nodes is None
        nodes = min(first_nodes or 1, options.max_nodes)
        self.forest = self._allocate(len(views), nodes, 3 * nodes + game.max_choices)
        self._plant(rows, seats, seeds)

    def _allocate(self, lanes: int, nodes: int, edges: int, depth: int = 64) -> Forest:
        return allocate(self.game, lanes, nodes, edges, depth, routes=self.options.ball == "route")

    def restart(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> None:
        """Begin a new search in every lane, in the same memory."""
        if len(views) != len(self.forest.registers):
            raise InputError(f"{len(views)} views, expected one for each of {len(self.forest.registers)} lanes")
        self._plant(*verified_roots(self.game, views, players, seeds, self.threads), seeds)

    def _plant(self, views: Ints, players: Ints, seeds: Sequence[int]) -> None:
        self._seeds, self._beliefs = list(seeds), self._believed(views, players, seeds)
        self.forest.state[:, 0] = seeded(*seeds)
        plant_all(self.forest.where, self._packed, views, players)
        self.forest.guide[:] = -1.0
        if self._has_noise:
            for s, view in enumerate(views):
                self._draw_noise(s, len(self.game.legal(view)))

    def _believed(self, views: Ints, players: Ints, seeds: Sequence[int]) -> RootBeliefs:
        """The beliefs at the roots."""
        if self.options.root_belief == "model":
            return no_beliefs(self.game, len(views))
        return response_beliefs(self.game, views, players, seeds, self._outside, self._responses)

    def _responses(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> list[Result]:
        """How players would respond at their views, as mirror steps by the options of simulated players."""
        options = replace(
            self.options, belief=Belief.MODEL, root_belief=RootBelief.MODEL, decision=Decision.MIRROR,
            root_q=RootQ.NEAREST, root_step=self.options.step, root_reach=2.0, root_doubt=0.0, root_temperature=0.0,
            noise=0.0, prior_temperature=1.0,
        )  # fmt: skip
        found = []
        for at in range(0, len(views), SIDE_BY_SIDE):
            of = slice(at, at + SIDE_BY_SIDE)
            searcher = Searcher(
                self.game, views[of], players[of], options, self.evaluator, seeds=seeds[of], threads=self.threads
            )
            searcher.run(self.options.response_visits)
            found += [searcher.result(s) for s in range(len(searcher.forest.registers))]
        return found

    @property
    def _has_noise(self) -> bool:
        """Whether P' of the root is not P."""
        return self.options.noise > 0.0 or self.options.prior_temperature != 1.0

    def _draw_noise(self, s: int, actions: int) -> None:
        """Noise for P' of the root of lane s, which has so many actions, from the state of its stream."""
        if self._has_noise:
            alpha = [self.options.noise_alpha] * actions
            self.forest.guide[s, :actions] = np.random.default_rng(self.forest.state[s]).dirichlet(alpha)
            self.forest.guide[s, actions:] = -1.0

    def run(self, visits: int, report: Report | None = None, *, lanes: Ints | None = None) -> None:
        """Make `visits` more visits in every lane, or only in some."""
        verify_visits(visits)
        if self._reserves:
            self._reserve(visits)
        registers = self.forest.registers
        registers[:, TARGET] = registers[:, VISITS]
        registers[slice(None) if lanes is None else lanes, TARGET] += visits
        registers[:, STATUS] = GO_ON
        count = len(registers)
        halves = self.threads > 1 and count > 1 and self._model.number == OUTSIDE
        cuts = [0, count // 2, count] if halves else [0, count]
        groups = [Requests(self.game, first, last) for first, last in pairwise(cuts)]
        try:
            with ThreadPoolExecutor(self.threads) as pool:
                while not self._is_over(report):
                    self._turn(pool, groups[0], groups[-1])
                    groups.reverse()
        except BaseException:
            self._take_back(np.flatnonzero(np.isin(self.forest.registers[:, STATUS], (PARKED, LOST))))
            raise

    def _turn(self, pool: ThreadPoolExecutor, running: Requests, evaluated: Requests) -> None:
        """Run the machine on some lanes, and evaluate queries: of other lanes meanwhile, or of the same afterwards."""
        apart = running is not evaluated
        threads = self.threads - apart
        cuts = cut(running.first, running.last, threads)
        if threads == 1 and not apart:
            counts = [self._advance(running, *cuts)]
        else:
            jobs = [pool.submit(self._advance, running, *ends) for ends in pairwise(cuts)]
            try:
                if apart:
                    evaluated.evaluate(self.forest, self._outside)
            finally:
                counts = [job.result() for job in jobs]
        running.close_ranks(self.forest, cuts[:-1], counts)
        if not apart:
            evaluated.evaluate(self.forest, self._outside)

    def _advance(self, requests: Requests, first: int, last: int) -> int:
        turn = Turn(first, last, first - requests.first, self._quota)
        batch = requests.queries, requests.evaluations
        return int(advance(self.forest.where, self._model, self._beliefs, *batch, turn))

    def _is_over(self, report: Report | None) -> bool:
        """Whether all visits are made; lanes that need room get it."""
        registers = self.forest.registers
        status = registers[:, STATUS]
        if report is not None:
            report(int(registers[:, VISITS].sum()))
        counts = np.bincount(status, minlength=GO_ON)
        if counts[FAULTY] or counts[LOST]:
            raise self._failure(int(np.flatnonzero((status == FAULTY) | (status == LOST))[0]))
        if counts[GROW]:
            self._grow()
        return bool(counts[DONE] == len(status))

    def _failure(self, s: int) -> InputError:
        """Why lane s can't continue."""
        registers = self.forest.registers[s]
        kind, vector = int(self.forest.kind[s, registers[CURRENT]]), self.forest.vector[s, registers[CURRENT]]
        if registers[STATUS] == LOST:
            return no_entry(self.game, kind, vector)
        where = f"the {KINDS[kind]} node {self.game.layout.write(vector)}"
        return InputError(f"{self.game.spec}: the rules give no choice, or too many, at {where}")

    def begin(self, s: int, view: Ints, player: int, seed: int) -> None:
        """Begin a new search in lane s, with a seed of its own."""
        verify_root(self.game, view, player)
        self._seeds[s] = seed
        self.forest.state[s, 0] = seeded(seed)[0]
        self._beliefs = replace_lane(self._beliefs, s, self._believed(view[None], np.array([player]), [seed]))
        self._draw_noise(s, len(self.game.legal(view)))
        plant(self.forest.where, self._packed, s, view, player)

    def keep(self, s: int, view: Ints) -> bool:
        """Continue in lane s from a later view of its player, at their turn; whether the search had been there.

        The node of that view becomes the root, with all that lies below it; everything else is forgotten. If the search
        never came to the view, or the completions of a root are weighed by `root_belief`, which holds for its view
        alone, a new search begins there. The random stream continues in both cases.
        """
        if not self.game.hidden:
            raise InputError(f"{self.game.spec} has perfect information, expected the moves made since: use `follow`")
        view = self.game.verify_vector(view)
        player = int(self.forest.owner[s, ROOT])
        if self.game.mover(view) != player:
            raise InputError(
                f"{self.game.spec}: it is not player {player}'s turn at {self.game.layout.write(view)}, "
                "expected a view of the player who searches, at their turn"
            )
        verify_root(self.game, view, player)
        return self._replant(s, find_view(self.forest.where, s, view), view, player)

    def follow(self, s: int, moves: Sequence[int]) -> bool:
        """The same where nothing is hidden: from the position that actions, and outcomes of chance, have led to."""
        if self.game.hidden:
            raise InputError(
                f"{self.game.spec} hides something, expected a view of the player who searches: use `keep`"
            )
        position = self.forest.vector[s, ROOT].copy()
        for move in moves:
            position = self.game.step(position, move)
        node = int(self._nodes_after(np.array([s]), [moves])[0])
        player = self.game.mover(position)
        if player < 0:
            raise InputError(
                f"{self.game.spec}: nobody is to move at {self.game.layout.write(position)}, expected a player's turn"
            )
        return self._replant(s, node, position, player)

    def follow_all(self, lanes: Ints, moves: Sequence[Sequence[int]], positions: Ints) -> None:
        """The same in many lanes, where the positions that the moves lead to are known; nothing is verified.

        The options leave the root's belief to the evaluator, as they must with perfect information.
        """
        players = batch.movers(self.game, positions)
        actions = batch.choices(self.game, positions, players).counts
        nodes = self._nodes_after(lanes, moves)
        for s, count, node in zip(lanes.tolist(), actions.tolist(), nodes.tolist(), strict=True):
            if node != ROOT:
                self._draw_noise(s, count)
        continue_all(self.forest.where, self._packed, lanes, nodes, positions, players)

    def _nodes_after(self, lanes: Ints, moves: Sequence[Sequence[int]]) -> Ints:
        """The node to which moves lead from the root of each lane, or NONE."""
        nodes, flat = np.empty(len(lanes), np.int64), np.array([x for part in moves for x in part], np.int64)
        find_nodes(self.forest.where, lanes, flat, np.cumsum([0, *map(len, moves)]), nodes)
        return nodes

    def _replant(self, s: int, node: int, view: Ints, player: int) -> bool:
        if node == ROOT:
            return True
        believed = self._believed(view[None], np.array([player]), [self._seeds[s]])
        has_own = len(believed.weights) > 0 or self._beliefs.start[s] < self._beliefs.start[s + 1]
        self._beliefs = replace_lane(self._beliefs, s, believed)
        self._draw_noise(s, len(self.game.legal(view)))
        if node != NONE and not has_own and prune(self.forest.where, self._packed, s, node):
            return True
        plant(self.forest.where, self._packed, s, view, player)
        return False

    def _on_threads(self, work: Callable[[int, int], None]) -> None:
        """Call `work` on ranges of lanes, each on the first free thread, until all lanes are done."""
        lanes = len(self.forest.registers)
        threads = max(1, min(self.threads, lanes))
        if threads == 1:
            work(0, lanes)
        else:
            cuts = cut(0, lanes, threads)
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, cuts[:-1], cuts[1:]))

    def _reserve(self, visits: int) -> None:
        """Reserve what so many visits will probably need, so that growing trees need not be copied.

        With perfect information a visit usually makes one node, and a node has as many edges as the game has actions.
        """
        f = self.forest
        nodes_a_visit, edges = (NODES_A_VISIT, 3) if self.game.hidden else (1, self.game.max_choices)
        most = RESERVED_BYTES // (max(1, len(f.registers)) * (bytes_a_node(f) + edges * bytes_an_edge(f)))
        wanted = int(f.registers[:, NODES].max(initial=0)) + nodes_a_visit * visits + 1
        nodes = min(wanted, most, self.options.max_nodes)
        if nodes > f.kind.shape[1]:
            self._enlarge(nodes, max(edges * nodes + self.game.max_choices, f.choice.shape[1]), f.stack.shape[1])

    def _grow(self) -> None:
        f = self.forest
        nodes, edges = f.kind.shape[1], f.choice.shape[1]
        used = f.registers.max(0)
        more_nodes = min(2 * nodes, self.options.max_nodes) if 2 * int(used[NODES]) > nodes else nodes
        more_edges = 2 * edges if 2 * (int(used[EDGES]) + self.game.max_choices) > edges else edges
        depth = f.stack.shape[1]
        self._enlarge(more_nodes, more_edges, 2 * depth if used[DEPTH] == depth else depth)

    def _enlarge(self, nodes: int, edges: int, depth: int) -> None:
        """Copy all trees to a larger forest."""
        small, large = self.forest, self._allocate(len(self.forest.registers), nodes, edges, depth)
        self._on_threads(lambda first, last: carry_over(small.where, large.where, first, last))
        self.forest = large

    def _take_back(self, lanes: NDArray[np.intp]) -> None:
        """Undo the queries of these lanes, so that the search can continue after an error."""
        f = self.forest
        for s in lanes:
            node = f.registers[s, CURRENT]
            f.registers[s, EDGES] = f.first[s, node]
            f.registers[s, EVALUATIONS] -= 1
            f.registers[s, PHASE] = EVALUATE
            f.first[s, node], f.degree[s, node] = NONE, 0

    def root_visits(self) -> tuple[Ints, Ints]:
        """The actions of every lane's root, and how often each was chosen; NONE and 0 beyond a root's actions."""
        f = self.forest
        columns = np.arange(self.game.max_choices)
        there = columns < f.degree[:, ROOT, None]
        edges = np.where(there, f.first[:, ROOT, None] + columns, 0)
        actions = np.where(there, np.take_along_axis(f.choice, edges, 1), NONE)
        return actions.astype(np.int64), np.where(there, np.take_along_axis(f.n, edges, 1), 0).astype(np.int64)

    def result(self, s: int) -> Result:
        """What lane s found at its root."""
        f = self.forest
        if f.total[s, ROOT] == 0:
            raise InputError(f"the search in lane {s} has chosen nothing at its root, expected visits before a result")
        k = 0 if self.game.hidden else int(f.actor[s, ROOT])
        of = slice(int(f.first[s, ROOT]), int(f.first[s, ROOT] + f.degree[s, ROOT]))
        first_play = f.v[s, ROOT, k] - self._packed.fpu
        lo = np.full(of.stop - of.start, first_play) if self.options.unvisited == "fpu" else f.vc[s, of, k].copy()
        hi = lo.copy()
        for i, child in enumerate(f.child[s, of]):
            if child != NONE and (f.evaluated[s, child] or f.kind[s, child] == KINDS.index("terminal")):
                lo[i], hi[i] = f.lo[s, child, k], f.hi[s, child, k]
        visits, prior = f.n[s, of].astype(np.int64), f.prior[s, of].copy()
        decided = decide(self.options, self._packed.scale, visits, lo, hi, prior)
        return Result(
            actions=f.choice[s, of].astype(np.int64),
            visits=visits,
            q_lo=lo,
            q_hi=hi,
            prior=prior,
            move=decided.move,
            target=decided.target,
            nodes=int(f.registers[s, NODES]),
            full=bool(f.registers[s, FULL]),
        )

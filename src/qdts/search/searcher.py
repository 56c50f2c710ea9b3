"""Many forest searches side by side: it runs the machine, answers what the machine asks for, and gives it room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.rng import seeded
from qdts.search.answers import ASK as OUTSIDE
from qdts.search.beliefs import with_belief
from qdts.search.book import empty_book
from qdts.search.decision import decide
from qdts.search.evaluator import ACT, KINDS, SAMPLE, Answer, Evaluator, Query
from qdts.search.evaluators import Compiled, no_entry, no_playout
from qdts.search.fit import verify_belief
from qdts.search.forest import (
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
    Forest,
    allocate,
    bytes_a_node,
    carry_over,
    width,
)
from qdts.search.machine import ASK, DONE, FAULTY, GROW, LOST, PARKED, advance
from qdts.search.options import Options
from qdts.search.pruning import find_view, plant, prune
from qdts.search.result import Result
from qdts.search.roots import verify_root, verify_roots, verify_visits
from qdts.search.settings import settings_of

QUOTA = 256
"""Visits that a slot makes between two looks at progress and Ctrl-C."""
RANGES = 4
"""Ranges of slots for each thread: more than one, since slots differ in what they take, and threads in their speed."""
SUM_TOLERANCE = 1e-6
NODES_A_VISIT = 8
"""Nodes that a slot gets room for beforehand for each visit: more than most searches make."""
RESERVED_BYTES = 1 << 29
"""What all slots get beforehand at most. It is address space: what is never written to takes no memory."""

Report = Callable[[int], None]
"""Called now and then with the visits made so far, over all slots."""


class Searcher:
    """Searches of one game from many views, each with its own trees and its own random stream."""

    def __init__(
        self, game: Game, views: Sequence[Ints], players: Sequence[int], options: Options, evaluator: Evaluator, *,
        seeds: Sequence[int] | None = None, threads: int = 1, first_nodes: int | None = None,
    ) -> None:  # fmt: skip
        if options.machine != "forest":
            raise InputError(f"machine={options.machine} is not possible here, expected forest")
        if isinstance(evaluator, Compiled) and evaluator.game.spec != game.spec:
            raise InputError(f"the evaluator is for {evaluator.game.spec}, expected one for {game.spec}")
        verify_belief(options)
        evaluator = with_belief(game, evaluator, options.belief)
        seeds = range(len(views)) if seeds is None else seeds
        verify_roots(game, views, players, seeds, threads)
        self.game = game
        self.options = options
        self.evaluator = evaluator
        self.threads = threads
        self._settings = settings_of(game, options)
        self._book = evaluator.book if isinstance(evaluator, Compiled) else empty_book()
        self._number = evaluator.number if isinstance(evaluator, Compiled) else OUTSIDE
        self._playout = evaluator.playout if isinstance(evaluator, Compiled) else no_playout()
        self._reserves = first_nodes is None
        nodes = min(first_nodes or 1, options.max_nodes)
        self.forest = self._allocate(len(views), nodes, 3 * nodes + width(game))
        self._plant(views, players, seeds)

    def _allocate(self, slots: int, nodes: int, edges: int, depth: int = 64) -> Forest:
        return allocate(self.game, slots, nodes, edges, depth, routes=self.options.ball == "route")

    def _plant(self, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int]) -> None:
        for s, (view, player, seed) in enumerate(zip(views, players, seeds, strict=True)):
            self.forest.state[s] = seeded(seed)
            plant(self.forest, self._settings, s, np.ascontiguousarray(view, np.int64), player)
            self._draw_noise(s, view)

    def _draw_noise(self, s: int, root: Ints) -> None:
        """Noise for P' of the root of slot s, from the state of its stream; -1 where there is no P'."""
        self.forest.guide[s] = -1.0
        if self.options.noise > 0.0 or self.options.prior_temperature != 1.0:
            alpha = [self.options.noise_alpha] * len(self.game.legal(root))
            self.forest.guide[s, : len(alpha)] = np.random.default_rng(self.forest.state[s]).dirichlet(alpha)

    def run(self, visits: int, report: Report | None = None) -> None:
        """Make so many more visits in every slot."""
        verify_visits(visits)
        if self._reserves:
            self._reserve(visits)
        registers = self.forest.registers
        registers[:, TARGET] = registers[:, VISITS] + visits
        while True:
            self._on_threads(self._advance)
            registers = self.forest.registers
            if report is not None:
                report(int(registers[:, VISITS].sum()))
            status = registers[:, STATUS]
            if (status == DONE).all():
                return
            if (status == FAULTY).any():
                s = int(np.argmax(status == FAULTY))
                node = registers[s, CURRENT]
                where = (
                    f"the {KINDS[self.forest.kind[s, node]]} node {self.game.layout.write(self.forest.vector[s, node])}"
                )
                raise InputError(f"{self.game.spec}: the rules give no choice, or too many, at {where}")
            if (status == LOST).any():
                self._take_back(np.flatnonzero(status == LOST))
                s = int(np.argmax(status == LOST))
                node = registers[s, CURRENT]
                raise no_entry(self.game, int(self.forest.kind[s, node]), self.forest.vector[s, node])
            parked = np.flatnonzero(status == PARKED)
            for i in range(len(parked)):
                try:
                    self._serve(int(parked[i]))
                except BaseException:
                    self._take_back(parked[i:])
                    raise
            if (status == GROW).any():
                self._grow()

    def keep(self, s: int, view: Ints) -> bool:
        """Go on in slot s from a later view of its player, at his turn; whether the search had been there.

        The node of that view becomes the root, with all that lies below it; everything else is forgotten. If the search
        never came to the view, it begins anew there. The random stream goes on in both cases.
        """
        if not self.game.hidden:
            raise InputError(f"{self.game.spec} hides nothing, expected the moves made since: use `follow`")
        view = self.game.verify_vector(view)
        player = int(self.forest.owner[s, ROOT])
        if self.game.mover(view) != player:
            raise InputError(
                f"{self.game.spec}: it is not player {player}'s turn at {self.game.layout.write(view)}, "
                "expected a view of the player who searches, at his turn"
            )
        verify_root(self.game, view, player)
        return self._replant(s, find_view(self.forest, s, view), view, player)

    def follow(self, s: int, moves: Sequence[int]) -> bool:
        """The same where nothing is hidden: from the position that actions, and outcomes of chance, have led to."""
        if self.game.hidden:
            raise InputError(
                f"{self.game.spec} hides something, expected a view of the player who searches: use `keep`"
            )
        f = self.forest
        node, position = ROOT, f.vector[s, ROOT].copy()
        for move in moves:
            position = self.game.step(position, move)
            if node != NONE:
                of = slice(int(f.first[s, node]), int(f.first[s, node] + f.degree[s, node]))
                chosen = np.flatnonzero(f.choice[s, of] == move)
                node = int(f.child[s, of][chosen[0]]) if len(chosen) else NONE
        player = self.game.mover(position)
        if player < 0:
            raise InputError(
                f"{self.game.spec}: nobody is to move at {self.game.layout.write(position)}, expected a player's turn"
            )
        return self._replant(s, node, position, player)

    def _replant(self, s: int, node: int, view: Ints, player: int) -> bool:
        if node == ROOT:
            return True
        self._draw_noise(s, view)
        if node != NONE and prune(self.forest, self._settings, s, node):
            return True
        plant(self.forest, self._settings, s, view, player)
        return False

    def _on_threads(self, work: Callable[[int, int], None]) -> None:
        """Do something with all slots, a range of them at a time, each by the first thread that is free."""
        slots = len(self.forest.registers)
        threads = max(1, min(self.threads, slots))
        if threads == 1:
            work(0, slots)
        else:
            parts = min(slots, RANGES * threads)
            cuts = [slots * part // parts for part in range(parts + 1)]
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, cuts[:-1], cuts[1:]))

    def _advance(self, first: int, last: int) -> None:
        advance(
            self.game.kernels, self._playout, self.game.rules, self.forest, self._settings, self._book, self._number,
            first, last, QUOTA,
        )  # fmt: skip

    def _reserve(self, visits: int) -> None:
        """Make room for what so many visits will probably need, so that trees need not be carried over as they grow."""
        f = self.forest
        most = RESERVED_BYTES // (max(1, len(f.registers)) * bytes_a_node(f))
        nodes = min(int(f.registers[:, NODES].max(initial=0)) + NODES_A_VISIT * visits, most, self.options.max_nodes)
        if nodes > f.kind.shape[1]:
            self._enlarge(nodes, max(3 * nodes + width(self.game), f.choice.shape[1]), f.stack.shape[1])

    def _grow(self) -> None:
        f = self.forest
        nodes, edges = f.kind.shape[1], f.choice.shape[1]
        used = f.registers.max(0)
        more_nodes = min(2 * nodes, self.options.max_nodes) if 2 * int(used[NODES]) > nodes else nodes
        more_edges = 2 * edges if 2 * (int(used[EDGES]) + width(self.game)) > edges else edges
        depth = f.stack.shape[1]
        self._enlarge(more_nodes, more_edges, 2 * depth if used[DEPTH] == depth else depth)

    def _enlarge(self, nodes: int, edges: int, depth: int) -> None:
        """Carry all trees over to where there is more room."""
        small, large = self.forest, self._allocate(len(self.forest.registers), nodes, edges, depth)
        self._on_threads(lambda first, last: carry_over(small, large, first, last))
        self.forest = large

    def _serve(self, s: int) -> None:
        """Have the node that a slot is parked at evaluated outside."""
        f = self.forest
        node = int(f.registers[s, CURRENT])
        first, count = int(f.first[s, node]), int(f.degree[s, node])
        query = Query(
            kind=int(f.kind[s, node]),
            vector=f.vector[s, node].copy(),
            player=self._player(s, node),
            pending=int(f.pending[s, node]),
            hole=int(f.hole[s, node]),
            choices=f.choice[s, first : first + count].astype(np.int64),
            weights=f.answer_prior[s, :count].copy(),
        )
        answer = self.evaluator.answer(query, f.state[s])
        self._verify(query, answer)
        f.answer_value[s] = answer.value
        f.answer_children[s, :count] = answer.child_values
        if query.kind in (ACT, SAMPLE):
            f.answer_prior[s, :count] = answer.prior

    def _take_back(self, slots: NDArray[np.intp]) -> None:
        """What these slots have asked is as if they had not, so that the search can go on after an error."""
        f = self.forest
        for s in slots:
            node = f.registers[s, CURRENT]
            f.registers[s, EDGES] = f.first[s, node]
            f.registers[s, EVALUATIONS] -= 1
            f.registers[s, PHASE] = ASK
            f.first[s, node], f.degree[s, node] = NONE, 0

    def _player(self, s: int, node: int) -> int:
        owner, actor = int(self.forest.owner[s, node]), int(self.forest.actor[s, node])
        return owner if self.game.hidden else max(actor, 0)

    def _verify(self, query: Query, answer: Answer) -> None:
        size, count = self.forest.v.shape[2], len(query.choices)
        where = f"the {KINDS[query.kind]} node {self.game.layout.write(query.vector)}"
        shapes = (np.shape(answer.value), np.shape(answer.child_values), np.shape(answer.prior))
        if shapes != ((size,), (count, size), (count,)):
            raise InputError(
                f"the evaluator's answer at {where} has shapes {shapes}, expected {((size,), (count, size), (count,))}"
            )
        if not all(np.isfinite(x).all() for x in answer):
            raise InputError(f"the evaluator's answer at {where} holds a number that is not finite: {answer}")
        total = float(np.sum(answer.prior))
        if query.kind in (ACT, SAMPLE) and ((np.asarray(answer.prior) < 0).any() or abs(total - 1) > SUM_TOLERANCE):
            raise InputError(f"the evaluator's distribution at {where} is {answer.prior}, expected one that sums to 1")

    def result(self, s: int) -> Result:
        """What slot s found at its root."""
        f = self.forest
        if f.total[s, ROOT] == 0:
            raise InputError(f"the search in slot {s} has chosen nothing at its root, expected visits before a result")
        k = 0 if self.game.hidden else int(f.actor[s, ROOT])
        of = slice(int(f.first[s, ROOT]), int(f.first[s, ROOT] + f.degree[s, ROOT]))
        first_play = f.v[s, ROOT, k] - self._settings.fpu
        lo = np.full(of.stop - of.start, first_play) if self.options.unvisited == "fpu" else f.vc[s, of, k].copy()
        hi = lo.copy()
        for i, child in enumerate(f.child[s, of]):
            if child != NONE and (f.evaluated[s, child] or f.kind[s, child] == KINDS.index("terminal")):
                lo[i], hi[i] = f.lo[s, child, k], f.hi[s, child, k]
        visits, prior = f.n[s, of].astype(np.int64), f.prior[s, of].copy()
        decided = decide(self.options, self._settings.scale, visits, lo, hi, prior)
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

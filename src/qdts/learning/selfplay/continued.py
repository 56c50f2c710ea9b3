"""Self-play with perfect information: every game has a search tree, which continues from move to move (AlphaZero).

Games are divided among threads. Each thread plays its games side by side, one in each lane of its searcher, with an
evaluator of its own: so networks, too, run on all threads, with one thread of torch each, and nothing is waited for.
When a game is over, the next one begins in its lane. A game's random numbers are its own, so that what is played
depends neither on the threads nor on the games beside it, but for the rounding of networks that take ragged batches.

Moves are sampled in proportion to N^(1/τ), N the visits: with τ = 1 while few moves have been made, and less later. The
first moves of some games are uniform. The roots have Dirichlet noise, if the options say so.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.clock import Clock, Timed
from qdts.learning.selfplay.decisions import Decisions
from qdts.learning.selfplay.games import Round, record_of
from qdts.learning.selfplay.record import NO_SEARCH, NOBODY, Record
from qdts.nets.evaluator import Network
from qdts.nets.networks import use_threads
from qdts.search.decision.result import Result
from qdts.search.forest.searcher import Searcher
from qdts.search.options.options import Options


@dataclass(frozen=True)
class Manner:
    """How moves are decided."""

    options: Options
    """Of the searches."""
    visits: int
    """That a search adds to those its tree has from the moves before."""
    drawn: int = 0
    """The number of a game's first moves that are sampled in proportion to visits."""
    late: float = 1.0
    """τ of the moves after these; 0: the action with the most visits."""
    opening: int = 0
    """In half of the games so many of the first moves, at most, are uniform: each number of them is as likely."""
    reuse: bool = True
    """Whether trees continue from move to move."""


def play_continued(
    game: Game,
    networks: Sequence[Network],
    manner: Manner,
    games: int,
    seed: int,
    *,
    lanes: int,
    generation: int = 0,
    clock: Clock | None = None,
    report: Callable[[int], None] | None = None,
) -> Record:
    """Play games to their ends, on as many threads as there are networks.

    Args:
        game: What is played, with perfect information.
        networks: An evaluator for each thread.
        manner: How moves are decided.
        games: How many.
        seed: Of all random numbers.
        lanes: Games side by side on each thread, at most.
        generation: The number that the record bears.
        clock: Gets the time of searches and networks, as the mean over threads.
        report: Called with the number of games that are over.
    """
    threads = min(len(networks), games)
    progress = _Progress(report)
    groups = [
        _Group(game, network, manner, seed, range(part, games, threads), lanes, progress)
        for part, network in enumerate(networks[:threads])
    ]
    if threads == 1:
        groups[0].play()
    else:
        with ThreadPoolExecutor(threads) as pool:
            jobs = [pool.submit(group.play) for group in groups]
            try:
                for job in jobs:
                    job.result()
            except BaseException:
                progress.stopped = True
                raise
    worlds = np.zeros((games, game.world_size), np.int64)
    rounds: list[Round] = []
    found: list[Decisions] = []
    before = 0
    for group in groups:
        worlds[list(group.numbers)] = group.ends
        for r in group.rounds:
            rounds.append(r._replace(search=np.where(r.search == NO_SEARCH, NO_SEARCH, r.search + before)))
        found += group.found
        before += group.searches
        if clock is not None:
            clock.add(group.clock, share=1.0 / threads)
    return record_of(game, generation, worlds, np.full(games, NOBODY), rounds, found)


@dataclass
class _Progress:
    """The games that are over, of all threads."""

    report: Callable[[int], None] | None
    over: int = 0
    stopped: bool = False
    """Whether the threads are to end."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, games: int) -> None:
        """Note that some more games are over."""
        with self._lock:
            self.over += games
            if self.report is not None and (games or self.over == 0):
                self.report(self.over)

    def check(self, _visits: int = 0) -> None:
        """Raise KeyboardInterrupt once the threads are to end."""
        if self.stopped:
            raise KeyboardInterrupt


class _Group:
    """The games of one thread."""

    def __init__(
        self, game: Game, network: Network, manner: Manner, seed: int, numbers: range, lanes: int, progress: _Progress
    ) -> None:
        self.game = game
        self.numbers = numbers
        self.rounds: list[Round] = []
        self.found: list[Decisions] = []
        self.searches = 0
        self.clock = Clock()
        self.ends = np.zeros((len(numbers), game.world_size), np.int64)
        """The worlds in which the games ended."""
        self._evaluator = Timed(network, self.clock)
        self._manner = manner
        self._seed = seed
        self._progress = progress
        self._waiting = deque(range(len(numbers)))
        self._lanes = [_Lane(game) for _ in range(min(lanes, len(numbers)))]
        self._searcher: Searcher | None = None

    def play(self) -> None:
        """Play all games."""
        use_threads(1)
        for lane in self._lanes:
            self._next_game(lane)
        self._progress.add(0)
        running = list(range(len(self._lanes)))
        while running := self._advance(running):
            with self.clock.part("search", "network"):
                results = self._search(running)
            self._move(running, results)

    def _next_game(self, lane: _Lane) -> bool:
        """Begin the next game in a lane, if there is one left."""
        if not self._waiting:
            return False
        at = self._waiting.popleft()
        lane.begin(at, self.numbers[at], np.random.default_rng([self._seed, self.numbers[at]]), self._manner.opening)
        return True

    def _advance(self, running: list[int]) -> list[int]:
        """Let chance move, and new games begin, until players are to move; the lanes where they are."""
        waits = running
        while waits:
            lanes = [self._lanes[s] for s in waits]
            worlds = np.array([lane.world for lane in lanes])
            mover = batch.movers(self.game, worlds)
            over = [s for s, who in zip(waits, mover, strict=True) if who == TERMINAL]
            for s in over:
                self.ends[self._lanes[s].at] = self._lanes[s].world
            if over:
                self._progress.add(len(over))
            begun = [s for s in over if self._next_game(self._lanes[s])]
            deals = np.flatnonzero(mover == CHANCE)
            if len(deals):
                self._deal([lanes[i] for i in deals], worlds[deals])
            gone = set(over) - set(begun)
            running = [s for s in running if s not in gone]
            waits = sorted([*begun, *(waits[i] for i in deals)])
        return running

    def _deal(self, lanes: list[_Lane], worlds: Ints) -> None:
        """An outcome of chance in each of some lanes."""
        offered = batch.choices(self.game, worlds, np.full(len(worlds), CHANCE))
        ends = np.cumsum(offered.counts)
        outcomes = np.array(
            [
                offered.number[end - count + _pick(offered.chance[end - count : end], lane.stream.random())]
                for lane, end, count in zip(lanes, ends, offered.counts, strict=True)
            ]
        )
        nothing = np.zeros(len(lanes), np.int64)
        self._step(lanes, worlds, nothing + CHANCE, outcomes, nothing, nothing + NO_SEARCH)

    def _search(self, running: list[int]) -> list[Result]:
        """A search in each lane where a player is to move."""
        searcher = self._searcher
        if searcher is None:
            first = self._lanes[running[0]]
            views = [lane.world if s in running else first.world for s, lane in enumerate(self._lanes)]
            players = batch.movers(self.game, np.array(views)).tolist()
            searcher = Searcher(self.game, views, players, self._manner.options, self._evaluator)
            self._searcher = searcher
        begun = [s for s in running if self._lanes[s].is_new or not self._manner.reuse]
        for s in begun:
            lane = self._lanes[s]
            searcher.begin(s, lane.world, self.game.mover(lane.world), int(lane.stream.integers(2**63)))
        if known := sorted(set(running) - set(begun)):
            lanes = [self._lanes[s] for s in known]
            positions = np.array([lane.world for lane in lanes])
            searcher.follow_all(np.array(known), [lane.since for lane in lanes], positions)
        for s in running:
            self._lanes[s].is_new, self._lanes[s].since = False, []
        searcher.run(self._manner.visits, self._progress.check, lanes=np.array(running))
        return [searcher.result(s) for s in running]

    def _move(self, running: list[int], results: list[Result]) -> None:
        """A move in each of the lanes that were searched."""
        lanes = [self._lanes[s] for s in running]
        worlds = np.array([lane.world for lane in lanes])
        mover = batch.movers(self.game, worlds)
        action, explored = np.zeros((2, len(lanes)), np.int64)
        decided: list[Reals] = []
        for i, (lane, result) in enumerate(zip(lanes, results, strict=True)):
            move = sharpened(result.move, 1.0 if lane.moves < self._manner.drawn else self._manner.late)
            explored[i] = lane.moves < lane.opening
            share = np.full(len(move), 1.0 / len(move)) if explored[i] else move
            action[i] = result.actions[_pick(share, lane.stream.random())]
            decided.append(move)
            lane.moves += 1
        columns = {name: np.concatenate([getattr(r, name) for r in results]) for name in Decisions._fields[1:]}
        offset = np.cumsum([0, *(len(r.actions) for r in results)])
        self.found.append(Decisions(offset, **{**columns, "move": np.concatenate(decided)}))
        self._step(lanes, worlds, mover, action, explored, self.searches + np.arange(len(lanes)))
        self.searches += len(lanes)

    def _step(self, lanes: list[_Lane], worlds: Ints, mover: Ints, action: Ints, explored: Ints, search: Ints) -> None:
        """Make and note a step in each of some lanes."""
        games = np.array([lane.number for lane in lanes])
        self.rounds.append(Round(games, worlds, mover, action, explored, search))
        for lane, after, made in zip(lanes, batch.stepped(self.game, worlds, action), action.tolist(), strict=True):
            lane.world = after
            lane.since.append(made)


class _Lane:
    """The game in one lane of a searcher."""

    def __init__(self, game: Game) -> None:
        self._game = game

    def begin(self, at: int, number: int, stream: np.random.Generator, opening: int) -> None:
        """Begin a game."""
        self.at = at
        """Its place among the games of the thread."""
        self.number = number
        self.stream = stream
        self.world = self._game.initial()
        self.since: list[int] = []
        """Actions and outcomes since the last search."""
        self.moves = 0
        """Of players, so far."""
        self.is_new = True
        """Whether it has not been searched yet."""
        self.opening = max(0, int(stream.integers(-opening, opening + 1)))
        """The number of first moves that are uniform."""


def sharpened(distribution: Reals, temperature: float) -> Reals:
    """The distribution in proportion to p^(1/τ); for τ = 0 all on the largest, the first of equals."""
    if temperature == 1.0:
        return distribution
    top = distribution / distribution.max()
    power = np.where(top == 1.0, 1.0, 0.0) if temperature == 0.0 else top ** (1.0 / temperature)
    if temperature == 0.0:
        power[int(np.argmax(power)) + 1 :] = 0.0
    out: Reals = power / power.sum()
    return out


def _pick(distribution: Reals, u: float) -> int:
    """The index of a distribution at the quantile `u` from [0, 1); never one with probability 0."""
    ends = np.cumsum(distribution)
    return min(int(np.searchsorted(ends, u * ends[-1], side="right")), int(np.flatnonzero(distribution)[-1]))

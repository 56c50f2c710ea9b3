"""The rows of `qdts bench solve`: what is measured, by which clock, and the target of each.

Contestants take turns, so that a slow minute of the machine hits all of them; the median counts. Whoever has used
up its time in a row takes no further turn. Unless a row says otherwise the clock is the CPU time of this process,
and all run on one thread.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from qdts.cli.contestants import PEERS, Contestant, LiteEFG, OpenSpiel, Ours, is_installed, lite_env
from qdts.code_cache import cache_root
from qdts.games.registry import load_game
from qdts.solving.policy import aligned, game_tree, uniform_policy
from qdts.solving.sequence_form import sequence_form
from qdts.solving.solver import measure
from qdts.solving.tree import enumerate_game

Job = Callable[[], float]
"""Does something once and returns its figure."""

TURN_SECONDS = 0.5
"""A turn at a speed race lasts about this long."""
BUDGET = 10.0
"""Seconds after which a contestant takes no further turn in a row."""
PATIENCE = 120.0
"""Seconds after which one that has not reached a target gives up."""
NOT_INSTALLED = "not installed: make bench"

FIRST_ITERATION = """
from qdts.games.registry import load_game
from qdts.solving.policy import game_tree
from qdts.solving.solver import make_solver
make_solver(game_tree(load_game("leduc_poker")), "cfr+").run(1)
print("done", flush=True)
"""

NEXT_GAME = """
import json, sys, time
from numba.core import event
from qdts.games.registry import load_game
from qdts.solving.policy import game_tree
from qdts.solving.solver import make_solver
make_solver(game_tree(load_game("kuhn_poker")), "cfr+").run(1)
with event.install_recorder("numba:compile") as compiled:
    start = time.process_time()
    game = load_game(sys.argv[1])
    seconds = time.process_time() - start
    make_solver(game_tree(game), "cfr+").run(1)
names = [e.data["dispatcher"].py_func.__module__ for _, e in compiled.buffer if e.is_start]
print(json.dumps({"seconds": seconds, "engine": sum(n.startswith("qdts.solving.") for n in names)}))
"""


@dataclass(frozen=True)
class Entry:
    """How one contestant did."""

    who: str
    turns: tuple[float, ...] = ()
    """The figure of each turn."""
    note: str = ""

    @property
    def figure(self) -> float | None:
        """The median, or None for one who took no turn."""
        return statistics.median(self.turns) if self.turns else None


@dataclass(frozen=True)
class Target:
    """What the first entry should reach, and whether it does; None where it can't be told."""

    words: str
    met: bool | None


@dataclass(frozen=True)
class Row:
    """One line of the benchmark."""

    name: str
    game: str
    algorithm: str
    unit: str
    clock: str
    """What it counts and leaves out."""
    entries: tuple[Entry, ...]
    targets: tuple[Target, ...]
    threads: int = 1

    @property
    def circumstances(self) -> str:
        """What a reader must know beside the figures, if anything."""
        return ""

    @property
    def ratios(self) -> dict[str, float]:
        """How many times better the first entry is than each of the others."""
        first = self.entries[0].figure
        others = {e.who: e.figure for e in self.entries[1:] if e.figure is not None}
        if first is None:
            return {}
        return {who: first / x if self.unit.endswith("/s") else x / first for who, x in others.items()}


def rows(repeats: int, quick: bool) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Every row's name, and how to measure it. Quick leaves out what takes the peers minutes."""
    yield "CFR+ on Leduc", lambda: speed("leduc_poker", repeats, {"LiteEFG": 30, "OpenSpiel": 200})
    yield "CFR+ on liar's dice", lambda: speed("liars_dice", repeats, {"the faster peer": 60})
    yield "Leduc to 0.001", lambda: time_to("leduc_poker", 0.001, repeats, every=10)
    if not quick:
        yield "liar's dice to 0.01", lambda: time_to("liars_dice", 0.01, repeats, every=10)
    yield "NashConv", lambda: measuring("liars_dice", repeats)
    yield "enumerating", lambda: enumerating("liars_dice", repeats)
    yield "first iteration", lambda: first_iteration(repeats)
    yield "one more game", lambda: next_game("leduc_poker", repeats)


def speed(game: str, repeats: int, wanted: dict[str, float]) -> Row:
    """CFR+ iterations a second."""
    jobs = {c.name: _speed_job(c, game) for c in _present()}
    entries = race(jobs, repeats)
    clock = "iterations alone, without loading, building and measuring; a first one runs before"
    return make_row("CFR+ iterations", game, "cfr+", "iterations/s", clock, entries, wanted)


def _speed_job(contestant: type[Contestant], game: str) -> Job:
    solver = contestant(game, "cfr+")
    solver.run(1)
    once = seconds_of(lambda: solver.run(1))
    count = max(1, int(TURN_SECONDS / max(once, 1e-6)))
    return lambda: count / seconds_of(lambda: solver.run(count))


def time_to(game: str, target: float, repeats: int, every: int) -> Row:
    """Seconds until NashConv is at most a target, each with the algorithm of its own that gets there first."""
    jobs, notes, found = {}, {}, {}
    for contestant in _present():
        algorithm, iterations, seconds = _quickest(contestant, game, target, every)
        notes[contestant.name] = f"{algorithm}, {iterations} iterations" if algorithm else "target not reached"
        if algorithm:
            jobs[contestant.name] = _run_job(contestant, game, algorithm, iterations)
            found[contestant.name] = seconds
    entries = [replace(e, note=notes.get(e.who, e.note)) for e in race(jobs, repeats, found)]
    clock = f"iterations alone, without building and measuring; measured every {every} iterations"
    return make_row(
        f"time to NashConv {target:g}", game, "the best of each", "s", clock, entries, {"the faster peer": 30}
    )


def _quickest(contestant: type[Contestant], game: str, target: float, every: int) -> tuple[str, int, float]:
    """A contestant's quickest algorithm, and the iterations and seconds that it takes to the target."""
    best = ("", 0, PATIENCE)
    for algorithm in contestant.algorithms:
        solver = contestant(game, algorithm)
        iterations, seconds = 0, 0.0
        while seconds < best[2]:
            seconds += seconds_of(lambda solver=solver: solver.run(every))  # type: ignore[misc]
            iterations += every
            if solver.nash_conv() <= target:
                best = min(best, (algorithm, iterations, seconds), key=lambda run: run[2])
                break
    return best


def _run_job(contestant: type[Contestant], game: str, algorithm: str, iterations: int) -> Job:
    def job() -> float:
        solver = contestant(game, algorithm)
        return seconds_of(lambda: solver.run(iterations))

    return job


def measuring(game: str, repeats: int) -> Row:
    """NashConv of the uniform policy; for peers of their average after an iteration, which costs the same."""
    loaded = load_game(game)
    tree = game_tree(loaded)
    uniform = aligned(tree, uniform_policy(loaded))
    measure(tree, uniform)
    jobs: dict[str, Job] = {Ours.name: lambda: mean_seconds(lambda: measure(tree, uniform))}
    for peer in PEERS:
        if is_installed(peer):
            solver = peer(game, "cfr+")
            solver.run(1)
            jobs[peer.name] = lambda solver=solver: mean_seconds(solver.nash_conv)  # type: ignore[misc]
    clock = "from a table of probabilities to the figure, without building the game"
    return make_row("NashConv of a policy", game, "best response", "s", clock, race(jobs, repeats), {LiteEFG.name: 50})


def enumerating(game: str, repeats: int) -> Row:
    """From the rules to the arrays that a solver runs on."""
    loaded = load_game(game)
    jobs: dict[str, Job] = {Ours.name: lambda: seconds_of(lambda: sequence_form.__wrapped__(enumerate_game(loaded)))}
    if is_installed(LiteEFG):
        lite_env(game)
        jobs[LiteEFG.name] = lambda: seconds_of(lambda: lite_env(game))
    clock = "rules to arrays, without compiling; LiteEFG reads a file of the game that it wrote before"
    entries = [e for e in race(jobs, repeats) if e.who != OpenSpiel.name]
    return make_row("enumerating", game, "", "s", clock, entries, {LiteEFG.name: 5})


def first_iteration(repeats: int) -> Row:
    """A new process's first CFR+ iteration, everything compiled before."""
    _spawn(FIRST_ITERATION)

    def job() -> float:
        start = time.perf_counter()
        _spawn(FIRST_ITERATION)
        return time.perf_counter() - start

    entries = race({Ours.name: job}, repeats)[:1]
    target = Target("at most 3 s", _at_most(entries[0].figure, 3.0))
    clock = "wall time of a new process, Python's start and imports included; the kernels are in the cache"
    return Row("first CFR+ iteration", "leduc_poker", "cfr+", "s", clock, tuple(entries), (target,))


def next_game(game: str, repeats: int) -> Row:
    """Loading a game that was never compiled, in a process that has another one."""
    load_game("kuhn_poker")
    engine: list[int] = []

    def job() -> float:
        with tempfile.TemporaryDirectory(prefix="qdts-bench-") as root:
            shutil.copytree(cache_root(), root, ignore=shutil.ignore_patterns(f"{game}.*"), dirs_exist_ok=True)
            told = json.loads(_spawn(NEXT_GAME, game, QDTS_CACHE_DIR=root))
        engine.append(told["engine"])
        return float(told["seconds"])

    entry = replace(race({Ours.name: job}, repeats)[0], note=f"{max(engine)} engine compilations")
    targets = (
        Target("under 1 s", _at_most(entry.figure, 1.0)),
        Target("no engine compilation, up to its first CFR+ iteration", max(engine) == 0),
    )
    clock = "CPU time of load_game, its rules not in the cache; kuhn_poker was solved in the same process before"
    return Row("one more game", game, "load", "s", clock, (entry,), targets)


def _present() -> list[type[Contestant]]:
    return [Ours, *(peer for peer in PEERS if is_installed(peer))]


def race(jobs: dict[str, Job], repeats: int, before: dict[str, float] | None = None) -> list[Entry]:
    """The median of each job, all taking turns; `before` counts as a first turn. Peers without a job are missing."""
    figures = {who: [before[who]] if before else [] for who in jobs}
    spent = {who: sum(turns) for who, turns in figures.items()}
    for _ in range(repeats - (before is not None)):
        for who, job in jobs.items():
            if spent[who] < BUDGET:
                start = time.perf_counter()
                figures[who].append(job())
                spent[who] += time.perf_counter() - start
    entries = [Entry(who, tuple(turns)) for who, turns in figures.items()]
    return entries + [Entry(p.name, note=NOT_INSTALLED) for p in PEERS if p.name not in jobs]


def make_row(
    name: str, game: str, algorithm: str, unit: str, clock: str, entries: list[Entry], wanted: dict[str, float]
) -> Row:
    """A row whose targets are ratios to peers."""
    ratios = Row(name, game, algorithm, unit, clock, tuple(entries), ()).ratios
    if ratios:
        ratios["the faster peer"] = min(ratios.values())
    words = "at least {:g} times {}'s" if unit.endswith("/s") else "at most 1/{:g} of {}'s"
    targets = [
        Target(words.format(times, who), ratios[who] >= times if who in ratios else None)
        for who, times in wanted.items()
    ]
    return Row(name, game, algorithm, unit, clock, tuple(entries), tuple(targets))


def _at_most(figure: float | None, bound: float) -> bool | None:
    return None if figure is None else figure <= bound


def seconds_of(work: Callable[[], object]) -> float:
    """CPU time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def mean_seconds(work: Callable[[], object]) -> float:
    """CPU time of some work, the mean over a turn."""
    times, seconds = 0, 0.0
    while seconds < TURN_SECONDS:
        seconds += seconds_of(work)
        times += 1
    return seconds / times


def _spawn(code: str, *arguments: str, **environment: str) -> str:
    """Run code in a new process; what it printed."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    return done.stdout

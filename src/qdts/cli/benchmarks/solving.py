"""The rows of `qdts bench solve`: our solvers beside those of LiteEFG and OpenSpiel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

from qdts.cli.benchmarks.peers import PEERS, BenchmarkSolver, LiteEFG, OpenSpiel, Ours, is_installed, lite_env
from qdts.cli.benchmarks.rows import Job, Row, Rows, Target, make_row, mean_seconds, seconds_of, take_turns, turns_worth
from qdts.code_cache import cache_root
from qdts.games.registry import load_game
from qdts.solving.measure import tree_nash_conv
from qdts.solving.policy.table import aligned
from qdts.solving.sequence.form import sequence_form
from qdts.solving.tree.enumeration import enumerate_game
from qdts.solving.tree.recent import game_tree
from qdts.solving.uniform import uniform_policy

PATIENCE = 120.0
"""Seconds after which a solver that has not reached its target gives up."""

FIRST_ITERATION = """
from qdts.games.registry import load_game
from qdts.solving.tree.recent import game_tree
from qdts.solving.solver import make_solver
make_solver(game_tree(load_game("leduc_poker")), "cfr+").run(1)
print("done", flush=True)
"""

NEXT_GAME = """
import json, sys, time
from numba.core import event
from qdts.games.registry import load_game
from qdts.solving.tree.recent import game_tree
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


def rows(repeats: int, quick: bool) -> Rows:
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
    entries = take_turns(jobs, repeats)
    clock = "iterations alone, without loading, building and measuring; a first one runs before"
    return make_row("CFR+ iterations", game, "cfr+", "iterations/s", clock, entries, wanted)


def _speed_job(kind: type[BenchmarkSolver], game: str) -> Job:
    solver = kind(game, "cfr+")
    solver.run(1)
    count = turns_worth(seconds_of(lambda: solver.run(1)))
    return lambda: count / seconds_of(lambda: solver.run(count))


def time_to(game: str, target: float, repeats: int, every: int) -> Row:
    """Seconds until NashConv is at most a target, each with the algorithm of its own that gets there first."""
    jobs, notes, first = {}, {}, {}
    for kind in _present():
        algorithm, iterations, seconds = _quickest(kind, game, target, every)
        notes[kind.name] = f"{algorithm}, {iterations} iterations" if algorithm else "target not reached"
        if algorithm:
            jobs[kind.name] = _run_job(kind, game, algorithm, iterations)
            first[kind.name] = seconds
    entries = [replace(e, note=notes.get(e.who, e.note)) for e in take_turns(jobs, repeats, first)]
    clock = f"iterations alone, without building and measuring; measured every {every} iterations"
    return make_row(
        f"time to NashConv {target:g}", game, "the best of each", "s", clock, entries, {"the faster peer": 30}
    )


def _quickest(kind: type[BenchmarkSolver], game: str, target: float, every: int) -> tuple[str, int, float]:
    """A solver's quickest algorithm, and the iterations and seconds that it takes to the target."""
    best = ("", 0, PATIENCE)
    for algorithm in kind.algorithms:
        solver = kind(game, algorithm)
        iterations, seconds = 0, 0.0
        while seconds < best[2]:
            seconds += seconds_of(lambda solver=solver: solver.run(every))  # type: ignore[misc]
            iterations += every
            if solver.nash_conv() <= target:
                best = min(best, (algorithm, iterations, seconds), key=lambda run: run[2])
                break
    return best


def _run_job(kind: type[BenchmarkSolver], game: str, algorithm: str, iterations: int) -> Job:
    def job() -> float:
        solver = kind(game, algorithm)
        return seconds_of(lambda: solver.run(iterations))

    return job


def measuring(game: str, repeats: int) -> Row:
    """NashConv of the uniform policy; for peers of their average after an iteration, which costs the same."""
    loaded = load_game(game)
    tree = game_tree(loaded)
    uniform = aligned(tree, uniform_policy(loaded))
    tree_nash_conv(tree, uniform)
    jobs: dict[str, Job] = {Ours.name: lambda: mean_seconds(lambda: tree_nash_conv(tree, uniform))}
    for peer in PEERS:
        if is_installed(peer):
            solver = peer(game, "cfr+")
            solver.run(1)
            jobs[peer.name] = lambda solver=solver: mean_seconds(solver.nash_conv)  # type: ignore[misc]
    clock = "from a table of probabilities to the figure, without building the game"
    entries = take_turns(jobs, repeats)
    return make_row("NashConv of a policy", game, "best response", "s", clock, entries, {LiteEFG.name: 50})


def enumerating(game: str, repeats: int) -> Row:
    """From the rules to the arrays that a solver runs on."""
    loaded = load_game(game)
    jobs: dict[str, Job] = {Ours.name: lambda: seconds_of(lambda: sequence_form.__wrapped__(enumerate_game(loaded)))}
    if is_installed(LiteEFG):
        lite_env(game)
        jobs[LiteEFG.name] = lambda: seconds_of(lambda: lite_env(game))
    clock = "rules to arrays, without compiling; LiteEFG reads a file of the game that it wrote before"
    entries = [e for e in take_turns(jobs, repeats) if e.who != OpenSpiel.name]
    return make_row("enumerating", game, "", "s", clock, entries, {LiteEFG.name: 5})


def first_iteration(repeats: int) -> Row:
    """A new process's first CFR+ iteration, everything compiled before."""
    _spawn(FIRST_ITERATION)

    def job() -> float:
        start = time.perf_counter()
        _spawn(FIRST_ITERATION)
        return time.perf_counter() - start

    entries = take_turns({Ours.name: job}, repeats)[:1]
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
            printed = json.loads(_spawn(NEXT_GAME, game, QDTS_CACHE_DIR=root))
        engine.append(printed["engine"])
        return float(printed["seconds"])

    entry = replace(take_turns({Ours.name: job}, repeats)[0], note=f"{max(engine)} engine compilations")
    targets = (
        Target("under 1 s", _at_most(entry.figure, 1.0)),
        Target("no engine compilation, up to its first CFR+ iteration", max(engine) == 0),
    )
    clock = "CPU time of load_game, its rules not in the cache; kuhn_poker was solved in the same process before"
    return Row("one more game", game, "load", "s", clock, (entry,), targets)


def _present() -> list[type[BenchmarkSolver]]:
    return [Ours, *(peer for peer in PEERS if is_installed(peer))]


def _at_most(figure: float | None, bound: float) -> bool | None:
    return None if figure is None else figure <= bound


def _spawn(code: str, *arguments: str, **environment: str) -> str:
    """What some code prints in a new process."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    return done.stdout

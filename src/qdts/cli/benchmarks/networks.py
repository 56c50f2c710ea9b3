"""The rows of `qdts bench search --network`: searches that ask a network, ours beside mctx's.

All sides search the same positions of connect four at once, with the same network: features to one hidden layer, to P
and V. Ours is `puct` with first-play urgency; mctx's are its MuZero and its Gumbel policy.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from qdts.cli.benchmarks.contestants import Ours
from qdts.cli.benchmarks.mctx_peer import POLICIES, make_search
from qdts.cli.benchmarks.search import SearchRow
from qdts.cli.benchmarks.solving import Entry, Job, Row, Target, make_row, mean_seconds, race
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.kernels import Ints, Reals32
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named

GAME = "connect_four"
SLOTS = 1024
SIMULATIONS = 32
SMALL, LARGE = (64, 1), (256, 4)
"""Units and hidden layers."""
WEIGHTS = ("weights as torch draws them", "normal weights, deviation 0.1, no biases")
"""Two ways to draw a network: how deep searches go, and so how fast mctx is, depends on it."""
WANTED = {"mctx MuZero": 2.0, "mctx Gumbel": 1.0}
"""How many times their speed ours should be."""
WANTED_SHARE = 75.0
"""The share of time, in percent, that the large network should have."""
NOT_INSTALLED = "not installed: pip install mctx"
CLOCK = (
    f"CPU time of whole searches, {SLOTS:,} at once, each from its root to its visits, in memory that is there; "
    "all threads on one core; without compiling, on both sides"
)


def has(package: str) -> bool:
    """Whether a package is installed."""
    return importlib.util.find_spec(package) is not None


def rows(repeats: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each target."""
    if not has("torch"):
        raise InputError("networks need torch, which is not installed: pip install 'qdts[nets]'")
    with one_core():
        for weights in WEIGHTS:
            yield f"{weights} beside mctx", lambda weights=weights: beside_mctx(repeats, SLOTS, weights)  # type: ignore[misc]
        yield "the share of a large network", lambda: share(repeats, SLOTS)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and every thread that it starts, on one core where the system can.

    jax splits work over threads whatever its flags say, and on two cores that costs it half of its speed by CPU time.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def positions(game: Game, count: int) -> list[Ints]:
    """Positions after 0 to 7 random moves, in turn."""
    numbers = np.random.default_rng(0)
    found = []
    for i in range(count):
        world = game.initial()
        for _ in range(i % 8):
            world = game.step(world, int(numbers.choice(game.legal(world))))
        found.append(world)
    return found


class Race:
    """Our searches from some positions, and the network's layers for others."""

    def __init__(self, units: int, layers: int, slots: int, weights: str = WEIGHTS[0]) -> None:
        import torch

        from qdts.nets.evaluator import Network
        from qdts.nets.model import PolicyValue

        torch.set_num_threads(1)
        self.game = load_game(GAME)
        self.worlds = positions(self.game, slots)
        self.movers = [self.game.mover(world) for world in self.worlds]
        self.model = PolicyValue(self.game, width=units, layers=layers, child_values=False, trunk="mlp")
        torch.manual_seed(0)
        for layer in self.model.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.reset_parameters()
        if weights != WEIGHTS[0]:
            for p in self.model.parameters():
                p.data.normal_(0.0, 0.1 if p.ndim > 1 else 0.0)
        evaluator = Network(self.game, self.model, batch=slots)
        self.searcher = Searcher(self.game, self.worlds, self.movers, named("puct", unvisited="fpu"), evaluator)
        self.seeds = itertools.count()
        self.search()

    def search(self) -> object:
        """One search from each position."""
        seed = next(self.seeds) * len(self.worlds)
        self.searcher.restart(self.worlds, self.movers, range(seed, seed + len(self.worlds)))
        self.searcher.run(SIMULATIONS)
        return self.searcher.root_visits()

    def weights(self) -> list[tuple[Reals32, Reals32]]:
        """The network's layers, as x @ weight + bias."""
        numbers = [p.detach().numpy() for p in self.model.parameters()]
        return [(w.T.copy(), b) for w, b in zip(numbers[::2], numbers[1::2], strict=True)]


def beside_mctx(repeats: int, slots: int, weights: str) -> SearchRow:
    """Simulations a second with the small network."""
    ours = Race(*SMALL, slots, weights)
    total = SIMULATIONS * slots
    jobs: dict[str, Job] = {Ours.name: lambda: total / mean_seconds(ours.search)}
    if has("mctx"):
        for name in POLICIES:
            theirs = make_search(name, ours.game, ours.worlds, ours.weights(), SIMULATIONS)
            seeds = itertools.count()
            theirs(next(seeds))
            jobs[name] = lambda theirs=theirs, seeds=seeds: total / mean_seconds(lambda: theirs(next(seeds)))  # type: ignore[misc]
    raced = {entry.who: entry for entry in race(jobs, repeats)}
    entries = [raced.get(who, Entry(who, note=NOT_INSTALLED)) for who in (Ours.name, *POLICIES)]
    row = make_row("puct with a network", GAME, "", "simulations/s", CLOCK, entries, WANTED)
    return _with_circumstances(row, SMALL, weights, entries[0].figure)


def share(repeats: int, slots: int) -> SearchRow:
    """The share of the time that the large network has."""
    ours = Race(*LARGE, slots)
    inside = 0.0
    forward = ours.model.forward

    def timed(inputs: object) -> object:
        nonlocal inside
        start = time.perf_counter()
        out = forward(inputs)  # type: ignore[arg-type]
        inside += time.perf_counter() - start
        return out

    def job() -> float:
        nonlocal inside
        inside, start = 0.0, time.perf_counter()
        ours.search()
        return 100.0 * inside / (time.perf_counter() - start)

    ours.model.forward = timed  # type: ignore[assignment, method-assign]
    entry = race({Ours.name: job}, repeats)[0]
    met = None if entry.figure is None else entry.figure >= WANTED_SHARE
    target = Target(f"at least {WANTED_SHARE:g} % of the time in the network", met)
    clock = f"the clock on the wall over whole searches, {SLOTS:,} at once; the network's share of it"
    row = Row("the network's share", GAME, "", "% of the time", clock, (entry,), (target,))
    return _with_circumstances(row, LARGE, WEIGHTS[0], None)


def _with_circumstances(row: Row, network: tuple[int, int], weights: str, speed: float | None) -> SearchRow:
    units, layers = network
    hidden = "1 hidden layer" if layers == 1 else f"{layers} hidden layers"
    return SearchRow(
        **vars(row),
        search="puct",
        visits_per_second=speed,
        state="positions after 0 to 7 random moves",
        simulations=SIMULATIONS,
        network=f"{hidden} of {units} units, float32, {weights}",
    )

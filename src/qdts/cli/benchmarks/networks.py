"""The rows of `qdts bench search --network`: searches whose evaluator is a network, ours beside mctx's.

All sides search the same positions of connect four at once, with the same network: features to one hidden layer, to P
and V. Ours is `puct` with first-play urgency; mctx's are its MuZero and its Gumbel policy.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from qdts.cli.benchmarks.mctx_peer import POLICIES, make_search
from qdts.cli.benchmarks.peers import Ours, has_package
from qdts.cli.benchmarks.rows import Entry, Job, Row, Rows, Target, make_row, mean_seconds, take_turns
from qdts.cli.benchmarks.search import SearchRow
from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.kernels import Ints, Reals32
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named

GAME = "connect_four"
LANES = 1024
SIMULATIONS = 32
SMALL, LARGE = (64, 1), (256, 4)
"""Units and hidden layers."""
WEIGHTS = ("weights as torch draws them", "normal weights, deviation 0.1, no biases")
"""How weights are initialised: the depth of searches, and with it the speed of mctx, depends on it."""
WANTED = {"mctx MuZero": 2.0, "mctx Gumbel": 1.0}
"""How many times their speed ours should be."""
WANTED_SHARE = 75.0
"""The share of time, in percent, that the large network should have."""
NOT_INSTALLED = "not installed: pip install mctx"
CLOCK = (
    f"CPU time of whole searches, {LANES:,} at once, each from its root to its visits, in memory that is there; "
    "all threads on one core; without compiling, on both sides"
)


def rows(repeats: int) -> Rows:
    """A row for each target."""
    if not has_package("torch"):
        raise InputError("networks need torch, which is not installed: pip install 'qdts[nets]'")
    with one_core():
        for weights in WEIGHTS:
            yield f"{weights} beside mctx", lambda weights=weights: beside_mctx(repeats, LANES, weights)  # type: ignore[misc]
        yield "the share of a large network", lambda: share(repeats, LANES)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process and the threads that it starts on one core, where the system can.

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
    worlds = []
    for i in range(count):
        world = game.initial()
        for _ in range(i % 8):
            world = game.step(world, int(numbers.choice(game.legal(world))))
        worlds.append(world)
    return worlds


class NetworkSearch:
    """Our searches from some positions, and the network's layers for others."""

    def __init__(self, units: int, layers: int, lanes: int, weights: str = WEIGHTS[0]) -> None:
        import torch

        from qdts.nets.evaluator import Network
        from qdts.nets.model import PolicyValue

        torch.set_num_threads(1)
        self.game = load_game(GAME)
        self.worlds = positions(self.game, lanes)
        self.movers = [self.game.mover(world) for world in self.worlds]
        self.model = PolicyValue(self.game, width=units, layers=layers, child_values=False, trunk="mlp")
        torch.manual_seed(0)
        for layer in self.model.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.reset_parameters()
        if weights != WEIGHTS[0]:
            for p in self.model.parameters():
                p.data.normal_(0.0, 0.1 if p.ndim > 1 else 0.0)
        evaluator = Network(self.game, self.model, batch=lanes)
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


def beside_mctx(repeats: int, lanes: int, weights: str) -> SearchRow:
    """Simulations a second with the small network."""
    ours = NetworkSearch(*SMALL, lanes, weights)
    total = SIMULATIONS * lanes
    jobs: dict[str, Job] = {Ours.name: lambda: total / mean_seconds(ours.search)}
    if has_package("mctx"):
        for name in POLICIES:
            theirs = make_search(name, ours.game, ours.worlds, ours.weights(), SIMULATIONS)
            seeds = itertools.count()
            theirs(next(seeds))
            jobs[name] = lambda theirs=theirs, seeds=seeds: total / mean_seconds(lambda: theirs(next(seeds)))  # type: ignore[misc]
    measured = {entry.who: entry for entry in take_turns(jobs, repeats)}
    entries = [measured.get(who, Entry(who, note=NOT_INSTALLED)) for who in (Ours.name, *POLICIES)]
    row = make_row("puct with a network", GAME, "", "simulations/s", CLOCK, entries, WANTED)
    return _with_circumstances(row, SMALL, weights, entries[0].figure)


def share(repeats: int, lanes: int) -> SearchRow:
    """The share of the time that the large network has."""
    ours = NetworkSearch(*LARGE, lanes)
    inside = 0.0
    forward = ours.model.body.forward

    def timed(inputs: object) -> object:
        nonlocal inside
        start = time.perf_counter()
        out = forward(inputs)
        inside += time.perf_counter() - start
        return out

    def job() -> float:
        nonlocal inside
        inside, start = 0.0, time.perf_counter()
        ours.search()
        return 100.0 * inside / (time.perf_counter() - start)

    ours.model.body.forward = timed
    entry = take_turns({Ours.name: job}, repeats)[0]
    met = None if entry.figure is None else entry.figure >= WANTED_SHARE
    target = Target(f"at least {WANTED_SHARE:g} % of the time in the network", met)
    clock = f"the clock on the wall over whole searches, {LANES:,} at once; the network's share of it"
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

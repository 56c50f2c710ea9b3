"""Those who run against each other in `qdts bench solve`: our solvers, LiteEFG's and OpenSpiel's.

Each is built for a game and an algorithm; then only `run` is under the clock.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

from qdts.games.registry import load_game
from qdts.solving.measure import tree_nash_conv
from qdts.solving.solver import make_solver
from qdts.solving.tree.recent import game_tree


class Contestant(Protocol):
    """A solver of one game."""

    name: ClassVar[str]
    module: ClassVar[str]
    """What must be installed for it."""
    algorithms: ClassVar[tuple[str, ...]]
    """What it has that converges fast."""

    def __init__(self, game: str, algorithm: str) -> None: ...

    def run(self, iterations: int) -> None:
        """Go on for a number of iterations."""

    def nash_conv(self) -> float:
        """Of the strategy that the algorithm converges by; here the sum of both players' gains."""


class Ours:
    """qdts."""

    name: ClassVar[str] = "qdts"
    module: ClassVar[str] = "qdts"
    algorithms: ClassVar[tuple[str, ...]] = ("cfr+", "dcfr", "pcfr+")

    def __init__(self, game: str, algorithm: str) -> None:
        self.tree = game_tree(load_game(game))
        self.solver = make_solver(self.tree, algorithm)

    def run(self, iterations: int) -> None:
        """One call for all of them."""
        self.solver.run(iterations)

    def nash_conv(self) -> float:
        """Of the average strategy."""
        return tree_nash_conv(self.tree, self.solver.average())


class LiteEFG:
    """LiteEFG, on one thread, each algorithm averaging as its own script does."""

    name: ClassVar[str] = "LiteEFG"
    module: ClassVar[str] = "LiteEFG"
    algorithms: ClassVar[tuple[str, ...]] = ("cfr+", "dcfr", "pcfr+")

    def __init__(self, game: str, algorithm: str) -> None:
        import LiteEFG as lite  # noqa: N813

        lite.set_threads(1)
        modules = {"cfr+": lite.baselines.CFRplus, "dcfr": lite.baselines.DCFR, "pcfr+": lite.baselines.PCFR}
        self.env = lite_env(game)
        with quiet():
            self.graph = modules[algorithm].graph()
            self.env.set_graph(self.graph)
        self.averages_itself = algorithm == "dcfr"

    def run(self, iterations: int) -> None:
        """The loop of its own scripts, without the second average where the algorithm keeps one."""
        for _ in range(iterations):
            self.graph.update_graph(self.env)
            if not self.averages_itself:
                self.env.update_strategy(self.graph.current_strategy())

    def nash_conv(self) -> float:
        """Of the linear average, or of DCFR's own."""
        if not self.averages_itself:
            return float(sum(self.env.exploitability(self.graph.current_strategy(), "linear-avg-iterate")))
        average = self.graph.current_strategy("average-iterate")
        self.env.update_strategy(average)
        return float(sum(self.env.exploitability(average, "last-iterate")))


class OpenSpiel:
    """OpenSpiel's solvers in C++."""

    name: ClassVar[str] = "OpenSpiel"
    module: ClassVar[str] = "pyspiel"
    algorithms: ClassVar[tuple[str, ...]] = ("cfr+",)

    def __init__(self, game: str, algorithm: str) -> None:
        import pyspiel

        self.game = pyspiel.load_game(game)
        self.solver = {"cfr+": pyspiel.CFRPlusSolver}[algorithm](self.game)

    def run(self, iterations: int) -> None:
        """One call an iteration."""
        for _ in range(iterations):
            self.solver.evaluate_and_update_policy()

    def nash_conv(self) -> float:
        """Of the average policy."""
        import pyspiel

        return float(pyspiel.nash_conv(self.game, self.solver.average_policy()))


PEERS: tuple[type[Contestant], ...] = (LiteEFG, OpenSpiel)


def is_installed(contestant: type[Contestant]) -> bool:
    """Whether a contestant can take part."""
    return importlib.util.find_spec(contestant.module) is not None


def lite_env(game: str) -> Any:
    """LiteEFG's form of an OpenSpiel game; the file that it writes once goes to a folder of this process."""
    import LiteEFG as lite  # noqa: N813
    import pyspiel

    with quiet(), _home(_scratch().name):
        return lite.OpenSpielEnv(pyspiel.load_game(game), traverse_type="Enumerate")


@functools.cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="qdts-bench-")


@contextlib.contextmanager
def _home(folder: str) -> Iterator[None]:
    """LiteEFG writes into the home folder: let it be another one meanwhile."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Throw away what is printed to standard output, by Python or by C."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        os.dup2(nothing.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)

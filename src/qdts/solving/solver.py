"""Solving a game by an algorithm given by name: progress reports, a clean stop, and the exact NashConv."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.interrupt import apart, interruptible
from qdts.kernels import Reals
from qdts.solving.exact.values import history_values
from qdts.solving.measure import is_sequential, nash_conv, tree_nash_conv
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.regret.schedules import SCHEDULES
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.recent import game_tree

if TYPE_CHECKING:
    from qdts.solving.perfect.minmax import Outcome

DEFAULT_ALGORITHM = "dcfr"
BLOCK_SECONDS = 0.1
"""A kernel runs about this long before Python checks for an interrupt."""
MEASURES_PER_DOUBLING = 4
"""How often NashConv is measured: this many times while the number of iterations doubles."""


class Point(NamedTuple):
    """One measurement during a run."""

    iterations: int
    seconds: float
    nash_conv: float


Report = Callable[[Point], None]


class Solver(Protocol):
    """The interface of every iterative solver."""

    iterations: int

    def run(self, iterations: int) -> None:
        """Run a number of iterations."""

    def average(self) -> Reals:
        """The average strategy. float64[A]"""

    def last(self) -> Reals:
        """The strategy of the newest iterate. float64[A]"""


@dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    Examples:
        >>> from qdts import load_game, solve
        >>> solution = solve(load_game("kuhn_poker"), "cfr+", iterations=100)
        >>> solution.iterations, len(solution.policy)
        (100, 12)
    """

    game: Game
    algorithm: str
    iterations: int
    seconds: float
    """Time in the algorithm alone: without compiling, enumerating and measuring."""
    values: tuple[float, ...]
    """Every player's expected return under the policy."""
    nash_conv: float
    """What all players together would gain by best responses to the policy; for two, twice the exploitability."""
    policy: Policy
    """The average strategy."""
    last: Policy
    """The newest iterate."""
    curve: tuple[Point, ...] = field(repr=False, default=())
    """NashConv as the iterations went on."""
    interrupted: bool = False
    """Whether Ctrl-C ended the run before its last iteration."""
    outcome: Outcome | None = None
    """Of min-max or alpha-beta: value, best line, leaves evaluated. The policy is that of value iteration."""

    @property
    def value(self) -> float:
        """The first player's expected return."""
        return self.values[0]

    @property
    def iterations_per_second(self) -> float:
        """Iterations divided by `seconds`."""
        return self.iterations / self.seconds if self.seconds > 0 else 0.0


def make_solver(tree: GameTree, algorithm: str, seed: int = 0) -> Solver:
    """An iterative solver by name; only its own kernels are loaded."""
    if algorithm == "mccfr":
        from qdts.solving.regret.mccfr import SamplingSolver

        return SamplingSolver(tree, seed)
    if algorithm not in SCHEDULES:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    if is_sequential(tree.game):
        from qdts.solving.regret.sequence_cfr import SequenceSolver
        from qdts.solving.sequence.form import sequence_form

        return SequenceSolver(sequence_form(tree), SCHEDULES[algorithm])
    from qdts.solving.regret.history_cfr import HistorySolver

    return HistorySolver(tree, SCHEDULES[algorithm])


ITERATIVE = (*SCHEDULES, "mccfr")
SEARCHES = ("min-max", "alpha-beta", "value-iteration")
"""For perfect-information games."""
ALGORITHMS = (*ITERATIVE, "lp", *SEARCHES)


def solve(
    game: Game,
    algorithm: str = DEFAULT_ALGORITHM,
    iterations: int = 1000,
    *,
    tolerance: float | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> Solution:
    """Solve a game.

    The iterative algorithms are cfr, cfr+, lcfr, dcfr, pcfr+ and mccfr; on Ctrl-C they return the solution so far. `lp`
    solves two-player zero-sum games exactly. `min-max` and `alpha-beta` solve two-player zero-sum games of perfect
    information without chance, `value-iteration` all perfect-information games. These four, and enumerating, have no
    partial result: on Ctrl-C they raise KeyboardInterrupt at once.

    Args:
        game: The game, as `load_game` gives it.
        algorithm: One of the names above.
        iterations: How many iterations an iterative algorithm runs at most.
        tolerance: Stop as soon as the NashConv of the average strategy is measured at or below this.
        seed: Of the random numbers of mccfr.
        report: Called with each measurement of NashConv.

    Returns:
        The average strategy, its values and its exact NashConv.

    Raises:
        InputError: The algorithm is unknown or can't solve this game, an argument is out of range, or the game is too
            large to enumerate.

    Examples:
        >>> from qdts import load_game
        >>> solution = solve(load_game("kuhn_poker"), iterations=1000)
        >>> round(solution.value, 3), solution.nash_conv < 0.001
        (-0.056, True)
    """
    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    if not isinstance(game, Game):
        raise InputError(f"solve({game!r}, ...): expected a game, as load_game gives it")
    if not isinstance(iterations, int) or iterations < 1:
        raise InputError(f"iterations={iterations}, expected a whole number of at least 1")
    if tolerance is not None and not tolerance >= 0:
        raise InputError(f"tolerance={tolerance}, expected a number of at least 0")
    if algorithm in SEARCHES:
        return apart(lambda: _search(game, algorithm))
    tree = apart(lambda: game_tree(game))
    if algorithm == "lp":
        return apart(lambda: _solve_program(tree))
    return _iterate(tree, algorithm, iterations, tolerance, seed, report)


def _iterate(
    tree: GameTree, algorithm: str, iterations: int, tolerance: float | None, seed: int, report: Report | None
) -> Solution:
    solver = make_solver(tree, algorithm, seed)
    solver.run(0)  # compiles, before the clock starts
    curve: list[Point] = []
    seconds = 0.0
    with interruptible() as interrupt:
        while solver.iterations < iterations and not interrupt.requested:
            goal = min(iterations, max(solver.iterations + 1, _next_measure(solver.iterations)))
            while solver.iterations < goal and not interrupt.requested:
                rate = solver.iterations / seconds if seconds > 0 else 0.0
                block = min(goal - solver.iterations, max(1, int(rate * BLOCK_SECONDS)))
                start = time.perf_counter()
                solver.run(block)
                seconds += time.perf_counter() - start
            curve.append(Point(solver.iterations, seconds, tree_nash_conv(tree, solver.average())))
            if report is not None:
                report(curve[-1])
            if tolerance is not None and curve[-1].nash_conv <= tolerance:
                break
    average = solver.average()
    distance = curve[-1].nash_conv if curve else tree_nash_conv(tree, average)
    info = {"algorithm": algorithm, "iterations": solver.iterations, "nash_conv": distance}
    return Solution(
        game=tree.game,
        algorithm=algorithm,
        iterations=solver.iterations,
        seconds=seconds,
        values=tuple(history_values(tree, average)[0].tolist()),
        nash_conv=distance,
        policy=policy_on(tree, average, **info),
        last=policy_on(tree, solver.last(), **info),
        curve=tuple(curve),
        interrupted=interrupt.requested,
    )


def _next_measure(done: int) -> int:
    """The number of iterations at which NashConv is measured next."""
    return int(np.ceil(done * 2 ** (1 / MEASURES_PER_DOUBLING)))


def _solve_program(tree: GameTree) -> Solution:
    from qdts.solving.sequence import lp
    from qdts.solving.sequence.form import sequence_form

    form = sequence_form(tree)
    start = time.perf_counter()
    probability, _ = lp.equilibrium(form)
    seconds = time.perf_counter() - start
    values = history_values(tree, probability)[0]
    return _exact("lp", policy_on(tree, probability), values, seconds)


def _search(game: Game, algorithm: str) -> Solution:
    from qdts.solving.perfect import minmax, value_iteration
    from qdts.solving.perfect.positions import position_graph
    from qdts.solving.perfect.value_iteration import optimal_play

    if algorithm == "value-iteration":
        position_graph(game)
        value_iteration.prepare()
        start = time.perf_counter()
        optimum = optimal_play(game)
        return _exact(algorithm, optimum.policy, optimum.values[0], time.perf_counter() - start)
    minmax.prepare(pruning=algorithm == "alpha-beta")
    start = time.perf_counter()
    outcome = (minmax.min_max if algorithm == "min-max" else minmax.alpha_beta)(game)
    seconds = time.perf_counter() - start
    values = np.array([outcome.value, 0.0 - outcome.value])
    return replace(_exact(algorithm, optimal_play(game).policy, values, seconds), outcome=outcome)


def _exact(algorithm: str, policy: Policy, values: Reals, seconds: float) -> Solution:
    distance = nash_conv(policy.game, policy)
    made = replace(policy, info={"algorithm": algorithm, "iterations": 1, "nash_conv": distance})
    return Solution(
        game=policy.game,
        algorithm=algorithm,
        iterations=1,
        seconds=seconds,
        values=tuple(values.tolist()),
        nash_conv=distance,
        policy=made,
        last=made,
    )

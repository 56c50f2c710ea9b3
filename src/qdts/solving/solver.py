"""Solve a game by name of algorithm: progress while it runs, a clean stop, and the exact distance to equilibrium."""

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
from qdts.solving.best_response import best_response_gains
from qdts.solving.measure import DEFAULT_MEMORY, SweepReport, chosen_tree, measure_policy, on_tree
from qdts.solving.policy import Policy, game_tree, policy_on
from qdts.solving.regret import SCHEDULES
from qdts.solving.rows import Rows
from qdts.solving.tree import GameTree
from qdts.solving.values import history_values

if TYPE_CHECKING:
    from qdts.solving.minmax import Outcome

DEFAULT_ALGORITHM = "dcfr"
BLOCK_SECONDS = 0.1
"""A kernel runs about this long before Python may stop it."""
MEASURES_PER_DOUBLING = 4
"""How often NashConv is measured: this many times while the number of iterations doubles."""


class Point(NamedTuple):
    """One measurement on the way."""

    iterations: int
    seconds: float
    nash_conv: float


Report = Callable[[Point], None]


class Solver(Protocol):
    """What every iterative solver offers."""

    iterations: int

    def run(self, iterations: int) -> None:
        """Go on for a number of iterations."""

    def average(self) -> Reals:
        """The average strategy. float64[A]"""

    def last(self) -> Reals:
        """The strategy of the newest iterate. float64[A]"""


@dataclass(frozen=True)
class Solution:
    """What solving gave."""

    game: Game
    algorithm: str
    iterations: int
    seconds: float
    """Time in the algorithm alone: without compiling, enumerating and measuring."""
    values: tuple[float, ...]
    """Every player's expected return under the policy."""
    nash_conv: float
    """Of the policy: what all players together could gain by best responses. Exploitability is half of it for two."""
    policy: Policy
    """The average strategy."""
    last: Policy
    """The newest iterate."""
    curve: tuple[Point, ...] = field(repr=False, default=())
    interrupted: bool = False
    outcome: Outcome | None = None
    """What min-max or alpha-beta found: value, best line, leaves looked at. Their policy is that of `positions`."""

    @property
    def value(self) -> float:
        """The first player's expected return."""
        return self.values[0]

    @property
    def iterations_per_second(self) -> float:
        """Speed by the same clock as `seconds`."""
        return self.iterations / self.seconds if self.seconds > 0 else 0.0


def is_sequential(game: Game) -> bool:
    """Whether a game has a sequence form: two players whose views have perfect recall."""
    return game.players == 2 and game.hidden and game.memory == "perfect"


def nash_conv(
    game: Game,
    policy: Policy | Rows,
    *,
    method: str | None = None,
    memory: int = DEFAULT_MEMORY,
    report: SweepReport | None = None,
) -> float:
    """Σ over players of what each could gain by a best response; zero exactly at a Nash equilibrium.

    For two players exploitability is half of this. The arguments are those of `measure_policy`.
    """
    tree = chosen_tree(game, method) if game.hidden else None
    if tree is None:
        return measure_policy(game, policy, method=method, memory=memory, report=report).nash_conv
    return measure(tree, on_tree(tree, policy))


def measure(tree: GameTree, probability: Reals) -> float:
    """NashConv of probabilities in the order of a tree, by the fastest exact way."""
    if is_sequential(tree.game):
        from qdts.solving.sequence_form import sequence_form

        return sequence_form(tree).nash_conv(probability)
    return float(best_response_gains(policy_on(tree, probability)).sum())


def make_solver(tree: GameTree, algorithm: str, seed: int = 0) -> Solver:
    """An iterative solver by name; only its own kernels are loaded."""
    if algorithm == "mccfr":
        from qdts.solving.mccfr import SamplingSolver

        return SamplingSolver(tree, seed)
    if algorithm not in SCHEDULES:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    if is_sequential(tree.game):
        from qdts.solving.cfr import SequenceSolver
        from qdts.solving.sequence_form import sequence_form

        return SequenceSolver(sequence_form(tree), SCHEDULES[algorithm])
    from qdts.solving.sweeps import SweepSolver

    return SweepSolver(tree, SCHEDULES[algorithm])


ITERATIVE = (*SCHEDULES, "mccfr")
SEARCHES = ("min-max", "alpha-beta", "value-iteration")
"""For games that hide nothing."""
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

    Iterative algorithms (cfr, cfr+, lcfr, dcfr, pcfr+, mccfr) stop after `iterations`, or as soon as the average
    strategy's NashConv is measured at or below `tolerance`, or on Ctrl-C with what they have. `lp` solves
    two-player zero-sum games exactly. `min-max` and `alpha-beta` solve those that hide nothing and have no chance,
    `value-iteration` all that hide nothing. On Ctrl-C these four, and enumerating, raise KeyboardInterrupt at once:
    they have nothing worth keeping before their end.
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
    curve: list[Point] = []
    seconds = 0.0
    with interruptible() as interrupt:
        while solver.iterations < iterations and not interrupt.asked:
            goal = min(iterations, max(solver.iterations + 1, _next_measure(solver.iterations)))
            while solver.iterations < goal and not interrupt.asked:
                rate = solver.iterations / seconds if seconds > 0 else 0.0
                block = min(goal - solver.iterations, max(1, int(rate * BLOCK_SECONDS)))
                start = time.perf_counter()
                solver.run(block)
                seconds += time.perf_counter() - start
            curve.append(Point(solver.iterations, seconds, measure(tree, solver.average())))
            if report is not None:
                report(curve[-1])
            if tolerance is not None and curve[-1].nash_conv <= tolerance:
                break
    average = solver.average()
    distance = curve[-1].nash_conv if curve else measure(tree, average)
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
        interrupted=interrupt.asked,
    )


def _next_measure(done: int) -> int:
    """The number of iterations at which NashConv is measured next."""
    return int(np.ceil(done * 2 ** (1 / MEASURES_PER_DOUBLING)))


def _solve_program(tree: GameTree) -> Solution:
    from qdts.solving import lp
    from qdts.solving.sequence_form import sequence_form

    form = sequence_form(tree)
    start = time.perf_counter()
    probability, _ = lp.equilibrium(form)
    seconds = time.perf_counter() - start
    values = history_values(tree, probability)[0]
    return _exact("lp", policy_on(tree, probability), values, seconds)


def _search(game: Game, algorithm: str) -> Solution:
    from qdts.solving import minmax, positions

    if algorithm == "value-iteration":
        positions.position_graph(game)
        start = time.perf_counter()
        optimum = positions.optimal_play(game)
        return _exact(algorithm, optimum.policy, optimum.values[0], time.perf_counter() - start)
    start = time.perf_counter()
    outcome = (minmax.min_max if algorithm == "min-max" else minmax.alpha_beta)(game)
    seconds = time.perf_counter() - start
    values = np.array([outcome.value, 0.0 - outcome.value])
    return replace(_exact(algorithm, positions.optimal_play(game).policy, values, seconds), outcome=outcome)


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

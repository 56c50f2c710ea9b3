"""Measure a survey: NashConv of what each search plays, and the error of its Q, for many numbers of visits.

Cells are measured one after another, and the rows of each are written as soon as it is finished.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from qdts.games.game import Game
from qdts.games.registry import load_game
from qdts.search.evaluation.builtin import Table
from qdts.search.everywhere import search_everywhere
from qdts.search.options.parsing import read_search
from qdts.solving.measure import tree_nash_conv
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.solver import make_solver, solve
from qdts.solving.tree.recent import game_tree
from qdts.solving.uniform import uniform_policy
from qdts.survey.plan import GAMES, NO_POLICY, NOISES, POLICIES, Cell, Noise
from qdts.survey.rows import Row, appending, read_rows
from qdts.survey.truth import truth_of

MIDDLING = 0.1
"""NashConv of the middling policy, relative to that of uniform play."""
SOLVED = 1e-4
"""NashConv of the equilibrium, at most."""
MOST_ITERATIONS = 1_000_000
PAUSE = 10.0
"""Seconds between two reports of progress."""


def run_survey(
    file: Path,
    cells: Sequence[Cell],
    *,
    others: Sequence[Path] = (),
    threads: int = 1,
    report: Callable[[str], None] | None = None,
) -> int:
    """Measure the rows that neither the file nor others hold, and append them to the file.

    Args:
        file: The file of rows to append to.
        cells: What to measure.
        others: More files of rows, which are only read.
        threads: Threads to search with.
        report: Called every few seconds with the progress and the time left, in words.

    Returns:
        The number of rows that were measured.
    """
    with appending(file) as append:
        known = read_rows([file, *others])
        missing = {cell: wanted for cell in cells if (wanted := {*cell.keys} - known.keys())}
        clock = _Clock(sum(cell.work for cell in missing), len(missing), report)
        for cell, wanted in missing.items():
            clock.begin(cell)
            rows = measure_cell(cell, threads=threads, report=clock.report)
            append(row for row in rows if row.key in wanted)
            clock.end()
    return sum(map(len, missing.values()))


def measure_cell(cell: Cell, *, threads: int = 1, report: Callable[[float], None] | None = None) -> list[Row]:
    """All rows of a cell, in the order of its keys; `report` is called with the share of the work that is done."""
    game = load_game(cell.game)
    tree, options = game_tree(game), read_search(game, cell.search)
    policy = policy_of(game, cell.policy)
    table = None if policy is None else _table(policy, NOISES[cell.noise], cell.draw)
    searched = {}
    for k, seed in enumerate(cell.seeds):

        def progress(done: int, of: int, k: int = k) -> None:
            if report is not None:
                report((k + done / of) / len(cell.seeds))

        stages = search_everywhere(
            game, options, cell.visits, evaluator=table, seed=seed, threads=threads, report=progress
        )
        searched.update({(stage.visits, seed): stage for stage in stages})
    truth = None if policy is None else truth_of(policy)
    before = None if policy is None else tree_nash_conv(tree, policy.probability)
    rows = []
    for key in cell.keys:
        those = [searched[key.visits, seed] for seed in key.seeds]
        rows.append(
            Row(
                key=key,
                nash_conv=tree_nash_conv(tree, np.mean([f.move for f in those], axis=0)),
                before=before,
                milliseconds=1e3 * sum(f.seconds for f in those) / (len(those) * tree.num_infosets),
                q=None if truth is None else truth.error(those),
            )
        )
    return rows


@lru_cache(maxsize=len(GAMES) * len(POLICIES))
def policy_of(game: Game, name: str) -> Policy | None:
    """A policy of the survey by its name; None for a search that takes none.

    weak          uniform play
    middling      the average strategy of the first iteration of CFR with a tenth of uniform play's NashConv
    equilibrium   the average strategy of discounted CFR with a NashConv of at most 0.0001
    """
    if name == NO_POLICY:
        return None
    weak = uniform_policy(game)
    if name == "weak":
        return weak
    if name == "equilibrium":
        return solve(game, "dcfr", MOST_ITERATIONS, tolerance=SOLVED).policy
    tree = game_tree(game)
    solver, goal = make_solver(tree, "cfr"), MIDDLING * tree_nash_conv(tree, weak.probability)
    solver.run(1)
    while tree_nash_conv(tree, solver.average()) > goal:
        solver.run(1)
    return policy_on(tree, solver.average(), algorithm="cfr", iterations=solver.iterations)


def _table(policy: Policy, noise: Noise, draw: int) -> Table:
    return Table(policy, value_noise=noise.value, child_noise=noise.child, belief_noise=noise.belief, seed=draw)


class _Clock:
    """Reports the progress of a survey."""

    def __init__(self, work: int, cells: int, report: Callable[[str], None] | None) -> None:
        self.work, self.cells, self.show = work, cells, report
        self.done, self.number = 0, 0
        self.started = self.reported = time.monotonic()

    def begin(self, cell: Cell) -> None:
        """Begin the next cell."""
        self.cell = cell
        self.number += 1

    def end(self) -> None:
        """End a cell: it is measured and its rows are written."""
        self.done += self.cell.work

    def report(self, share: float) -> None:
        """Report the progress, given the share of the cell that is done."""
        now = time.monotonic()
        if self.show is None or now < self.reported + PAUSE:
            return
        self.reported = now
        done = self.done + share * self.cell.work
        left = (now - self.started) * (self.work - done) / done
        self.show(
            f"cell {self.number:,} of {self.cells:,}, {self.cell}: {share:.0%}; "
            f"{done / self.work:.1%} of all visits, about {left / 60:,.0f} min left"
        )

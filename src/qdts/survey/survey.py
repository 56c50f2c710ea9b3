"""A survey of searches: NashConv of what each plays, and how far its Q is from the truth, for many numbers of visits.

A *cell* is one search of one game with one policy and one set of errors, all its numbers of visits and all its seeds.
Cells are measured one after another, and the rows of each are written as soon as it is finished.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qdts.errors import InputError
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
from qdts.survey.rows import Key, Row, appending, read_rows
from qdts.survey.truth import truth_of

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
VISITS = tuple(4**k for k in range(8))
SEEDS = 4
SEARCHES = (
    "ismcts",
    "mt-ismcts",
    "mt-ismcts[self_determinization=split]",
    "mt-ismcts[self_determinization=pure]",
    "a-ismcts",
    "nash-ismcts",
    "nash-ismcts[belief=model]",
    "qdts-backprop",
    "qdts",
    "qdts[root_q=middle]",
    "qdts[decision=lcb]",
    "qdts[decision=lcb,eps_sample=0,eps_opponent=0]",
    "qdts[decision=lcb,estimate=counts]",
    "qdts[decision=lcb,estimate=sticky]",
    "qdts[decision=lcb,estimate=prior]",
    "qdts[decision=lcb,sample_q=expected,opponent_q=expected]",
    "qdts[decision=lcb,sample_q=running,opponent_q=running]",
    "qdts[decision=lcb,sample_q=masked,opponent_q=masked]",
    "qdts[share=true]",
    "qdts[belief=bayes]",
    "qdts[belief=exact]",
    "mmds",
    "mmds[step=5,root_step=5]",
)
POLICIES = ("weak", "middling", "equilibrium")
"""What a search may know; see `policy_of`."""
NO_POLICY = "none"
"""What stands in the place of a policy for a search that takes none."""
MIDDLING = 0.1
"""NashConv of the middling policy, as a share of uniform play's."""
SOLVED = 1e-4
"""NashConv of the equilibrium, at most."""
MOST_ITERATIONS = 1_000_000


class Noise(NamedTuple):
    """Errors of what a table says of its policy."""

    value: float  # standard deviation in V, in units of S
    child: float  # the same in V_c
    belief: float  # L1 distance in H


NOISES: Mapping[str, Noise] = {"exact": Noise(0.0, 0.0, 0.0), "noisy": Noise(0.05, 0.05, 0.1)}
DRAWS: Mapping[str, int] = {"kuhn_poker": 8}
"""How often errors are drawn, where once is not enough: a game with few information sets has few of them."""
PAUSE = 10.0
"""Seconds between two words on how far a survey is."""


@dataclass(frozen=True)
class Cell:
    """One search of one game with one policy and one set of errors."""

    game: str
    policy: str
    noise: str
    draw: int
    search: str
    visits: tuple[int, ...]
    """Ascending."""
    seeds: tuple[int, ...]

    def key(self, visits: int, seeds: tuple[int, ...]) -> Key:
        """Of one of its rows."""
        return Key(self.game, self.policy, self.noise, self.draw, self.search, visits, seeds)

    @property
    def keys(self) -> list[Key]:
        """Of all its rows: for each number of visits each seed, then all seeds."""
        groups = dict.fromkeys([*((seed,) for seed in self.seeds), self.seeds])
        return [self.key(visits, group) for visits in self.visits for group in groups]

    @property
    def work(self) -> int:
        """Visits that it takes."""
        return self.visits[-1] * len(self.seeds) * game_tree(load_game(self.game)).num_infosets

    def __str__(self) -> str:
        draw = f" {self.draw}" if self.draw else ""
        known = "" if self.policy == NO_POLICY else f" from {self.policy}, {self.noise}{draw}"
        return f"{self.game}: {self.search}{known}"


def cells_of(
    games: Sequence[str] = GAMES,
    searches: Sequence[str] = SEARCHES,
    visits: Sequence[int] = VISITS,
    seeds: int = SEEDS,
) -> list[Cell]:
    """The cells of a survey. Those that cost about the same stand together, so that `share_of` is fair."""
    if seeds < 1:
        raise InputError(f"seeds={seeds} is not possible for a survey, expected at least 1")
    stages = tuple(sorted({*visits}))
    return [
        Cell(game.spec, policy, noise, draw, search, stages, tuple(range(seeds)))
        for game in map(load_game, games)
        for search in searches
        for policy, noise, draw in _models(game, search)
    ]


def _models(game: Game, search: str) -> list[tuple[str, str, int]]:
    """What a search is to know: policy, noise and its draw."""
    if read_search(game, search).machine == "bandit":
        return [(NO_POLICY, "exact", 0)]
    draws = {"exact": 1, "noisy": DRAWS.get(game.spec, 1)}
    return [(policy, noise, draw) for policy in POLICIES for noise in NOISES for draw in range(draws[noise])]


def share_of(cells: Sequence[Cell], part: int, parts: int) -> list[Cell]:
    """The cells of one of so many parts, counted from 1; together the parts have every cell once."""
    if not 1 <= part <= parts:
        raise InputError(f"part {part} of {parts} does not exist, expected one from 1 to {parts}")
    return list(cells[part - 1 :: parts])


def run_survey(
    file: Path,
    cells: Sequence[Cell],
    *,
    others: Sequence[Path] = (),
    threads: int = 1,
    report: Callable[[str], None] | None = None,
) -> int:
    """Measure what neither the file nor others hold, and append it to the file; how many rows that were.

    `report` hears now and then, in words, what is being done and about how long the rest will take.
    """
    with appending(file) as append:
        known = read_rows([file, *others])
        missing = {cell: wanted for cell in cells if (wanted := {*cell.keys} - known.keys())}
        clock = _Clock(sum(cell.work for cell in missing), len(missing), report)
        for cell, wanted in missing.items():
            clock.begin(cell)
            rows = measure_cell(cell, threads=threads, report=clock.tell)
            append(row for row in rows if row.key in wanted)
            clock.end()
    return sum(map(len, missing.values()))


def measure_cell(cell: Cell, *, threads: int = 1, report: Callable[[float], None] | None = None) -> list[Row]:
    """All rows of a cell, in the order of its keys; `report` hears which share of the work is done."""
    game = load_game(cell.game)
    tree, options = game_tree(game), read_search(game, cell.search)
    policy = policy_of(game, cell.policy)
    table = None if policy is None else _table(policy, NOISES[cell.noise], cell.draw)
    found = {}
    for k, seed in enumerate(cell.seeds):

        def tell(done: int, of: int, k: int = k) -> None:
            if report is not None:
                report((k + done / of) / len(cell.seeds))

        stages = search_everywhere(game, options, cell.visits, evaluator=table, seed=seed, threads=threads, report=tell)
        found.update({(stage.visits, seed): stage for stage in stages})
    truth = None if policy is None else truth_of(policy)
    before = None if policy is None else tree_nash_conv(tree, policy.probability)
    rows = []
    for key in cell.keys:
        those = [found[key.visits, seed] for seed in key.seeds]
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
    """Tells how far a survey is."""

    def __init__(self, work: int, cells: int, report: Callable[[str], None] | None) -> None:
        self.work, self.cells, self.report = work, cells, report
        self.done, self.number = 0, 0
        self.started = self.told = time.monotonic()

    def begin(self, cell: Cell) -> None:
        """The next cell."""
        self.cell = cell
        self.number += 1

    def end(self) -> None:
        """The cell is measured and its rows are written."""
        self.done += self.cell.work

    def tell(self, share: float) -> None:
        """So much of the cell is done."""
        now = time.monotonic()
        if self.report is None or now < self.told + PAUSE:
            return
        self.told = now
        done = self.done + share * self.cell.work
        left = (now - self.started) * (self.work - done) / done
        self.report(
            f"cell {self.number:,} of {self.cells:,}, {self.cell}: {share:.0%}; "
            f"{done / self.work:.1%} of all visits, about {left / 60:,.0f} min left"
        )

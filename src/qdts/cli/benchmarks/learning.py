"""The results of learning: a table of games, each with its budget and what is to be reached, made cell by cell.

A cell is one game and one seed, and a run of its own in the folder of the table. What is there is not made again,
and what was left unfinished is resumed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from qdts.cli.benchmarks.strength import STRENGTHS, Figures
from qdts.files import write_whole
from qdts.games.registry import load_game
from qdts.learning.loop import Watch, resume, train
from qdts.learning.metrics import latest
from qdts.learning.run import Run, is_run, open_run
from qdts.play.agent import load_agent
from qdts.solving.measure import measure_policy
from qdts.solving.uniform import uniform_policy


class Task(NamedTuple):
    """A game to learn."""

    game: str
    minutes: float
    """The budget: minutes of self-play and training."""
    goal: float = 0.0
    """NashConv of the averaged weights, at most, as a mean over seeds."""
    share: bool = False
    """Whether the goal is a share of uniform play's NashConv."""
    by_play: bool = False
    """Whether the goal is the one of STRENGTHS instead: games are played for it."""


STRENGTH_FILE = "strength.json"
"""In a cell's folder: what was measured by play."""
IMPORTS = (
    "misere(game=liars_dice(dice_sides=4))",
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=1,numRanks=5,numHoleCards=1,numBoardCards=0 1)",
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=1 1,stack=6 6,firstPlayer=1 1,numSuits=2,"
    "numRanks=3,numHoleCards=1,numBoardCards=0 1)",
    "oshi_zumo(coins=5,size=1,horizon=5)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=4,points_order=random,imp_info=true))",
    "liars_dice(dice_sides=5,bidding_rule=reset-quantity)",
)
"""Games of OpenSpiel; they were chosen before any of them was learned."""
FILES = ("coup.py", "burglar.py", "i_doubt_it.py")
"""Games in docs/examples that took no part in any choice."""
TASKS = (
    Task("kuhn_poker", 1, 0.006),
    Task("leduc_poker", 8, 0.10),
    Task("liars_dice(dice_sides=4)", 10, 0.034),
    Task("liars_dice", 30, 0.12),
    Task("liars_dice(numdice=2,dice_sides=3)", 30, 0.12),
    Task("goofspiel(num_cards=4,imp_info=true,points_order=descending)", 10, 0.06),
    Task("kuhn_poker(players=3)", 2, 0.01),
    Task("matrix_game", 2, 0.01),
    Task("dark_hex(num_rows=2,num_cols=2,gameversion=adh)", 2, 0.01),
    Task("tic_tac_toe", 5, by_play=True),
    Task("connect_four", 30, by_play=True),
    Task("pig", 5, by_play=True),
    *(Task(f"openspiel:{name}", 10, 0.05, share=True) for name in IMPORTS),
    *(Task(f"docs/examples/{name}", 10, 0.05, share=True) for name in FILES),
)


@dataclass(frozen=True)
class Cell:
    """One game and one seed, with what was reached."""

    task: Task
    seed: int
    nash_conv: float | None = None
    """With averaged weights; None where the cell is not made."""
    newest: float | None = None
    uniform: float | None = None
    """NashConv of uniform play."""
    generations: int = 0
    strength: Figures | None = None
    """What was measured by play, where the goal says so."""

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        made: dict[str, Any] = {"nash_conv_average": self.nash_conv, "nash_conv": self.newest, "uniform": self.uniform}
        about: dict[str, Any] = {
            "game": self.task.game,
            "minutes": self.task.minutes,
            "goal": self.task.goal,
            "share": self.task.share,
        }
        if self.task.by_play:
            about, made = about | {"goal": STRENGTHS[self.task.game].goal}, {"strength": self.strength}
        return about | {"seed": self.seed, "generations": self.generations} | made


def tasks_of(only: str) -> list[Task]:
    """The games whose name contains a text."""
    return [task for task in TASKS if only in task.game]


def folder_of(out: Path, task: Task, seed: int) -> Path:
    """Where the run of a cell is."""
    name = "".join(c if c.isalnum() or c in "_-=." else "-" for c in task.game).strip("-")
    return out / f"{name[:120]}-{seed}"


def cells(out: Path, tasks: Sequence[Task], seeds: Sequence[int]) -> Iterator[tuple[Task, int, Path]]:
    """The cells that are to be made, seed by seed, so that every game comes early."""
    for seed in seeds:
        for task in tasks:
            yield task, seed, folder_of(out, task, seed)


def is_made(folder: Path, task: Task) -> bool:
    """Whether the run of a cell has spent its budget, and was measured."""
    return _is_trained(folder, task) and (not task.by_play or (folder / STRENGTH_FILE).exists())


def _is_trained(folder: Path, task: Task) -> bool:
    if not is_run(folder):
        return False
    lines = _run(folder, task).metrics()
    return bool(lines) and lines[-1]["seconds"] >= 60.0 * task.minutes


def make_cell(folder: Path, task: Task, seed: int, threads: int, watch: Watch) -> None:
    """Train one cell, from the start or from where it was left."""
    quick = ["measure.visits=1"]  # the searched policy is not part of the table
    if not is_run(folder):
        train(task.game, minutes=task.minutes, seed=seed, out=folder, settings=quick, threads=threads, watch=watch)
    elif not _is_trained(folder, task):
        resume(folder, game=load_game(task.game), threads=threads, watch=watch)
    if task.by_play:
        watch.doing("playing", 0.0)
        figures = STRENGTHS[task.game].measure(load_agent(_run(folder, task)), threads)
        text = json.dumps(figures, indent=2) + "\n"
        write_whole(folder / STRENGTH_FILE, lambda file: file.write(text.encode()))


def read_cell(folder: Path, task: Task, seed: int) -> Cell:
    """What was reached in a cell."""
    if not is_made(folder, task):
        return Cell(task, seed)
    run = _run(folder, task)
    game, lines = run.game, run.metrics()
    if task.by_play:
        figures = json.loads((folder / STRENGTH_FILE).read_text(encoding="utf-8"))
        return Cell(task, seed, generations=lines[-1]["generation"], strength=figures)
    even = measure_policy(game, uniform_policy(game)).nash_conv
    return Cell(
        task, seed, latest(lines, "nash_conv_average"), latest(lines, "nash_conv"), even, lines[-1]["generation"]
    )


def _run(folder: Path, task: Task) -> Run:
    return open_run(folder, load_game(task.game))

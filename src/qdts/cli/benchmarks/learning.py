"""The results of learning: a table of games, each with its budget and what is to be reached, made cell by cell.

A cell is one game and one seed, and a run of its own in the folder of the table. What is there is not made again,
and what was left unfinished is resumed. What a task measures of a run is written into it, as `measures.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from qdts.cli.benchmarks import cells as cells_
from qdts.cli.benchmarks.cells import file_name, run_of
from qdts.cli.benchmarks.kept import Line, read_kept
from qdts.cli.benchmarks.machine import machine
from qdts.cli.benchmarks.measures import (
    Figure,
    Measure,
    gain_on_first,
    most_memory,
    nash_conv,
    read_figure,
    return_against,
    share_of_uniform,
    slowest_generation,
)
from qdts.cli.benchmarks.perfect_measures import losses_to_exact, right_moves, wins_at_pig
from qdts.errors import InputError
from qdts.files import write_whole
from qdts.learning.loop import Watch
from qdts.memory import forget_peak


class Task(NamedTuple):
    """A game to learn."""

    game: str
    minutes: float
    """The budget: minutes of self-play and training, at most."""
    measures: tuple[Measure, ...]
    """What is measured, with the goals."""


ABOUT = ("qdts", "torch", "python", "cpu", "cores")
"""What is kept of the machine that made a cell."""
BESIDE_FIGURE = ("name", "goal", "above")
"""What is written of a measure besides its figure."""
MEASURES = "measures.json"
"""The file of a run with the figures of its measures."""
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
STONES, SEATS = ("phantom_ttt", "dark_hex(gameversion=adh)"), ("mt-ismcts:1000", "ismcts:1000")
"""Games of hidden stones, which are measured cell by cell, and whom they are played against."""
TASKS = (
    Task("kuhn_poker", 1, (nash_conv(0.006),)),
    Task("leduc_poker", 8, (nash_conv(0.10),)),
    Task("liars_dice(dice_sides=4)", 10, (nash_conv(0.034),)),
    Task("liars_dice", 30, (nash_conv(0.12),)),
    Task("liars_dice(numdice=2,dice_sides=3)", 30, (nash_conv(0.12),)),
    Task("goofspiel(num_cards=4,imp_info=true,points_order=descending)", 10, (nash_conv(0.06),)),
    Task("kuhn_poker(players=3)", 2, (nash_conv(0.01),)),
    Task("matrix_game", 2, (nash_conv(0.01),)),
    Task("dark_hex(num_rows=2,num_cols=2,gameversion=adh)", 2, (nash_conv(0.01),)),
    Task("tic_tac_toe", 5, (losses_to_exact(400, 200),)),
    Task("connect_four", 30, (return_against("uct:5000", 200, 200), right_moves(400, 200))),
    Task("pig", 5, (wins_at_pig(10_000, 16, 0.47),)),
    *(Task(f"openspiel:{name}", 10, (share_of_uniform(0.05),)) for name in IMPORTS),
    *(Task(f"docs/examples/{name}", 10, (share_of_uniform(0.05),)) for name in FILES),
    *(Task(name, 30, (share_of_uniform(1 / 3), *(return_against(seat, 400) for seat in SEATS))) for name in STONES),
    Task("hearts", 30, (slowest_generation(180), most_memory(2000), gain_on_first(2000))),
)


@dataclass(frozen=True)
class Cell:
    """One game and one seed, with what was reached."""

    task: Task
    seed: int
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """By the names of measures; those that are not made are missing."""
    minutes: float = 0.0
    """The budget of its run, the task's or less; 0 without a run."""
    generations: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    """Where it was made: processor, threads, versions."""

    @property
    def is_made(self) -> bool:
        """Whether everything is measured."""
        return all(measure.name in self.figures for measure in self.task.measures)

    def needs(self, share: float) -> bool:
        """Whether it is to be made, or missed a goal with less than this share of the budget: that says nothing yet."""
        found = [(measure, self.figures.get(measure.name)) for measure in self.task.measures]
        missed = any(figure is None or measure.is_reached([figure]) is False for measure, figure in found)
        return not self.is_made or (missed and self.minutes < share * self.task.minutes)

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        measured = [
            {"name": m.name, "goal": m.goal, "above": m.above, **self.figures[m.name].as_data()}
            for m in self.task.measures
            if m.name in self.figures
        ]
        about = {"game": self.task.game, "minutes": self.minutes or self.task.minutes, "seed": self.seed}
        return about | {"generations": self.generations, "measures": measured, "about": dict(self.about)}


def tasks_of(only: str) -> list[Task]:
    """The games whose name contains a text."""
    return [task for task in TASKS if only in task.game]


def folder_of(out: Path, task: Task, seed: int) -> Path:
    """Where the run of a cell is."""
    return out / f"{file_name(task.game)}-{seed}"


def cells(out: Path, tasks: Sequence[Task], seeds: Sequence[int]) -> Iterator[tuple[Task, int, Path]]:
    """The cells that are to be made, seed by seed, so that every game comes early."""
    for seed in seeds:
        for task in tasks:
            yield task, seed, folder_of(out, task, seed)


def is_trained(folder: Path, task: Task) -> bool:
    """Whether the run of a cell has spent its budget."""
    return cells_.is_trained(folder, task.game)


def minutes_of(task: Task, cells: Sequence[Cell]) -> str:
    """The budget, and in brackets what the runs of some cells had that did with less."""
    less = dict.fromkeys(f"{cell.minutes:g}" for cell in cells if cell.figures and cell.minutes < task.minutes)
    return f"{task.minutes:g} ({', '.join(less)})" if less else f"{task.minutes:g}"


def train_cell(folder: Path, task: Task, seed: int, threads: int, watch: Watch, share: float = 1.0) -> None:
    """Train one cell for a share of its budget, or from where it was left; what was measured before is forgotten."""
    (folder / MEASURES).unlink(missing_ok=True)
    forget_peak()
    cells_.train_cell(folder, task.game, share * task.minutes, seed, threads=threads, watch=watch)


def measure_cell(folder: Path, task: Task, threads: int, report: Callable[[str], None]) -> None:
    """Measure what is not measured yet, one by one; `report` is called with what is measured."""
    figures = _figures(folder)
    for measure in task.measures:
        if measure.name in figures:
            continue
        report(f"measuring {folder}: {measure.name}")
        figures[measure.name] = measure.find(run_of(folder, task.game), threads)
        _write_figures(folder, figures)


def read_cells(out: Path, tasks: Sequence[Task], seeds: Sequence[int], kept: Path | None, threads: int) -> list[Cell]:
    """What was reached in all cells: by the runs in the folder, or in the file of what is kept."""
    lines = {name_of(line): line for line in read_kept(kept)} if kept is not None else {}
    about = {"threads": threads, **{name: value for name, value in machine().items() if name in ABOUT}}
    found = []
    for task, seed, folder in cells(out, tasks, seeds):
        cell = _of_run(folder, task, seed, about)
        line = lines.get(name_of(cell.as_data()))
        found.append(cell if cell.is_made or line is None else _of_line(line, task, seed, f"'{kept}'"))
    return found


def name_of(line: Line) -> str:
    """The name of a cell from what was written of it."""
    return f"{line.get('game')} {line.get('seed')}"


def _of_run(folder: Path, task: Task, seed: int, about: Mapping[str, Any]) -> Cell:
    if not is_trained(folder, task):
        return Cell(task, seed)
    run = run_of(folder, task.game)
    return Cell(task, seed, _figures(folder), run.minutes or task.minutes, run.metrics()[-1]["generation"], about)


def _of_line(line: Line, task: Task, seed: int, source: str) -> Cell:
    """A cell from what was written of it; nothing is made where that had more than the budget."""
    try:
        if line["minutes"] > task.minutes:
            return Cell(task, seed)
        figures = {data["name"]: read_figure({k: v for k, v in data.items() if k not in BESIDE_FIGURE})
                   for data in line["measures"]}  # fmt: skip
        return Cell(task, seed, figures, line["minutes"], line["generations"], line["about"])
    except (TypeError, KeyError) as error:
        raise InputError(f"{source} has a cell that can't be read ({error}): remove {name_of(line)}") from error


def _figures(folder: Path) -> dict[str, Figure]:
    """The figures of a cell so far."""
    file = folder / MEASURES
    data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: read_figure(figure) for name, figure in data.items()}


def _write_figures(folder: Path, figures: Mapping[str, Figure]) -> None:
    text = json.dumps({name: figure.as_data() for name, figure in figures.items()}, indent=2) + "\n"
    write_whole(folder / MEASURES, lambda file: file.write(text.encode()))

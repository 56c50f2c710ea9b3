"""The table of results, as a block of a page (`qdts/pages.py`): `table`, every game with its measures and goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from qdts.cli.benchmarks.learning import Cell, minutes_of
from qdts.cli.benchmarks.measures import Figure, Measure
from qdts.pages import NOTHING, Blocks, table

KIND = "results"
"""Of the block."""
HEAD = ("game", "minutes", "threads", "measure", "asked", "each seed", "mean", "worst", "", "generations")


def blocks_of(cells: Sequence[Cell]) -> Blocks:
    """Every block by its name."""
    return {"table": lambda _: table_of(cells)}


def table_of(cells: Sequence[Cell]) -> str:
    """A line for each measure of each game, with all seeds, and how many cells there are."""
    rows = []
    for task in dict.fromkeys(cell.task for cell in cells):
        of = [cell for cell in cells if cell.task == task and cell.figures]
        first = [f"`{task.game}`", minutes_of(task, of), _distinct(cell.about.get("threads") for cell in of)]
        last = ", ".join(f"{cell.generations:,}" for cell in of) or NOTHING
        for measure in task.measures:
            rows.append([*first, measure.name, measure.words, *_figures(measure, of), last])
            first, last = ["", "", ""], ""
    made = [cell for cell in cells if cell.is_made]
    seeds = ", ".join(str(seed) for seed in sorted({cell.seed for cell in cells}))
    where = sorted({str(cell.about.get("cpu")) for cell in made})
    head = f"{len(made)} of {len(cells)} cells are made, of seeds {seeds}" + "".join(f"; {place}" for place in where)
    return f"{head}.\n\n{table(HEAD, rows)}"


def _distinct(values: Iterable[object]) -> str:
    """Different values, in their order."""
    return ", ".join(dict.fromkeys(str(value) for value in values)) or NOTHING


def _figures(measure: Measure, cells: Sequence[Cell]) -> tuple[str, str, str, str]:
    """Each seed, the mean, the worst, and whether the goal is reached."""
    found = [(cell.seed, cell.figures[measure.name]) for cell in cells if measure.name in cell.figures]
    if not found:
        return "not made", NOTHING, NOTHING, ""
    figures = [figure for _, figure in found]
    worst = (min if measure.above else max)(figure.value for figure in figures)
    verdict = {True: "reached", False: "missed", None: ""}[measure.is_reached(figures)]
    each = ", ".join(f"{seed}: {_words(figure)}" for seed, figure in found)
    return each, _number(fmean(figure.value for figure in figures)), _number(worst), verdict


def _words(figure: Figure) -> str:
    if figure.interval is None:
        return _number(figure.value)
    return f"{_number(figure.value)} ({_number(figure.interval[0])} to {_number(figure.interval[1])})"


def _number(value: float) -> str:
    """Three significant digits from 0.1 on, else two."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3f}" if abs(value) >= 0.0995 else f"{value:.2g}"

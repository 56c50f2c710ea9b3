"""Runs side by side: a table on the terminal, and a picture with a panel for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdts.cli.display.output import console
from qdts.files import write_whole
from qdts.plotting import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qdts.learning.metrics import Metric
    from qdts.learning.report.comparison import Compared

COLUMNS = 2
"""Panels beside each other, at most."""


def as_data(runs: Sequence[Compared], metrics: Sequence[Metric], across: str) -> dict[str, Any]:
    """What is compared, for JSON."""
    from qdts.learning.report.comparison import newest, points_of

    return {
        "metrics": [metric.name for metric in metrics],
        "across": across,
        "runs": [
            {
                "run": str(run.folder),
                "game": run.game,
                "seed": run.seed,
                "generations": run.metrics[-1]["generation"],
                "games": run.metrics[-1]["games"],
                "seconds": run.metrics[-1]["seconds"],
                "newest": {metric.name: newest(run, metric) for metric in metrics},
                "curves": {
                    name.replace(run.name, metric.name, 1): points
                    for metric in metrics
                    for name, points in points_of(run, metric, across).items()
                },
            }
            for run in runs
        ],
    }


def show_runs(runs: Sequence[Compared], metrics: Sequence[Metric]) -> None:
    """Print the newest figures: a column for each run."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from qdts.learning.report.comparison import table_head, table_rows

    columns = [table_head(metrics), *table_rows(runs, metrics)]
    first, *rows = zip(*columns, strict=True)
    table = Table(*map(escape, first), box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def save_picture(runs: Sequence[Compared], metrics: Sequence[Metric], across: str, path: Path) -> None:
    """Save the curves of all runs: a panel for each metric, the same colour for a run in all of them."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(metrics))
    rows = -(-len(metrics) // columns)
    figure = Figure(figsize=(6.2 * columns, 3.8 * rows), dpi=160, layout="constrained")
    for place, metric in enumerate(metrics, 1):
        _draw(figure.add_subplot(rows, columns, place), runs, metric, across)
    kind = path.suffix.removeprefix(".")
    write_whole(path, lambda file: figure.savefig(file, format=kind))


def _draw(axes: Axes, runs: Sequence[Compared], metric: Metric, across: str) -> None:
    """The curves of one metric."""
    from qdts.learning.report.picture import COLOURS

    for number, run in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        for series in run.series(metric, across):
            x, y = [x for x, _ in series.points], [y for _, y in series.points]
            style = "o" if series.dots else "-"
            axes.plot(x, y, style, color=colour, lw=1.6, ms=4, fillstyle="none", label=series.name)
            if series.band:
                places, low, high = zip(*series.band, strict=True)
                axes.fill_between(places, low, high, color=colour, alpha=0.12, lw=0)
    axes.set_xscale("log")
    if metric.figure is not None and metric.figure.log:
        axes.set_yscale("log")
    axes.set_title(metric.label, loc="left", fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(metric.unit)
    axes.legend(fontsize=8, frameon=False)
    plain(axes)

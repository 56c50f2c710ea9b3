"""Runs side by side: what is compared, and an HTML page of it that needs no other file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from qdts.errors import InputError, unknown
from qdts.files import write_whole
from qdts.learning.metrics import BY_NAME, METRICS, Line, Metric, latest
from qdts.learning.report.curves import series_of, thinned
from qdts.learning.report.page import STYLE
from qdts.learning.report.picture import Series, picture
from qdts.learning.run import is_run, read_metrics

USUAL = ("nash_conv_average", "return_uniform", "return_search", "value_error", "belief_error")
"""The metrics that are compared where none is named, as far as a run has them."""
NOT_COMPARED = {"generation", "seconds", *(metric.interval for metric in METRICS if metric.interval)}
"""What is no curve: the axes, and the intervals of other metrics."""


class Compared(NamedTuple):
    """What is known of a run without its game and its networks."""

    name: str
    """How it is called beside the others."""
    folder: Path
    game: str
    seed: int
    metrics: list[Line]

    def series(self, metric: Metric, across: str = "seconds") -> list[Series]:
        """The curves of a metric, named after the run."""
        curves = series_of(thinned(self.metrics), metric, across)
        parts = [curve.name.removeprefix(metric.curve) for curve in curves]
        return [c._replace(name=f"{self.name}{part}", level=False) for c, part in zip(curves, parts, strict=True)]


def read_runs(folders: Sequence[Path]) -> list[Compared]:
    """The runs in some folders; each is named by the last parts of its path that tell it from the others.

    Raises:
        InputError: A folder holds no run, or a run without a complete generation, or is given twice.
    """
    whole = [folder.resolve() for folder in folders]
    for i, folder in enumerate(whole):
        if folder in whole[:i]:
            raise InputError(f"the run '{folders[i]}' is given twice, expected different ones")
    return [_read(folder, _short(path, whole)) for folder, path in zip(folders, whole, strict=True)]


def _short(path: Path, among: Sequence[Path]) -> str:
    """The fewest last parts of a path that no other ends with."""
    parts = next(k for k in range(1, len(path.parts) + 1) if sum(p.parts[-k:] == path.parts[-k:] for p in among) == 1)
    return str(Path(*path.parts[-parts:]))


def _read(folder: Path, name: str) -> Compared:
    if not is_run(folder):
        raise InputError(f"'{folder}' is not the folder of a run: it has no config.json")
    try:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        game, seed = str(data["game"]), int(data["seed"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"the config.json of the run '{folder}' is malformed ({error!r})") from error
    metrics = read_metrics(folder / "metrics.jsonl")
    if not metrics:
        raise InputError(f"the run '{folder}' has no complete generation yet, expected one to compare")
    return Compared(name, folder, game, seed, metrics)


def choose_metrics(runs: Sequence[Compared], names: Sequence[str]) -> list[Metric]:
    """The metrics of these names, or the usual ones that some run has.

    Raises:
        InputError: A name is unknown, or no run has the metric.
    """
    possible = {metric.name: metric for metric in METRICS if metric.name not in NOT_COMPARED}
    for name in names:
        if name not in possible:
            raise unknown("metric", name, possible)
        if not any(points_of(run, possible[name]) for run in runs):
            raise InputError(f"none of these runs has measured {name}, expected one of {', '.join(_there(runs))}")
    if names:
        return [possible[name] for name in dict.fromkeys(names)]
    there = _there(runs)
    return [BY_NAME[name] for name in USUAL if name in there] or [BY_NAME[name] for name in there[:1]]


def points_of(run: Compared, metric: Metric, across: str = "seconds") -> dict[str, list[tuple[float, float]]]:
    """The points of a metric's curves by their names, where there are any."""
    return {series.name: list(series.points) for series in run.series(metric, across) if series.points}


def _there(runs: Sequence[Compared]) -> list[str]:
    """The metrics that some run has."""
    return [m.name for m in METRICS if m.name not in NOT_COMPARED and any(points_of(run, m) for run in runs)]


def newest(run: Compared, metric: Metric) -> float | None:
    """The newest value of a metric that is one number."""
    value = latest(thinned(run.metrics) if metric.derived else run.metrics, metric.name)
    return value if isinstance(value, int | float) else None


def write_comparison(runs: Sequence[Compared], metrics: Sequence[Metric], across: str, path: Path) -> None:
    """Write the page, whole or not at all."""
    text = comparison_page(runs, metrics, across)
    write_whole(path, lambda file: file.write(text.encode()))


def comparison_page(runs: Sequence[Compared], metrics: Sequence[Metric], across: str = "seconds") -> str:
    """The page as text, which is also well-formed XML."""
    games = sorted({run.game for run in runs})
    title = escape(f"{len(runs)} runs of {', '.join(games)}")
    head = "".join(f"<th>{escape(text)}</th>" for text in table_head(metrics))
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in table_rows(runs, metrics)
    )
    pictures = (
        picture(
            metric.label,
            [series for run in runs for series in run.series(metric, across)],
            log_y=metric.figure is not None and metric.figure.log,
            zero=metric.figure is None or metric.figure.zero,
            across=across,
        )
        for metric in metrics
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{title}</title>'
        f"<style>{STYLE} th {{ text-align: left; font-weight: normal; color: #868e96; padding-right: 1.6em; }}</style>"
        f"</head>\n<body><h1>{title}</h1><p>the newest figures; seconds are those of self-play and fitting</p>\n"
        f"<table><tr>{head}</tr>{rows}</table>\n"
        f'<div class="pictures">\n{"".join(text for text in pictures if text)}\n</div>\n</body></html>\n'
    )


def table_head(metrics: Sequence[Metric]) -> list[str]:
    """The columns of a table of runs."""
    return ["run", "game", "seed", "generations", "games", "seconds", *(metric.label for metric in metrics)]


def table_rows(runs: Sequence[Compared], metrics: Sequence[Metric]) -> list[list[str]]:
    """A row for each run, with the newest figures."""
    rows = []
    for run in runs:
        last = run.metrics[-1]
        about = [run.name, run.game, str(run.seed), f"{last['generation']:,}", f"{last['games']:,}"]
        values = [newest(run, metric) for metric in metrics]
        rows.append([*about, f"{last['seconds']:,.1f}", *("" if v is None else f"{v:.4g}" for v in values)])
    return rows

"""The report of a run: one HTML page with pictures, which needs no other file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from qdts.files import write_whole
from qdts.learning.config import flat
from qdts.learning.metrics import (
    BY_NAME,
    FIGURES,
    METRICS,
    Line,
    generation_of,
    is_matched,
    label,
    latest,
    returns_of,
)
from qdts.learning.report.curves import series_of, thinned
from qdts.learning.report.picture import picture
from qdts.learning.run import Run

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #212529; background: #fff; margin: 2rem auto; max-width: 1000px;
       padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1rem; margin: 0; } h1 + p { color: #868e96; margin: 0 0 1.2rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); gap: 1.6rem; }
figure { margin: 0; } svg { width: 100%; } .keys { margin: 0.2rem 0; font-size: 12px; color: #495057; }
.keys span { margin-right: 1em; white-space: nowrap; }
.keys i { display: inline-block; width: 12px; height: 3px; margin-right: 4px; vertical-align: middle; }
table { border-collapse: collapse; margin: 0.4rem 0 1.6rem; } td { padding: 1px 1.6em 1px 0; }
td:first-child { color: #868e96; } .settings { columns: 3 260px; font-size: 12px; }
"""


def write_report(run: Run) -> None:
    """Write the page, whole or not at all."""
    text = page(run, run.metrics())
    write_whole(run.report, lambda file: file.write(text.encode()))


def page(run: Run, metrics: Sequence[Line]) -> str:
    """The page as text, which is also well-formed XML."""
    name = escape(run.game.spec)
    budget = f"{run.generations:,} generations" if run.generations is not None else f"{run.minutes:g} minutes"
    settings = "".join(
        f"<div>{escape(key)} = <b>{escape(_words(value))}</b></div>" for key, value in flat(run.config).items()
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{name}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{name}</h1>"
        f"<p>seed {run.seed}, a budget of {budget}; seconds are those of self-play and fitting</p>\n"
        f"{_table(_figures(metrics))}\n"
        f'<div class="pictures">\n{_pictures(metrics)}\n</div>\n'
        f'<h2>Settings</h2>\n<div class="settings">{settings}</div>\n</body></html>\n'
    )


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _table(figures: Mapping[str, str]) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td><b>{escape(text)}</b></td></tr>" for name, text in figures.items())
    return f"<table>{rows}</table>" if rows else "<p>No generation is done yet.</p>"


def _figures(metrics: Sequence[Line]) -> dict[str, str]:
    """The newest figures, by their labels."""
    if not metrics:
        return {}
    last = metrics[-1]
    figures = {
        label("generation"): f"{last['generation']:,}",
        label("games"): f"{last['games']:,}",
        label("seconds"): f"{last['seconds']:,.1f}",
    }
    for name in ("nash_conv", "nash_conv_average", "nash_conv_uniform", "value_error", "belief_error"):
        value = latest(metrics, name)
        if value is not None:
            figures[f"{label(name)} ({BY_NAME[name].unit}){_earlier(metrics, name)}"] = f"{value:.4g}"
    matched = next((line for line in reversed(metrics) if is_matched(line)), {})
    for found in returns_of(matched):
        low, high = found.interval or (math.nan, math.nan)
        name = f"return against {found.opponent}{_earlier(metrics, 'match_games')}"
        figures[name] = f"{found.mean:.4g} ({low:.4g} to {high:.4g})"
    for row in latest(metrics, "nash_conv_search") or []:
        name = f"{label('nash_conv_search')}, {row['visits']:,} visits{_earlier(metrics, 'nash_conv_search')}"
        figures[name] = f"{row['nash_conv']:.4g}"
    return figures


def _earlier(metrics: Sequence[Line], name: str) -> str:
    """The generation whose newest value of a metric it is, unless it is the last one or all have the same value."""
    generation = generation_of(metrics, name)
    return "" if BY_NAME[name].constant or generation == metrics[-1]["generation"] else f", generation {generation:,}"


def _pictures(metrics: Sequence[Line]) -> str:
    """All pictures that have something to show."""
    lines = thinned(metrics)
    made = (
        picture(
            figure.title,
            [series for metric in METRICS if metric.figure == figure for series in series_of(lines, metric)],
            log_y=figure.log,
            zero=figure.zero,
        )
        for figure in FIGURES
    )
    return "\n".join(text for text in made if text)

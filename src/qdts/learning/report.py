"""The report of a run: one HTML page with pictures, which needs nothing beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from qdts.files import write_whole
from qdts.learning.config import flat
from qdts.learning.picture import Point, Series, picture
from qdts.learning.run import Metrics, Run

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
    """Write the page anew, whole or not at all."""
    text = page(run, run.metrics())
    write_whole(run.report, lambda file: file.write(text.encode()))


def page(run: Run, metrics: Sequence[Metrics]) -> str:
    """The page as text; it is well-formed XML, too."""
    name = escape(run.game.spec)
    budget = f"{run.generations:,} generations" if run.generations is not None else f"{run.minutes:g} minutes"
    settings = "".join(
        f"<div>{escape(key)} = <b>{escape(_words(value))}</b></div>" for key, value in flat(run.config).items()
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{name}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{name}</h1>"
        f"<p>seed {run.seed}, a budget of {budget}, seconds of self-play and fitting</p>\n"
        f"{_table(_figures(metrics))}\n"
        f'<div class="pictures">\n{_pictures(metrics)}\n</div>\n'
        f'<h2>Settings</h2>\n<div class="settings">{settings}</div>\n</body></html>\n'
    )


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _table(figures: Mapping[str, str]) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td><b>{escape(text)}</b></td></tr>" for name, text in figures.items())
    return f"<table>{rows}</table>" if rows else "<p>No generation is done yet.</p>"


def last_of(metrics: Sequence[Metrics], name: str) -> Any:
    """The newest figure of a name; None where it was never measured."""
    return next((line[name] for line in reversed(metrics) if line.get(name) is not None), None)


def _figures(metrics: Sequence[Metrics]) -> dict[str, str]:
    """The newest figures, in words."""
    if not metrics:
        return {}
    last = metrics[-1]
    figures = {
        "generation": f"{last['generation']:,}",
        "games": f"{last['games']:,}",
        "seconds": f"{last['seconds']:,.1f}",
    }
    named = {
        "nash_conv": "NashConv of the network",
        "nash_conv_average": "NashConv with averaged weights",
        "value_error": "error of V, in units of half the range of returns",
        "belief_error": "error of H, L1 distance",
    }
    for key, words in named.items():
        value = last_of(metrics, key)
        if value is not None:
            figures[words] = f"{value:.4g}"
    for row in last_of(metrics, "nash_conv_search") or []:
        figures[f"NashConv of the search with {row['visits']:,} visits"] = f"{row['nash_conv']:.4g}"
    return figures


def _pictures(metrics: Sequence[Metrics]) -> str:
    lines = _drawn(metrics)

    def of(names: Mapping[str, str]) -> list[Series]:
        return [Series(words, _curve(lines, key)) for words, key in names.items()]

    nash_conv = of({"network": "nash_conv", "averaged weights": "nash_conv_average"})
    losses = of({"P": "policy_loss", "V": "value_loss", "V_c": "child_loss", "H": "belief_loss"})
    errors = of({"V": "value_error", "H": "belief_error"})
    residuals = of({"target": "value_residual", "plain outcome": "outcome_residual"})
    drawn = (
        picture("NashConv", nash_conv + _searched(lines)),
        picture("Losses", losses),
        picture("Errors of V and H against what follows from P", errors),
        picture("Residual variance of V before it is fitted", residuals),
        picture("Entropy of policy targets, in nats", of({"entropy": "entropy"}), log_y=False),
        picture("Games a second", of({"games": "games_per_second"}), log_y=False),
        picture("Visits a second", of({"visits": "visits_per_second"}), log_y=False),
    )
    return "\n".join(text for text in drawn if text)


def _drawn(metrics: Sequence[Metrics]) -> list[Metrics]:
    """What is drawn, with speeds: all lines with NashConv, and of the rest the last in each hundredth of a decade."""
    start: Metrics = {"games": 0, "seconds": 0.0}
    kept: dict[tuple[bool, int], tuple[Metrics, Metrics]] = {}
    for before, line in pairwise([start, *metrics]):
        measured = line.get("nash_conv") is not None
        column = line["generation"] if measured else math.floor(100 * math.log10(max(line["seconds"], 1e-9)))
        kept[measured, column] = before, line
    return [
        {
            **line,
            "games_per_second": (line["games"] - before["games"]) / seconds,
            "visits_per_second": line["visits"] / seconds,
        }
        for before, line in sorted(kept.values(), key=lambda pair: pair[1]["generation"])
        if (seconds := line["seconds"] - before["seconds"]) > 0.0
    ]


def _curve(metrics: Iterable[Metrics], name: str) -> list[Point]:
    return [(line["seconds"], line[name]) for line in metrics if line.get(name) is not None]


def _searched(metrics: Iterable[Metrics]) -> list[Series]:
    """Dots for the searched policy, by visits."""
    found: dict[int, list[Point]] = {}
    for line in metrics:
        for row in line.get("nash_conv_search") or []:
            found.setdefault(row["visits"], []).append((line["seconds"], row["nash_conv"]))
    return [Series(f"search, {visits:,} visits", points, dots=True) for visits, points in found.items()]

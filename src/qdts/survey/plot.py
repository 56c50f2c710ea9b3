"""The picture of a survey: NashConv against visits, one plot for each policy and noise, one line for each search."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from qdts.files import write_whole
from qdts.plotting import plain
from qdts.survey.page import best_rows, chosen, mean_over_draws, searches_in, visits_in
from qdts.survey.plan import NO_POLICY, NOISES, POLICIES
from qdts.survey.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0b7285", "#e8590c", "#5f3dc4", "#2b8a3e", "#c2255c", "#1864ab", "#e67700", "#495057", "#862e9c", "#66a80f")
STYLES = ("-", "--", "-.")
"""They change from line to line, so that two lines on top of each other both show."""
MANY = 10
"""With more lines than this, only searches without changed options and ALWAYS are drawn."""
ALWAYS = "qdts[decision=lcb]"
GREY, DOTS = "#868e96", (0, (1, 2))
"""The policy without a search."""
LEAST = 1e-4
"""Smaller values are drawn here."""


def save_picture(rows: Sequence[Row], game: str, path: Path) -> None:
    """Draw the rows of a game, with both axes logarithmic."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator

    of = best_rows(chosen(rows, game=game))
    searches = searches_in(of)
    if len(searches) > MANY:
        searches = [search for search in searches if "[" not in search or search == ALWAYS]
    looks = dict(zip(searches, zip(cycle(COLOURS), cycle(STYLES)), strict=False))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": game}):
        figure = Figure(figsize=(11, 6.4), layout="constrained")
        grid = figure.subplots(len(NOISES), len(POLICIES), sharex=True, sharey="col", squeeze=False)
        for across, noise in zip(grid, NOISES, strict=True):
            for axes, policy in zip(across, POLICIES, strict=True):
                shown = chosen(of, policy=policy, noise=noise)
                for search, (colour, style) in looks.items():
                    _line(axes, chosen(shown + chosen(of, policy=NO_POLICY), search=search), colour, style)
                before = mean_over_draws(shown, lambda row: row.before)
                if before is not None:
                    axes.axhline(max(before, LEAST), color=GREY, lw=1, ls=DOTS)
                axes.set_xscale("log", base=4, subs=())
                axes.xaxis.set_major_formatter("{x:,.0f}")
                axes.set_yscale("log", subs=())
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter("{x:g}")
                axes.set_title(f"{policy} policy, {noise} models", loc="left", fontsize=9)
                plain(axes)
        for axes in grid[-1]:
            axes.set_xlabel("visits")
        for axes in grid[:, 0]:
            axes.set_ylabel("NashConv")
        figure.suptitle(game, x=0.01, ha="left", fontsize=11)
        handles = [Line2D([], [], color=c, ls=style, lw=1.4, label=search) for search, (c, style) in looks.items()]
        handles.append(Line2D([], [], color=GREY, lw=1, ls=DOTS, label="without search"))
        figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
        write_whole(path, lambda file: figure.savefig(file, format="svg", metadata={"Date": None}))


def _line(axes: Axes, rows: Sequence[Row], colour: str, style: str) -> None:
    points = [(v, mean_over_draws(chosen(rows, visits=v), lambda row: row.nash_conv)) for v in visits_in(rows)]
    shown = [(v, max(y, LEAST)) for v, y in points if y is not None]
    if shown:
        axes.plot(*zip(*shown, strict=True), color=colour, ls=style, lw=1.4)

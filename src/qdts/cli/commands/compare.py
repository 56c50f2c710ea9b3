"""`qdts compare`: runs side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from qdts.cli.commands.arguments import AsJson
from qdts.cli.display.output import check_writable, console, print_json
from qdts.cli.display.plot import KINDS
from qdts.errors import InputError, unknown

EXAMPLES = """[bold]Examples[/]
  qdts compare runs/leduc-1 runs/leduc-2
  qdts compare runs/leduc-* --out leduc.png --out leduc.html
  qdts compare runs/a runs/b --metric nash_conv_average --metric value_error
  qdts compare runs/a runs/b --metric games_per_second --across generations
  qdts compare runs/a runs/b --json

Every metric of a run can be compared: docs/learning.md lists them. A run that
still learns is shown as far as it is. Nothing of a run is run: neither its
networks nor the file of its game."""


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A metric, such as nash_conv_average; can be repeated. Default: NashConv with averaged weights, "
            "returns against others, errors of V and H, as far as they were measured.",
            show_default=False,
        ),
    ] = None,
    across: Annotated[str, typer.Option(help="What curves are drawn against: seconds, games or generations.")] = (
        "seconds"
    ),
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Draw the curves: FILE ends in .png, .svg or .pdf, or in .html for a page in one file; can be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs: their newest figures in a table, and their curves in one picture or page."""
    from qdts.cli.display.comparison import as_data, save_picture, show_runs
    from qdts.learning.report.comparison import choose_metrics, read_runs, write_comparison
    from qdts.learning.report.curves import ACROSS

    if across not in ACROSS:
        raise unknown("axis", across, ACROSS)
    for path in out or []:
        if path.suffix.removeprefix(".") not in (*KINDS, "html"):
            raise InputError(
                f"'{path}' is no name for a picture, expected one that ends in .{', .'.join(KINDS)} or .html"
            )
        check_writable(path)
    compared = read_runs(runs)
    metrics = choose_metrics(compared, metric or [])
    if len({run.game for run in compared}) > 1:
        print("qdts: note: these are runs of different games, whose figures have different scales", file=sys.stderr)
    for path in out or []:
        if path.suffix == ".html":
            write_comparison(compared, metrics, across, path)
        else:
            save_picture(compared, metrics, across, path)
    if as_json:
        print_json(as_data(compared, metrics, across))
        return
    show_runs(compared, metrics)
    for path in out or []:
        console().print(f"written: {path}", markup=False, soft_wrap=True)

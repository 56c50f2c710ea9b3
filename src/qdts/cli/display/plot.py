"""The picture that `qdts solve --plot` saves: NashConv against iterations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.plotting import plain

if TYPE_CHECKING:
    from qdts.solving.solver import Solution

KINDS = ("png", "svg", "pdf")


def check_kind(path: Path) -> None:
    """Raise an InputError unless the suffix of a file names a format of pictures."""
    if path.suffix.removeprefix(".") not in KINDS:
        raise InputError(f"'{path}' is no name for a plot, expected one that ends in .{' or .'.join(KINDS)}")


def save_plot(solution: Solution, path: Path) -> None:
    """Save the curve of a solution, with both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), dpi=160, layout="constrained")
    axes = figure.add_subplot()
    axes.loglog([p.iterations for p in solution.curve], [p.nash_conv for p in solution.curve], color="#0b7285", lw=1.8)
    axes.plot(solution.iterations, solution.nash_conv, "o", color="#0b7285", ms=5)
    axes.annotate(
        f"{solution.nash_conv:.3g}",
        (solution.iterations, solution.nash_conv),
        (0, -16),
        textcoords="offset points",
        ha="center",
    )
    axes.set_title(f"{solution.game.spec}, {solution.algorithm}", loc="left", fontsize=11)
    axes.set_xlabel("iterations")
    axes.set_ylabel("NashConv of the average strategy")
    plain(axes)
    kind = path.suffix.removeprefix(".")
    write_whole(path, lambda file: figure.savefig(file, format=kind))

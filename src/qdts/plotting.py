"""The look of all pictures with axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain(axes: Axes) -> None:
    """A light grid behind the curves, and no frame above or to the right."""
    axes.grid(which="major", color="#dee2e6", lw=0.8)
    axes.grid(which="minor", color="#f1f3f5", lw=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)

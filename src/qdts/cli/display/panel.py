"""Facts in a frame, and how values and NashConv are written in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from qdts.cli.display.output import number

if TYPE_CHECKING:
    from rich.panel import Panel

STOPPED = "[yellow]by Ctrl-C: this is what there was[/]"
"""Why a result is not complete."""


def panel(game: str, title: str, facts: Mapping[str, str], colour: str = "green") -> Panel:
    """Facts by name, in a frame whose title is the game and `title`; texts may have markup."""
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    for name, text in facts.items():
        grid.add_row(name, text)
    title = f"[bold]{escape(game)}[/] {title}"
    return Panel(grid, title=title, title_align="left", border_style=colour, expand=False)


def values(returns: Sequence[float]) -> str:
    """Every player's value."""
    separator = "   " if len(returns) == 2 else "\n"
    return separator.join(f"[bold]{v:+.6f}[/] to player {i}" for i, v in enumerate(returns))


def distance(nash_conv: float, players: int) -> str:
    """NashConv, and what it means."""
    if players == 2:
        meaning = f"exploitability is half of it for two players: {number(nash_conv / 2)}"
    else:
        meaning = f"what each of the {players} players could gain by a best response, added up"
    return f"[bold green]{number(nash_conv)}[/]   {meaning}"

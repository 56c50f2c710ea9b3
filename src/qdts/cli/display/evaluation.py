"""The result of `qdts evaluate`: NashConv by number of visits, or by checkpoint."""

from __future__ import annotations

from typing import Any

from qdts.cli.display import chart
from qdts.cli.display.output import console, number
from qdts.cli.display.panel import STOPPED, distance, panel

CHART_ROWS = 8


def show_checkpoints(facts: dict[str, Any], visits: list[int]) -> None:
    """Print a line for each checkpoint; figures above the networks' P beyond two standard errors are red."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    words = {"seeds": f"{facts['seeds']}", "networks of": escape(facts["policy"])}
    if facts["interrupted"]:
        words["stopped"] = STOPPED
    screen.print(panel(facts["game"], f"played by {escape(facts['search'])}", words, "green"))
    table = Table("generation", "networks' P", *(f"{n:,} visits" for n in visits), box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    above = cells = 0
    for line in facts["checkpoints"]:
        shown = []
        for row in line["results"]:
            worse = row["nash_conv"] > line["policy_nash_conv"] + 2 * row.get("standard_error", 0.0)
            shown.append(f"[{'red' if worse else 'green'}]{number(row['nash_conv'])}[/]")
            above, cells = above + worse, cells + 1
        table.add_row(f"{line['generation']:,}", number(line["policy_nash_conv"]), *shown)
    screen.print("NashConv", style="bold")
    screen.print(table)
    screen.print(f"{above} of {cells} are above the networks' P, beyond two standard errors")


def show_by_cells(facts: dict[str, Any], measured: list[dict[str, Any]]) -> None:
    """Print NashConv of P for some generations of a game that is too large to search everywhere."""
    from rich.markup import escape

    words = {
        f"generation {row['generation']:,}": f"[bold green]{number(row['policy_nash_conv'])}[/]   "
        f"{row['policy_nash_conv'] / facts['nash_conv_uniform']:.1%} of uniform play's"
        for row in measured
    }
    words["uniform play"] = number(facts["nash_conv_uniform"])
    words["with search"] = "not known: the game is too large to search everywhere; qdts match plays it"
    if facts["interrupted"]:
        words["stopped"] = STOPPED
    title = f"NashConv of the networks' P, {escape(facts['policy'])}"
    console().print(panel(facts["game"], title, words, "yellow" if facts["interrupted"] else "green"))


def show_visits(facts: dict[str, Any], players: int, whose: str) -> None:
    """Print NashConv for each number of visits; `whose` names the policy that the search knows."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    words = {"search knows": escape(facts["policy"]) if facts["policy"] else "nothing but the rules"}
    names = ("value_noise", "child_noise", "belief_noise")
    noise = [f"{name.replace('_', ' ')} {facts[name]:g}" for name in names if facts[name]]
    if noise:
        words["with errors"] = ", ".join(noise)
    words[f"NashConv of {whose}"] = distance(facts["policy_nash_conv"], players)
    if facts["interrupted"]:
        words["stopped"] = STOPPED
    screen, colour = console(), "yellow" if facts["interrupted"] else "green"
    screen.print(panel(facts["game"], f"played by {escape(facts['search'])}", words, colour))
    errors = ["standard error"] if facts["seeds"] > 1 else []
    table = Table("visits", "NashConv", *errors, "seconds", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for row in facts["results"]:
        error = [number(row["standard_error"])] if errors else []
        table.add_row(f"{row['visits']:,}", f"[bold]{number(row['nash_conv'])}[/]", *error, number(row["seconds"]))
    screen.print(table)
    if len(facts["results"]) > 2:
        points = ((row["visits"], row["nash_conv"]) for row in sorted(facts["results"], key=lambda row: row["visits"]))
        screen.print("NashConv against visits, both logarithmic", style="bold")
        screen.print("\n".join(chart.log_log(points, height=CHART_ROWS)), style="cyan")

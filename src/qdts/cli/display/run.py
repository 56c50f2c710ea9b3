"""The results of a run for people: a panel of facts, the curve, and the strategy beside the equilibrium."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdts.cli.display import chart
from qdts.cli.display.output import number
from qdts.cli.display.panel import distance, panel

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.learning.run import Run

CHART_ROWS = 10
MEASURES = ("nash_conv", "nash_conv_average", "nash_conv_uniform", "nash_conv_search", "value_error", "belief_error")
"""The metrics that are measured exactly."""
RETURNS = ("return_uniform", "return_search", "return_first", "return_earlier")
"""Those of matches, in games that are not; each has an interval, with `_ci95` behind its name."""
MATTERS = 0.01
"""How far above NashConv of uniform play a run must end to be warned of it, in units of S."""
SMALL = 12
"""Information sets of the largest game whose strategy is shown as a whole."""


def figures(run: Run, *, interrupted: bool) -> dict[str, Any]:
    """The newest metrics of a run, and the generations that were measured; None for what was not."""
    from qdts.learning.metrics import generation_of, latest

    metrics = run.metrics()
    last: Mapping[str, Any] = metrics[-1] if metrics else {}
    return {
        "game": run.game.spec,
        "run": str(run.folder),
        "seed": run.seed,
        "generations": last.get("generation", 0),
        "seconds": last.get("seconds", 0.0),
        "games": last.get("games", 0),
        **{name: latest(metrics, name) for name in MEASURES},
        **{name: latest(metrics, name) for both in RETURNS for name in (both, f"{both}_ci95")},
        "nash_conv_generation": generation_of(metrics, "nash_conv_average"),
        "nash_conv_search_generation": generation_of(metrics, "nash_conv_search"),
        "return_generation": generation_of(metrics, "match_games"),
        "interrupted": interrupted,
    }


def show(screen: Console, run: Run, found: Mapping[str, Any]) -> None:
    """Print the results; `found` is what `figures` gave."""
    from rich.markup import escape

    from qdts.learning.measuring import goes_by_cells
    from qdts.learning.metrics import is_measured, label

    facts = _facts(run, found)
    if found["interrupted"]:
        facts["stopped"] = "[yellow]by Ctrl-C: this is what there was[/]"
    colour = "yellow" if found["interrupted"] else "green"
    how = "from given games" if run.given and found["generations"] <= run.given else "by self-play"
    screen.print(panel(run.game.spec, f"learned {how}, seed {run.seed}", facts, colour))
    points = [(line["seconds"], line["nash_conv_average"]) for line in run.metrics() if is_measured(line)]
    if len(points) > 1:
        screen.print(f"\n{label('nash_conv_average')} against seconds, both logarithmic", style="bold")
        screen.print("\n".join(chart.log_log(points, height=CHART_ROWS)), style="cyan")
    if points:
        _show_strategy(screen, run)
    if found["nash_conv_average"] is None and (why := why_not_measured(run)):
        command = escape(shlex.join(["qdts", "evaluate" if goes_by_cells(run) else "nashconv", str(run.folder)]))
        screen.print(f"\nNot measured: NashConv{why}. [bold]{command}[/] does it.", soft_wrap=True)
    if missing := left_out(run, found):
        visits, command = ", ".join(f"{n:,}" for n in missing), escape(evaluate_command(run, missing))
        text = f"Not measured: the searched policy with {visits} visits. [bold]{command}[/] does it."
        screen.print(f"\n{text}", soft_wrap=True)
    screen.print(f"\nThe report, for a browser: [bold]{escape(str(run.report))}[/]", soft_wrap=True)


def why_not_measured(run: Run) -> str:
    """Why NashConv was not measured, as the end of a sentence; nothing where it can't be."""
    from qdts.learning.measure import listed_infosets
    from qdts.learning.measuring import goes_by_cells

    if goes_by_cells(run):
        return ", which takes minutes"
    count, most = listed_infosets(run.game), run.config.measure.most
    if count is None or count <= most:
        return ""
    return f", since the game has {count:,} information sets and measure.most is {most:,}"


def left_out(run: Run, found: Mapping[str, Any]) -> list[int]:
    """The numbers of visits of the searched policy that took too long to measure, or that Ctrl-C has prevented."""
    if found["nash_conv_search"] is None:
        return []
    return sorted({*run.config.measure.visits} - {row["visits"] for row in found["nash_conv_search"]})


def warning(run: Run, found: Mapping[str, Any]) -> str | None:
    """That a run plays worse than at random, in a sentence; None if it does not.

    Where uniform play is all but an equilibrium, nothing that was learned is below it, and that is no fault.
    """
    average, uniform = found["nash_conv_average"], found["nash_conv_uniform"]
    if average is None or uniform is None or average <= uniform + MATTERS * run.game.scale:
        return None
    return (
        f"NashConv with averaged weights, {number(average)}, is above that of uniform play, {number(uniform)}: "
        "this run has not learned the game, and needs more time or other settings"
    )


def evaluate_command(run: Run, visits: Sequence[int]) -> str:
    """The command that measures the searched policy as the run does."""
    parts = ["qdts", "evaluate", str(run.folder), "--visits", ",".join(map(str, visits))]
    parts += ["--seeds", str(run.config.measure.seeds)] if run.config.measure.seeds > 1 else []
    parts += ["--option", "belief=exact"] if run.config.belief.source == "exact" else []
    return shlex.join(parts)


def _facts(run: Run, found: Mapping[str, Any]) -> dict[str, str]:
    from qdts.learning.metrics import label

    facts: dict[str, str] = {}
    if found["nash_conv_average"] is not None:
        if found["nash_conv"] is not None:
            facts[label("nash_conv")] = distance(found["nash_conv"], run.game.players)
            facts["  averaged weights"] = f"[bold green]{number(found['nash_conv_average'])}[/]"
        else:
            facts[label("nash_conv_average")] = distance(found["nash_conv_average"], run.game.players)
        if found["nash_conv_uniform"] is not None:
            facts["  uniform play"] = number(found["nash_conv_uniform"])
        searched = found["nash_conv_search_generation"]
        earlier = f"   generation {searched:,}" if searched not in (None, found["nash_conv_generation"]) else ""
        for row in found["nash_conv_search"] or []:
            facts[f"  searched, {row['visits']:,} visits"] = f"[bold green]{number(row['nash_conv'])}[/]{earlier}"
        facts["  measured"] = f"generation {found['nash_conv_generation']:,} of {found['generations']:,}"
    if found["return_generation"] is not None:
        facts["mean return"] = f"with averaged weights, generation {found['return_generation']:,} (95 % interval)"
    for name in RETURNS:
        if found[name] is not None:
            low, high = found[f"{name}_ci95"] or (math.nan, math.nan)
            against = label(name).removeprefix("return ")
            facts[f"  {against}"] = f"[bold green]{found[name]:+.4g}[/]   {low:+.4g} to {high:+.4g}"
    for name in ("value_error", "belief_error"):
        if found[name] is not None:
            facts[label(name)] = number(found[name])
    facts["generations"] = f"{found['generations']:,}, {found['games']:,} games in {number(found['seconds'])} s"
    facts["clock"] = "self-play and fitting, without compiling, measuring and writing files"
    return facts


def _show_strategy(screen: Console, run: Run) -> None:
    """The strategy of a small game beside the equilibrium."""
    from qdts.cli.display import strategy
    from qdts.play.agent import load_agent
    from qdts.solving import solve
    from qdts.solving.tree.recent import handy_tree

    tree = handy_tree(run.game) if run.game.hidden else None
    if tree is None or tree.num_infosets > SMALL:
        return
    learnt, equilibrium = load_agent(run).table(), solve(run.game, "cfr+", 1000).policy
    whose = f"Strategy of generation {learnt.info['generation']:,} with averaged weights"
    screen.print(f"\n{whose}, beside an equilibrium (there may be others)", style="bold")
    screen.print(strategy.beside({"learnt": learnt, "equilibrium": equilibrium}))

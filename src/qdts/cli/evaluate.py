"""`qdts evaluate`: how far the policy that a search plays is from equilibrium."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli import chart
from qdts.cli.bar import bar
from qdts.cli.output import console, number, print_json
from qdts.cli.search import (
    GAME_OR_RUN_HELP,
    OPTION_HELP,
    POLICY_HELP,
    SEARCH_HELP,
    THREADS_HELP,
    known_from,
    with_options,
)
from qdts.cli.solve import INTERRUPTED
from qdts.cli.summary import distance, panel

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.search.evaluator import Evaluator
    from qdts.search.options import Options

CHART_ROWS = 8

EXAMPLES = """[bold]Examples[/]
  qdts evaluate kuhn_poker --search ismcts --visits 100,1000,10000
  qdts evaluate leduc_poker --policy leduc.npz --visits 16,64,256,1024
  qdts evaluate leduc_poker --policy leduc.npz --search mmds --value-noise 0.05 --belief-noise 0.1
  qdts evaluate kuhn_poker --option eps_sample=0 --option eps_opponent=0 --json
  qdts evaluate runs/kuhn_poker-0

NashConv is what all players together could gain by best responses; it is exact. Ctrl-C keeps what is measured."""


def evaluate(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_OR_RUN_HELP)],
    search: Annotated[str, typer.Option(help=SEARCH_HELP)] = "qdts",
    visits: Annotated[str, typer.Option(help="Visits of every search, several numbers with commas between them.")] = (
        "16,64,256"
    ),
    policy: Annotated[Path | None, typer.Option(help=POLICY_HELP, show_default=False)] = None,
    value_noise: Annotated[
        float, typer.Option(help="Error of V: standard deviation, in units of half the range of returns.")
    ] = 0.0,
    child_noise: Annotated[float, typer.Option(help="The same of V_c, the values of children.")] = 0.0,
    belief_noise: Annotated[float, typer.Option(help="Error of H: L1 distance.")] = 0.0,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP, show_default=False)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the searches' random streams.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help=THREADS_HELP)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Search at every information set of a game, and measure NashConv of the policy that comes out."""
    from qdts.play.seats import PLAYOUTS, evaluator_for, read_game, read_known, read_visits
    from qdts.search.name import read_search
    from qdts.solving import Policy, nash_conv, uniform_policy

    text, numbers = with_options(search, option), [read_visits(part) for part in visits.split(",")]
    loaded, agent = read_game(game)
    options = read_search(loaded, text)
    known = agent if policy is None else read_known(loaded, policy)
    evaluator = evaluator_for(
        loaded, options, known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise
    )
    if known is None or known == PLAYOUTS:
        whose, prior = "uniform play", uniform_policy(loaded)
    elif isinstance(known, Policy):
        whose, prior = "that policy", known
    else:
        whose, prior = "the networks' P", known.prior
    itself = nash_conv(loaded, prior)
    results, interrupted = _measured(loaded, text, options, evaluator, numbers, seed, threads, as_json)
    noise = {"value_noise": value_noise, "child_noise": child_noise, "belief_noise": belief_noise}
    facts = {
        "game": loaded.spec,
        "search": text,
        "policy": known_from(game, agent, policy),
        "policy_nash_conv": itself,
        **noise,
        "seed": seed,
        "results": results,
        "interrupted": interrupted,
    }
    if as_json:
        print_json(facts)
    else:
        _show(facts, loaded.players, whose)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _measured(
    game: Game, text: str, options: Options, evaluator: Evaluator, numbers: list[int], seed: int, threads: int,
    silent: bool,
) -> tuple[list[dict[str, Any]], bool]:  # fmt: skip
    """NashConv for each number of visits, and whether Ctrl-C came between."""
    from qdts.search.searched import searched_policy
    from qdts.solving import nash_conv

    results: list[dict[str, Any]] = []
    try:
        for visits in numbers:
            with bar(f"{text} at {visits:,} visits", "information sets", silent=silent) as report:
                start = time.perf_counter()
                searched = searched_policy(
                    game, options, visits, evaluator=evaluator, seed=seed, threads=threads, report=report
                )
                seconds = time.perf_counter() - start
            results.append({"visits": visits, "nash_conv": nash_conv(game, searched), "seconds": seconds})
    except KeyboardInterrupt:
        if not results:
            raise
        return results, True
    return results, False


def _show(facts: dict[str, Any], players: int, whose: str) -> None:
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
        words["stopped"] = "[yellow]by Ctrl-C: this is what there was[/]"
    screen, colour = console(), "yellow" if facts["interrupted"] else "green"
    screen.print(panel(facts["game"], f"played by {escape(facts['search'])}", words, colour))
    table = Table("visits", "NashConv", "seconds", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for row in facts["results"]:
        table.add_row(f"{row['visits']:,}", f"[bold]{number(row['nash_conv'])}[/]", number(row["seconds"]))
    screen.print(table)
    if len(facts["results"]) > 2:
        points = ((row["visits"], row["nash_conv"]) for row in sorted(facts["results"], key=lambda row: row["visits"]))
        screen.print("NashConv against visits, both logarithmic", style="bold")
        screen.print("\n".join(chart.log_log(points, height=CHART_ROWS)), style="cyan")

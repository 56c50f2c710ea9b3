"""`qdts evaluate`: how far the policy that a search plays is from equilibrium."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.search import (
    GAME_OR_RUN_HELP,
    OPTION_HELP,
    POLICY_HELP,
    SEARCH_HELP,
    THREADS_HELP,
    known_from,
    usual_search,
    with_options,
)
from qdts.cli.commands.solve import INTERRUPTED
from qdts.cli.display import chart
from qdts.cli.display.bar import bar
from qdts.cli.display.output import console, number, print_json
from qdts.cli.display.solution import distance, panel
from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.search.evaluation.evaluator import Evaluator
    from qdts.search.options.options import Options

CHART_ROWS = 8

EXAMPLES = """[bold]Examples[/]
  qdts evaluate kuhn_poker --search ismcts --visits 100,1000,10000
  qdts evaluate leduc_poker --policy leduc.npz --visits 16,64,256,1024
  qdts evaluate leduc_poker --policy leduc.npz --search mmds --value-noise 0.05 --belief-noise 0.1
  qdts evaluate kuhn_poker --option eps_sample=0 --option eps_opponent=0 --json
  qdts evaluate runs/kuhn_poker-0
  qdts evaluate runs/kuhn_poker-0 --checkpoints 10 --seeds 4 --visits 16,64,256,1024

NashConv is what all players together could gain by best responses; it is exact. With several seeds it is that of the
moves' average, with its standard error. Ctrl-C keeps what is measured."""


def evaluate(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_OR_RUN_HELP)],
    search: Annotated[str | None, typer.Option(help=SEARCH_HELP, show_default=False)] = None,
    visits: Annotated[str, typer.Option(help="Visits of every search, several numbers with commas between them.")] = (
        "16,64,256"
    ),
    policy: Annotated[Path | None, typer.Option(help=POLICY_HELP, show_default=False)] = None,
    checkpoints: Annotated[
        int | None,
        typer.Option(
            min=1, help="Of a run: so many of its checkpoints, spread evenly by powers, in the place of the last.",
            show_default=False,
        ),
    ] = None,
    value_noise: Annotated[
        float, typer.Option(help="Error of V: standard deviation, in units of half the range of returns.")
    ] = 0.0,
    child_noise: Annotated[float, typer.Option(help="The same of V_c, the values of children.")] = 0.0,
    belief_noise: Annotated[float, typer.Option(help="Error of H: L1 distance.")] = 0.0,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP, show_default=False)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the searches' random streams.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Search with so many seeds, from that one on.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help=THREADS_HELP)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:  # fmt: skip
    """Search at every information set of a game, and measure NashConv of the policy that comes out."""
    from qdts.play.seats import PLAYOUTS, evaluator_for, read_game, read_known, read_visits
    from qdts.search.options.parsing import read_search
    from qdts.solving import Policy, nash_conv, uniform_policy

    numbers = [read_visits(part) for part in visits.split(",")]
    loaded, agent = read_game(game)
    known = agent if policy is None else read_known(loaded, policy)
    text = with_options(search or usual_search(loaded, known), option)
    options = read_search(loaded, text)
    drawn = range(seed, seed + seeds)
    facts: dict[str, Any] = {
        "game": loaded.spec,
        "search": text,
        "policy": known_from(game, agent, policy),
        "value_noise": value_noise,
        "child_noise": child_noise,
        "belief_noise": belief_noise,
        "seed": seed,
        "seeds": seeds,
    }
    if checkpoints is not None:
        if policy is not None or any((value_noise, child_noise, belief_noise)):
            raise InputError("--checkpoints are those of the run in the place of GAME, expected no policy and no noise")
        facts |= _of_checkpoints(game, checkpoints, text, options, numbers, drawn, threads, as_json)
    else:
        evaluator = evaluator_for(
            loaded, options, known, value_noise=value_noise, child_noise=child_noise, belief_noise=belief_noise
        )
        if known is None or known == PLAYOUTS:
            whose, prior = "uniform play", uniform_policy(loaded)
        elif isinstance(known, Policy):
            whose, prior = "that policy", known
        else:
            whose, prior = "the networks' P", known.prior
        facts["policy_nash_conv"] = nash_conv(loaded, prior)
        facts["results"], facts["interrupted"] = _measured(
            loaded, text, options, evaluator, numbers, drawn, threads, as_json
        )
    if as_json:
        print_json(facts)
    elif checkpoints is not None:
        _show_checkpoints(facts, numbers)
    else:
        _show(facts, loaded.players, whose)
    if facts["interrupted"]:
        raise typer.Exit(INTERRUPTED)


def _of_checkpoints(
    folder: str, number: int, text: str, options: Options, visits: list[int], seeds: range, threads: int, silent: bool
) -> dict[str, Any]:
    """The same for some checkpoints of a run, as far as Ctrl-C lets it come."""
    from qdts.learning.run import open_run, spread_out
    from qdts.play.agent import load_agent
    from qdts.play.seats import evaluator_for
    from qdts.solving import nash_conv

    run = open_run(folder)
    found: list[dict[str, Any]] = []
    interrupted = False
    for generation in spread_out(run.checkpoints(), number):
        agent = load_agent(run, generation=generation)
        evaluator = evaluator_for(run.game, options, agent)
        name = f"generation {generation:,}, {text}"
        try:
            results, interrupted = _measured(run.game, name, options, evaluator, visits, seeds, threads, silent)
        except KeyboardInterrupt:
            if not found:
                raise
            results, interrupted = [], True
        itself = nash_conv(run.game, agent.prior)
        found.append({"generation": generation, "policy_nash_conv": itself, "results": results})
        if interrupted:
            break
    return {"checkpoints": found, "interrupted": interrupted}


def _measured(
    game: Game, text: str, options: Options, evaluator: Evaluator, numbers: list[int], seeds: range, threads: int,
    silent: bool,
) -> tuple[list[dict[str, Any]], bool]:  # fmt: skip
    """NashConv for each number of visits, and whether Ctrl-C came between."""
    from qdts.search.everywhere import searched_nash_conv

    results: list[dict[str, Any]] = []
    try:
        for visits in numbers:
            with bar(f"{text} at {visits:,} visits", "information sets", silent=silent) as report:
                start = time.perf_counter()
                found = searched_nash_conv(
                    game, options, visits, seeds, evaluator=evaluator, threads=threads, report=report
                )
                seconds = time.perf_counter() - start
            error = {} if found.error is None else {"standard_error": found.error}
            results.append({"visits": visits, "nash_conv": found.nash_conv, **error, "seconds": seconds})
    except KeyboardInterrupt:
        if not results:
            raise
        return results, True
    return results, False


def _show_checkpoints(facts: dict[str, Any], visits: list[int]) -> None:
    """A line a checkpoint; what is above the networks' P beyond two standard errors is red."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    words = {"seeds": f"{facts['seeds']}", "networks of": escape(facts["policy"])}
    if facts["interrupted"]:
        words["stopped"] = "[yellow]by Ctrl-C: this is what there was[/]"
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

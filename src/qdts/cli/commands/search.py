"""`qdts search`: one search from a state, and its results."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from qdts.cli.commands.arguments import (
    AsJson,
    GameOrRun,
    Known,
    RunsGame,
    SearchName,
    SearchOptions,
    default_search,
    known_from,
    with_options,
)
from qdts.cli.display.output import console, print_json
from qdts.cli.display.progress import bar, loading
from qdts.cli.display.search import SearchReport
from qdts.errors import InputError
from qdts.search.options.named import SEARCHES

EXAMPLES = (
    """[bold]Examples[/]
  qdts search leduc_poker --visits 1000
  qdts search leduc_poker --state 'deal Ks, deal Qh, Raise' --policy leduc.npz --tree
  qdts search kuhn_poker --state 'turn=2 bettor=0 cards=J? bets=---' --json
  qdts search connect_four --search uct --state 'd d c' --visits 5000
  qdts search leduc_poker --option eps_sample=0.05 --option c=0.2
  qdts search runs/leduc_poker-0 --state 'deal Ks, deal Qh, Raise'

[bold]Searches[/]
"""
    + "".join(f"  {name:<14} {search.help}\n" for name, search in SEARCHES.items())
    + """
docs/search.md says what every option does."""
)


def search(
    game: GameOrRun,
    state: Annotated[
        str | None,
        typer.Option(
            help="A view as [bold]qdts search[/] prints it, or the moves from the start (names or numbers). "
            "Default: the first decision.",
            show_default=False,
        ),
    ] = None,
    search: SearchName = None,
    visits: Annotated[int, typer.Option(min=1, help="Visits of the root.")] = 200,
    policy: Known = None,
    option: SearchOptions = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    tree: Annotated[bool, typer.Option("--tree", help="Show the top of the search's trees.")] = False,
    depth: Annotated[int, typer.Option(min=1, max=12, help="How deep --tree goes.")] = 3,
    runs_game: RunsGame = None,
    as_json: AsJson = False,
) -> None:
    """Search from one state: visits, values and priors of its actions, and the belief about the holes."""
    from qdts.play.seats import evaluator_for, read_game, read_known
    from qdts.play.state import read_state
    from qdts.search.beliefs.holes import first_belief
    from qdts.search.beliefs.overrides import with_belief
    from qdts.search.forest.reader import read_tree
    from qdts.search.forest.searcher import Searcher
    from qdts.search.options.parsing import read_search
    from qdts.search.run import run_searches

    with loading(game):
        loaded, agent = read_game(game, runs_game)
        known = agent if policy is None else read_known(loaded, policy)
        text = with_options(search or default_search(loaded, known), option)
        options = read_search(loaded, text)
        if tree and options.machine == "bandit":
            raise InputError(f"--tree with {text}: it shows the trees of the forest, expected one like puct or qdts")
        view, player = read_state(loaded, state)
        evaluator = evaluator_for(loaded, options, known)
        run_searches(loaded, [view], [player], options, 1, evaluator=evaluator, seeds=[seed])  # compiles
    start = time.perf_counter()
    with bar(f"searching {loaded.spec} by {text}", "visits", silent=as_json) as report:

        def progress(done: int) -> None:
            report(done, visits)

        if tree:
            searcher = Searcher(loaded, [view], [player], options, evaluator, seeds=[seed])
            searcher.run(visits, progress)
            result, top = searcher.result(0), read_tree(searcher, depth)
        else:
            top = None
            result = run_searches(
                loaded, [view], [player], options, visits, evaluator=evaluator, seeds=[seed], report=progress
            )[0]
    seconds = time.perf_counter() - start
    facts = {
        "game": loaded.spec,
        "state": loaded.layout.write(view),
        "player": player,
        "search": text,
        "visits": visits,
        "policy": known_from(game, agent, policy),
        "seed": seed,
        "seconds": seconds,
    }
    belief = None
    if options.belief != "visits":  # which only the search itself has
        believing = with_belief(loaded, evaluator, options.belief, options.belief_turns)
        belief = first_belief(loaded, believing, view, player, int(result.actions[result.move.argmax()]))
    search_report = SearchReport(loaded, view, facts, result, belief, top)
    if as_json:
        print_json(search_report.data())
    else:
        search_report.show(console())

"""`qdts search`: one search from a state, and what it found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.cli.display import decision as found
from qdts.cli.display.bar import bar
from qdts.cli.display.output import console, print_json
from qdts.errors import InputError
from qdts.search.options.named import SEARCHES

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.play.agent import Agent
    from qdts.solving.policy.table import Policy

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

GAME_HELP = "A name, with parameters in brackets: see [bold]qdts games[/]."
SEARCH_HELP = (
    f"{', '.join(SEARCHES)}; with options in brackets: qdts\\[c=0.2]. Without it: qdts; "
    "with learned networks qdts-descent, or puct where nothing is hidden."
)
OPTION_HELP = "Change one thing of the search, c=0.2 for instance; may be given several times."
GAME_OR_RUN_HELP = f"{GAME_HELP} Or a run's folder: the game that it learned, searched with its networks."
POLICY_HELP = (
    "A policy file: the search knows P, V and H that follow from it (uct, ismcts and mt-ismcts play games out by it); "
    "a run's folder or a checkpoint: it asks the networks; or [bold]playouts[/]: V is the return of a random game. "
    "Without it the search knows nothing."
)
THREADS_HELP = "Threads to search with; the result is the same."


def search(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_OR_RUN_HELP)],
    state: Annotated[
        str | None,
        typer.Option(
            help="A view as [bold]qdts search[/] prints it, or the moves from the start (names or numbers). "
            "Without it: the first decision.",
            show_default=False,
        ),
    ] = None,
    search: Annotated[str | None, typer.Option(help=SEARCH_HELP, show_default=False)] = None,
    visits: Annotated[int, typer.Option(min=1, help="Visits of the root.")] = 200,
    policy: Annotated[Path | None, typer.Option(help=POLICY_HELP, show_default=False)] = None,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP, show_default=False)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search's random stream.")] = 0,
    tree: Annotated[bool, typer.Option("--tree", help="Show the top of the search's trees.")] = False,
    depth: Annotated[int, typer.Option(min=1, max=12, help="How deep --tree goes.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Search from one state: visits, values and priors of its actions, and what is believed of the holes."""
    from qdts.play.seats import evaluator_for, read_game, read_known
    from qdts.play.state import read_state
    from qdts.search.beliefs.holes import first_belief
    from qdts.search.beliefs.overrides import with_belief
    from qdts.search.forest.reader import read_tree
    from qdts.search.forest.searcher import Searcher
    from qdts.search.options.parsing import read_search
    from qdts.search.run import run_searches

    loaded, agent = read_game(game)
    known = agent if policy is None else read_known(loaded, policy)
    text = with_options(search or usual_search(loaded, known), option)
    options = read_search(loaded, text)
    if tree and options.machine == "bandit":
        raise InputError(f"--tree with {text}: it shows the trees of the forest, expected a search like puct or qdts")
    view, player = read_state(loaded, state)
    evaluator = evaluator_for(loaded, options, known)
    start = time.perf_counter()
    with bar(f"searching {loaded.spec} by {text}", "visits", silent=as_json) as report:

        def told(done: int) -> None:
            report(done, visits)

        if tree:
            searcher = Searcher(loaded, [view], [player], options, evaluator, seeds=[seed])
            searcher.run(visits, told)
            result, top = searcher.result(0), read_tree(searcher, depth)
        else:
            top = None
            result = run_searches(
                loaded, [view], [player], options, visits, evaluator=evaluator, seeds=[seed], report=told
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
    if options.belief != "visits":  # those are known to the search alone
        believing = with_belief(loaded, evaluator, options.belief)
        belief = first_belief(loaded, believing, view, player, int(result.actions[result.move.argmax()]))
    shown = found.Found(loaded, view, facts, result, belief, top)
    if as_json:
        print_json(shown.data())
    else:
        shown.show(console())


def known_from(game: str, agent: Agent | None, policy: Path | None) -> str | None:
    """Where a search knows from what it knows: what was given for it, or the run in the place of the game."""
    if policy is not None:
        return str(policy)
    return None if agent is None else game


def usual_search(game: Game, known: Policy | Agent | str | None) -> str:
    """The name of the search where none is given: by whether networks are asked."""
    from qdts.search.options.compatibility import search_with_networks
    from qdts.solving import Policy

    return "qdts" if known is None or isinstance(known, str | Policy) else search_with_networks(game)


def with_options(search: str, option: list[str] | None) -> str:
    """A search's text with more options in its brackets."""
    if not option:
        return search
    name, bracket, rest = search.partition("[")
    return f"{name}[{','.join([*([rest.removesuffix(']')] if bracket else []), *option])}]"

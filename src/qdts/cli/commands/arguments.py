"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.errors import InputError

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.play.agent import Agent
    from qdts.solving.policy.table import Policy

GAME_HELP = "A name, with parameters in brackets: see [bold]qdts games[/]."
SEARCH_HELP = (
    "puct, a-ismcts, qdts, qdts-descent, qdts-backprop, nash-ismcts, mmds, uct, ismcts, mt-ismcts; with options in "
    "brackets: qdts\\[c=0.2]. Default: qdts; with learned networks qdts-descent, or puct for perfect information."
)
POLICY_HELP = (
    "A policy file: P, V and H follow from it (uct, ismcts and mt-ismcts sample playouts from it); a run's folder or a "
    "checkpoint: its networks evaluate; or [bold]playouts[/]: V is the return of a random game. Without it the search "
    "knows only the rules."
)

Kept = Annotated[
    Path | None,
    typer.Option(
        help="A file of figures that were made before, on any machine: what is there is not made again, and what is "
        "made is added.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
GameName = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
GameFile = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A name or the path of a game's file, with parameters in brackets: see [bold]qdts games[/].",
    ),
]
GameOrRun = Annotated[
    str,
    typer.Argument(
        metavar="GAME", help=f"{GAME_HELP} Or a run's folder: the game that it learned, searched with its networks."
    ),
]
RunsGame = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="GAME",
        help="The game of the run in the place of GAME. A game of your own, by its file, if the file was moved or has "
        "changed since, or for a single checkpoint.",
        show_default=False,
    ),
]
SearchName = Annotated[str | None, typer.Option(help=SEARCH_HELP, show_default=False)]
Known = Annotated[Path | None, typer.Option(help=POLICY_HELP, show_default=False)]
SearchOptions = Annotated[
    list[str] | None,
    typer.Option(help="Change an option of the search, such as c=0.2; can be repeated.", show_default=False),
]
Threads = Annotated[int, typer.Option(min=1, help="Threads to search with; the result is the same.")]
Repeats = Annotated[int, typer.Option(min=1, help="Turns of each; the median counts.")]


def known_from(game: str, agent: Agent | None, policy: Path | None) -> str | None:
    """The source of what a search knows: --policy, or a run in the place of GAME; None if it knows only the rules."""
    if policy is not None:
        return str(policy)
    return None if agent is None else game


def default_search(game: Game, known: Policy | Agent | str | None) -> str:
    """The name of the search where none is given, which depends on whether networks evaluate."""
    from qdts.search.options.compatibility import search_with_networks
    from qdts.solving.policy.table import Policy

    return "qdts" if known is None or isinstance(known, str | Policy) else search_with_networks(game)


def with_options(search: str, option: list[str] | None) -> str:
    """The text of a search with more options in its brackets."""
    if not option:
        return search
    name, bracket, rest = search.partition("[")
    return f"{name}[{','.join([*([rest.removesuffix(']')] if bracket else []), *option])}]"


def read_seeds(text: str) -> list[int]:
    """The seeds in a text such as 1,2,3."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--seeds {text} makes no sense, expected numbers such as 1,2,3") from None

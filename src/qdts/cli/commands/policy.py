"""`qdts policy`: the contents of a policy file, or the policy that a run has learned, and its NashConv."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson
from qdts.cli.display.output import console, print_json
from qdts.cli.display.panel import distance, panel, values

if TYPE_CHECKING:
    from qdts.solving.policy.table import Policy

EXAMPLES = """[bold]Examples[/]
  qdts policy leduc.npz
  qdts policy leduc.npz --game leduc_poker --json
  qdts policy mine.npz --game ./my_game.py
  qdts policy runs/kuhn_poker-0"""


def policy(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file written by [bold]qdts solve --out[/], or a run's folder.")
    ],
    game: Annotated[
        str | None,
        typer.Option(
            help="Fail unless it is for this game. A policy file of a game of your own needs the game's file; a run "
            "remembers it.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a policy file or P of a run: how it was made, its values and NashConv (measured now), its strategy."""
    from qdts.games.registry import load_game
    from qdts.play.seats import read_policy
    from qdts.solving.policy.table import Policy

    given = read_policy(file, None if game is None else load_game(game))
    loaded = given if isinstance(given, Policy) else given.prior
    data = _measured(loaded)
    if as_json:
        print_json({"file": str(file), **data})
        return
    from qdts.cli.display import strategy

    made = ", ".join(f"{key} {value}" for key, value in loaded.info.items() if key != "nash_conv")
    facts = {
        "made by": made or "(the file does not say)",
        "value": values(data["values"]),
        "NashConv": distance(data["nash_conv"], loaded.game.players),
    }
    screen = console()
    screen.print(panel(loaded.game.spec, f"version {loaded.game.version}, {len(loaded):,} views", facts))
    strategy.show(screen, loaded, rest="the file has them all" if given is loaded else "the networks know them all")


def _measured(loaded: Policy) -> dict[str, Any]:
    from qdts.solving import measure_policy

    measured = measure_policy(loaded.game, loaded)
    return {
        "game": loaded.game.spec,
        "game_version": loaded.game.version,
        "info": dict(loaded.info),
        "views": len(loaded),
        "value": measured.values[0],
        "values": list(measured.values),
        "nash_conv": measured.nash_conv,
    }

"""`qdts games`: the games that can be loaded, and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.commands.arguments import AsJson
from qdts.cli.display.output import console, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from qdts.games.family import Family, Parameter

EXAMPLES = """[bold]Examples[/]
  qdts games
  qdts games liars_dice
  qdts games ./my_game.py
  qdts games openspiel:tiny_hanabi
  qdts games --json"""

HINT = """A game is named with its parameters: [bold]'liars_dice(numdice=2,dice_sides=3)'[/]
A game of your own is named by its file: [bold]./my_game.py[/] or [bold]'./my_game.py(players=3)'[/]
Games of OpenSpiel that are not too large can be imported: [bold]'openspiel:tiny_hanabi'[/]"""


def games(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="Show the details of one game.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games, their parameters and ranges."""
    from qdts.games.registry import IMPORTED, family_names, find_family, parse_spec

    if game is not None and game.strip().startswith(IMPORTED):
        _show_import(game.strip(), as_json)
        return
    names = family_names() if game is None else [parse_spec(game)[0]]
    families = [find_family(name) for name in names]
    if as_json:
        print_json({"games": [_as_data(family, by_rules=game is not None) for family in families]})
    elif game is None:
        console().print(_overview(families))
        console().print(HINT)
    else:
        _print_details(families[0], names[0])


def _show_import(spec: str, as_json: bool) -> None:
    """Show what OpenSpiel says of one of its games, without a walk through it."""
    from rich.markup import escape
    from rich.table import Table

    from qdts.games.openspiel import find_openspiel

    theirs = find_openspiel(spec)
    parameters = {name: str(value) for name, value in theirs.get_parameters().items()}
    summary, seats = f"{theirs.get_type().long_name}, of OpenSpiel", str(theirs.num_players())
    if as_json:
        listed = [{"name": n, "default": value, "help": "", "expected": ""} for n, value in parameters.items()]
        about = {"summary": summary, "players": seats, "parameters": listed, "examples": [spec]}
        print_json({"games": [{"name": spec.partition("(")[0], **about}]})
        return
    out = console()
    out.print(f"[bold cyan]{escape(spec)}[/]  {escape(summary)}. Players: {seats}.")
    if parameters:
        table = Table.grid(padding=(0, 2))
        for name, value in parameters.items():
            table.add_row(f"  [bold]{escape(name)}[/]", escape(value))
        out.print("\nParameters, with their values", table)
    out.print("\nTry", f"  qdts solve {_quoted(spec)}", sep="\n")


def players(family: Family, *, by_rules: bool = False) -> str:
    """The number of players, in words: as the family declares it, or as its rules have it."""
    parameter = next((p for p in family.parameters if p.name == "players"), None)
    if parameter is None:
        return str(family.load({}).players if by_rules else family.players)
    return f"{parameter.low}" if parameter.low == parameter.high else f"{parameter.low} to {parameter.high}"


def _as_data(family: Family, *, by_rules: bool) -> dict[str, Any]:
    return {
        "name": family.name,
        "summary": family.summary,
        "players": players(family, by_rules=by_rules),
        "parameters": [
            {"name": p.name, "default": p.default, "help": p.help, "expected": p.expected()} for p in family.parameters
        ],
        "examples": list(family.examples),
    }


def _overview(families: list[Family]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("game", "players", "what it is, and its parameters", box=SIMPLE_HEAD, pad_edge=False)
    for family in families:
        parameters = [f"\n[dim]{_setting(p)}: {p.expected()}[/]" for p in family.parameters]
        table.add_row(f"[bold cyan]{family.name}[/]", players(family), family.summary + "".join(parameters))
    return table


def _print_details(family: Family, name: str) -> None:
    """Print the details of a family; `name` is its name or the path of its file."""
    from rich.table import Table

    out = console()
    out.print(f"[bold cyan]{family.name}[/]  {family.summary}. Players: {players(family, by_rules=True)}.")
    if family.parameters:
        table = Table.grid(padding=(0, 2))
        for p in family.parameters:
            table.add_row(f"  [bold]{_setting(p)}[/]", f"{p.help} [dim]({p.expected()})[/]")
        out.print("\nParameters, with their defaults", table)
    specs = (name + spec.removeprefix(family.name) for spec in (family.name, *family.examples))
    out.print("\nTry", *(f"  qdts solve {_quoted(spec)}" for spec in specs), sep="\n")


def _setting(parameter: Parameter) -> str:
    from rich.markup import escape

    return escape(f"{parameter.name}={parameter.write(parameter.default)}")


def _quoted(spec: str) -> str:
    import shlex

    from rich.markup import escape

    return escape(shlex.quote(spec))

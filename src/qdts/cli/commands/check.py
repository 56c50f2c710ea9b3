"""`qdts check`: does a game keep the laws that search, solvers and learning rely on?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.display.output import console, print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from qdts.testing import ConformanceError, Law, Report

BROKEN = 1
"""Exit code where a law is broken."""

EXAMPLES = """[bold]Examples[/]
  qdts check ./my_game.py
  qdts check './my_game.py(players=3)' --samples 1000
  qdts check leduc_poker --json

A law that does not apply to the game is left out. The first law that is broken ends it: later laws rely on it.
Exit codes: 0 all kept, 1 a law is broken, 2 the game can't be loaded."""


def check(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A name or the path of a game's file, with parameters in brackets.")
    ],
    limit: Annotated[
        int, typer.Option(min=1, help="With at most so many positions all are looked at, else those of random games.")
    ] = 300_000,
    samples: Annotated[int, typer.Option(min=1, help="How many random games.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Decides which.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check that a game keeps every law: its own rules agree with each other, and with what it says of itself."""
    screen = None if as_json else console()
    begun = _Laws(screen)
    begun.tell(f"loading {game} (what is not compiled yet is compiled now, once)")
    from qdts.games.registry import load_game
    from qdts.testing import ConformanceError, check_game

    loaded = load_game(game)
    report, broken = None, None
    try:
        with begun:
            report = check_game(loaded, limit=limit, samples=samples, seed=seed, interpreted=True, begin=begun.begin)
    except ConformanceError as error:
        broken = error
    if screen is None:
        print_json(_as_data(loaded.spec, begun.laws, report, broken))
    else:
        _print_end(screen, loaded.spec, begun.laws, report, broken)
    if broken is not None:
        raise typer.Exit(BROKEN)


class _Laws:
    """The laws so far: each is told when it is known to be kept, the one at hand beside a spinner."""

    def __init__(self, screen: Console | None) -> None:
        self.screen = screen
        self.laws: list[Law] = []
        self.status = screen.status("") if screen is not None and screen.is_terminal else None

    def __enter__(self) -> None:
        if self.status:
            self.status.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.status:
            self.status.stop()
        if kind is None:
            self._print_last()

    def begin(self, law: Law) -> None:
        """All before this law are kept."""
        self._print_last()
        self.laws.append(law)
        if self.status:
            self.status.update(_line(law, "…", "cyan"))

    def tell(self, words: str) -> None:
        """A line for people."""
        if self.screen is not None:
            self.screen.print(words, style="dim", markup=False, soft_wrap=True)

    def _print_last(self) -> None:
        if self.screen is not None and self.laws:
            self.screen.print(_line(self.laws[-1], "kept", "green"), soft_wrap=True)


def _line(law: Law, verdict: str, colour: str) -> Text:
    from rich.text import Text

    return Text.assemble((f"{law:<13}", "bold"), (f"{verdict:<8}", colour), (law.asks, "dim"))


def _print_end(
    screen: Console, spec: str, begun: list[Law], report: Report | None, broken: ConformanceError | None
) -> None:
    from rich.text import Text

    if broken is not None:
        screen.print(_line(broken.law, "broken", "bold red"), soft_wrap=True)
        verdict, more = (f"{spec} breaks the law of {broken.law}", "bold red"), f": {broken.what}"
    else:
        assert report is not None
        how = "every one of" if report.mode == "enumerated" else "random games with"
        sizes = f"{report.histories:,} histories, {report.worlds:,} worlds, {report.views:,} views"
        verdict, more = (f"{spec} keeps all {len(begun)} laws", "bold green"), f": looked at {how} {sizes}"
    screen.print()
    screen.print(Text.assemble(verdict, more), soft_wrap=True)


def _as_data(spec: str, begun: list[Law], report: Report | None, broken: ConformanceError | None) -> dict[str, Any]:
    kept = begun if broken is None else begun[:-1]
    laws: list[dict[str, Any]] = [{"law": law.value, "asks": law.asks, "kept": True} for law in kept]
    if broken is not None:
        laws.append({"law": broken.law.value, "asks": broken.law.asks, "kept": False, "fault": broken.what})
    data = {key: value for key, value in asdict(report).items() if key != "spec"} if report is not None else None
    return {"game": spec, "kept": broken is None, "laws": laws, "looked_at": data}

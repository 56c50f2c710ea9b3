"""`qdts check`: does a game keep the laws that search, solvers and learning rely on?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qdts.cli.display.output import console, print_json
from qdts.cli.display.progress import LOADING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from qdts.games.game import Game
    from qdts.testing import ConformanceError, Law, Report

BROKEN = 1
"""Exit code where a law is broken."""
PLAYED_LAWS = ("guard", "compiled")
"""The laws that compare transcripts of a few random games, however small the game is."""

EXAMPLES = """[bold]Examples[/]
  qdts check ./my_game.py
  qdts check './my_game.py(players=3)' --samples 1000
  qdts check leduc_poker --json

A game with more positions than --limit is checked on random games, which can miss a rare fault: the last lines say how
rare. Before that a smaller game of the same family is checked exactly, if there is one: the first of Family.small, or
the game with its parameters at their lower bounds. The first broken law ends the check, since later laws rely on it.
Exit codes: 0 no fault found, 1 a law is broken, 2 the game can't be loaded."""


def check(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A name or the path of a game's file, with parameters in brackets.")
    ],
    limit: Annotated[
        int, typer.Option(min=1, help="Check every position if there are at most so many, else those of random games.")
    ] = 300_000,
    samples: Annotated[int, typer.Option(min=1, help="How many random games.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random games.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check that a game keeps every law: its rules agree with each other, and with what it declares about itself."""
    screen = None if as_json else console()
    progress = _Progress(screen)
    progress.say(LOADING.format(game))
    from qdts.games.registry import load_game
    from qdts.testing import ConformanceError, check_game

    loaded = load_game(game)
    report, broken = None, None
    try:
        with progress:
            report = check_game(
                loaded,
                limit=limit,
                samples=samples,
                seed=seed,
                interpreted=True,
                exact_first=True,
                begin=progress.begin,
                turn=progress.turn,
            )
    except ConformanceError as error:
        broken = error
    if screen is None:
        print_json(_as_data(loaded.spec, progress.laws, report, broken))
    elif broken is not None:
        _print_broken(screen, broken)
    elif report is not None:
        _print_kept(screen, report)
    if broken is not None:
        raise typer.Exit(BROKEN)


class _Progress:
    """The laws so far: each is printed when it is known to be kept, the current one beside a spinner."""

    def __init__(self, screen: Console | None) -> None:
        self.screen = screen
        self.laws: list[Law] = []
        """Those of the game at hand."""
        self._current: Law | None = None
        self._whole_game: list[Law] | None = None
        """The laws of the game itself that were kept before a smaller one was taken up."""
        self._verdict = "kept"
        self.status = screen.status("") if screen is not None and screen.is_terminal else None

    def __enter__(self) -> None:
        if self.status:
            self.status.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.status:
            self.status.stop()
        if kind is None:
            self._print_current()

    def begin(self, law: Law) -> None:
        """Take up a law: all before it are kept."""
        self._print_current()
        self.laws.append(law)
        self._current = law
        if self.status:
            self.status.update(_line(law, "…", "cyan"))

    def turn(self, game: Game, exact: bool) -> None:
        """Take up a smaller game, on every history, or the game itself, on random games."""
        if exact:
            self._whole_game, self.laws = self.laws[:-1], []
            words = f"too many positions to check them all: first {game.spec}, on every history"
        elif self._whole_game is None:
            self.laws.pop()  # basics, which was begun to find out how many positions there are
            words = f"too many positions to check them all: {game.spec} on random games"
        else:
            self._print_current()
            self.laws = self._whole_game
            words = f"now {game.spec}, on random games"
        self._current, self._verdict = None, "kept" if exact else "no fault"
        self.say(words)

    def say(self, words: str) -> None:
        """Print a line for people."""
        if self.screen is not None:
            self.screen.print(words, style="dim", markup=False, soft_wrap=True)

    def _print_current(self) -> None:
        if self.screen is not None and self._current is not None:
            self.screen.print(_line(self._current, self._verdict, "green"), soft_wrap=True)


def _line(law: Law, verdict: str, colour: str) -> Text:
    from rich.text import Text

    return Text.assemble((f"{law:<13}", "bold"), (f"{verdict:<10}", colour), (law.requires, "dim"))


def _print_broken(screen: Console, broken: ConformanceError) -> None:
    from rich.text import Text

    screen.print(_line(broken.law, "broken", "bold red"), soft_wrap=True)
    screen.print()
    verdict = f"{broken.spec} breaks the law of {broken.law}", "bold red"
    screen.print(Text.assemble(verdict, f": {broken.what}"), soft_wrap=True)


def _print_kept(screen: Console, report: Report) -> None:
    """What was checked and how sure that is, of the smaller game too."""
    from rich.text import Text

    screen.print()
    for each in (report.exact, report):
        if each is not None:
            verdict, basis = _verdict(each)
            screen.print(Text.assemble((verdict, "bold green"), f": {basis}"), soft_wrap=True)
    for words in [*_skipped(report), *_confidence(report)]:
        screen.print(words, style="dim", markup=False, soft_wrap=True)


def _verdict(report: Report) -> tuple[str, str]:
    from qdts.testing.transcript import GAMES

    sizes = f"{report.histories:,} histories, {report.worlds:,} worlds, {report.views:,} views"
    if report.games is None:
        on_games = f"; {' and '.join(PLAYED_LAWS)} on {GAMES} random games"
        return f"{report.spec} keeps {_count(report)}", f"checked every one of {sizes}{on_games}"
    return f"{report.spec}: no fault found in {_count(report)}", f"{report.games:,} random games with {sizes}"


def _count(report: Report) -> str:
    return f"{len(report.checked)} laws" if report.skipped else f"all {len(report.checked)} laws"


def _skipped(report: Report) -> list[str]:
    return [f"not checked: {law} ({why})" for law, why in report.skipped.items()]


def _confidence(report: Report) -> list[str]:
    """How rare a fault may be that stayed unseen, and what would make that rarer."""
    from qdts.testing.conformance import CONFIDENCE

    if report.detectable is None or report.games is None:
        return []
    share = f"1 of {round(1 / report.detectable):,}"
    lines = [
        f"how sure: a fault that shows in {share} random games, or in {share} completions of their views, would have "
        f"been found with {CONFIDENCE:.0%} probability; --samples {10 * report.games} finds one ten times as rare"
    ]
    if report.exact is None:
        lines.append("no smaller parameters were found that could be checked exactly: Family(small=...) names some")
    return lines


def _as_data(spec: str, begun: list[Law], report: Report | None, broken: ConformanceError | None) -> dict[str, Any]:
    kept = begun if broken is None else begun[:-1]
    laws: list[dict[str, Any]] = [{"law": law.value, "asks": law.requires, "kept": True} for law in kept]
    if broken is not None:
        law = broken.law
        laws.append({"law": law.value, "asks": law.requires, "kept": False, "fault": broken.what, "game": broken.spec})
    looked_at = None if report is None else _report_data(report)
    return {"game": spec, "kept": broken is None, "laws": laws, "looked_at": looked_at}


def _report_data(report: Report) -> dict[str, Any]:
    data = {key: value for key, value in asdict(report).items() if key not in ("spec", "exact")}
    data |= {"detectable": report.detectable, "exact": None}
    if report.exact is not None:
        data["exact"] = {"game": report.exact.spec, **_report_data(report.exact)}
    return data

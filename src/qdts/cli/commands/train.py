"""`qdts train`: learn a game from nothing by playing it, and watch how far from equilibrium it is."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.cli.commands.solve import INTERRUPTED
from qdts.cli.display.output import console
from qdts.cli.display.training import Quiet, follower
from qdts.errors import InputError
from qdts.packages import verify_installed

if TYPE_CHECKING:
    from qdts.learning.run import Run

EXAMPLES = """[bold]Examples[/]
  qdts train kuhn_poker --minutes 1
  qdts train leduc_poker --minutes 10 --seed 1 --out runs/leduc --threads 2
  qdts train leduc_poker --generations 100 --set search.visits=32
  qdts train --resume runs/leduc
  qdts train --resume runs/leduc --minutes 20
  qdts train kuhn_poker --minutes 1 --json
  qdts train --settings leduc_poker

A run is kept in a folder: checkpoints, games, metrics.jsonl, and report.html
for a browser, at any time. Minutes are those of self-play and fitting. Ctrl-C
stops it and exits with 130; --resume goes on from the last whole generation.

NashConv is what all players together could gain by best responses. It is exact,
and measured where all of the game can be listed; else it is null in --json:
game, run, seed, generations, seconds, games, nash_conv, nash_conv_average (with
averaged weights), nash_conv_search (visits, nash_conv), value_error,
belief_error, interrupted."""


def train(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="A name or the path of a game's file, with parameters in brackets: see [bold]qdts games[/]. "
            "Not needed with --resume, but for a game of your own.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes (1 if nothing is said).", show_default=False)
    ] = None,
    generations: Annotated[int | None, typer.Option(help="Stop after so many generations.", show_default=False)] = None,
    preset: Annotated[
        str | None, typer.Option(help="Take the settings of this name, not those of the game.", show_default=False)
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change one setting, search.visits=32 for instance; may be given several times.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything drawn (0).", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder (a new one in runs/).", show_default=False)] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Go on with the run in this folder.", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks are fitted and asked: cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Threads to search with, and to fit convolutions with.")] = 1,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print all settings (of GAME, of a preset) and stop.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, on the last line.")] = False,
) -> None:
    """Learn a game from nothing, by self-play with search; NashConv tells how far from equilibrium it is."""
    changes = set_ or []
    if settings:
        _show_settings(game, preset, changes, as_json)
        return
    _check_options(game, resume, {"--preset": preset, "--set": set_, "--seed": seed, "--out": out})
    verify_installed("learning needs", "nets")
    run, interrupted = None, False
    with follower(silent=as_json) as watch:
        try:
            run = _run(game, minutes, generations, preset, changes, seed or 0, out, resume, device, threads, watch)
        except KeyboardInterrupt:
            if watch.run is None:
                raise
            run, interrupted = watch.run, True
    _finish(run, game, interrupted, as_json)


def _check_options(game: str | None, resume: Path | None, of_new_runs: dict[str, object]) -> None:
    given = [name for name, value in of_new_runs.items() if value is not None]
    if resume is not None and given:
        raise InputError(f"{given[0]} with --resume: a run keeps what it was begun with, expected no {given[0]}")
    if resume is None and game is None:
        raise InputError("no GAME is given, expected a game to learn (qdts games lists them) or --resume DIR")


def _run(
    game: str | None, minutes: float | None, generations: int | None, preset: str | None, changes: list[str], seed: int,
    out: Path | None, resume: Path | None, device: str, threads: int, watch: Quiet,
) -> Run:  # fmt: skip
    watch.load(game or str(resume))
    from qdts.games.registry import load_game
    from qdts.learning import config

    loaded = None if game is None else load_game(game)
    if loaded is not None:
        config.read_settings(changes, config.preset(loaded.name, preset))  # what is wrong is told before torch loads
    from qdts.learning import loop

    if resume is not None:
        return loop.resume(
            resume, game=loaded, minutes=minutes, generations=generations, device=device, threads=threads, watch=watch
        )
    assert loaded is not None
    return loop.train(
        loaded, minutes=minutes, generations=generations, seed=seed, out=out, preset_name=preset, settings=changes,
        device=device, threads=threads, watch=watch,
    )  # fmt: skip


def _finish(run: Run, game: str | None, interrupted: bool, as_json: bool) -> None:
    from qdts.cli.display import run as learned

    found = learned.figures(run, interrupted=interrupted)
    if as_json:
        print(json.dumps(found, allow_nan=False), flush=True)
    else:
        learned.show(console(), run, found)
    if interrupted:
        own = [game] if game is not None and not _is_known(game) else []
        command = shlex.join(["qdts", "train", *own, "--resume", str(run.folder)])
        print(f"qdts: generations kept: {found['generations']:,}; {command} goes on", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED)


def _is_known(game: str) -> bool:
    """Whether a game can be loaded by the name that its run knows."""
    from qdts.games.registry import IMPORTED, family_names

    return game.startswith(IMPORTED) or game.partition("(")[0].strip() in family_names()


def _show_settings(game: str | None, preset_name: str | None, changes: list[str], as_json: bool) -> None:
    from qdts.cli.display import settings
    from qdts.games.registry import load_game
    from qdts.learning.config import flat, preset, read_settings

    name = "" if game is None else load_game(game).name
    config = read_settings(changes, preset(name, preset_name))
    if as_json:
        print(json.dumps(flat(config)))
    else:
        settings.show(console(), config, f"preset {preset_name}" if preset_name else game or "a run")

"""`qdts train`: learn a game by self-play, and follow its distance from equilibrium."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.cli.commands.exit_codes import INTERRUPTED
from qdts.cli.display.output import console
from qdts.cli.display.training import follower
from qdts.errors import InputError
from qdts.packages import verify_installed

if TYPE_CHECKING:
    from qdts.games.game import Game
    from qdts.learning.run import Run

EXAMPLES = """[bold]Examples[/]
  qdts train kuhn_poker --minutes 1
  qdts train leduc_poker --minutes 10 --seed 1 --out runs/leduc --threads 2
  qdts train leduc_poker --generations 100 --set search.visits=32
  qdts train --resume runs/leduc
  qdts train --resume runs/leduc --minutes 20
  qdts train --resume runs/mine --game ./my_game.py
  qdts train kuhn_poker --minutes 1 --json
  qdts train --settings leduc_poker

A run is kept in a folder: checkpoints, games, metrics.jsonl, and report.html,
which a browser shows at any time. Minutes are those of self-play and fitting.
Ctrl-C stops it and exits with 130; --resume continues after the last complete
generation.

NashConv is the sum of what the players could gain by best responses. It is
exact, and measured where the whole game can be enumerated and has at most
measure.most information sets; else it is null, and P plays matches: against
uniform play, a small search, the first checkpoint and one half as old.
--json has game, run, seed, generations, seconds, games, nash_conv,
nash_conv_average (with averaged weights), nash_conv_uniform (of uniform play),
nash_conv_search (visits, nash_conv),
value_error, belief_error, return_uniform, return_search, return_first,
return_earlier, each with its 95 % interval (return_uniform_ci95, …),
nash_conv_generation, nash_conv_search_generation and return_generation (the
generations that these are of), interrupted."""


def train(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="A name or the path of a game's file, with parameters in brackets: see [bold]qdts games[/]. "
            "Not needed with --resume.",
            show_default=False,
        ),
    ] = None,
    runs_game: Annotated[
        str | None,
        typer.Option(
            "--game",
            metavar="GAME",
            help="The same as GAME; with --resume the file of a game of your own that was moved, or has changed since.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes (default: 1).", show_default=False)
    ] = None,
    generations: Annotated[int | None, typer.Option(help="Stop after so many generations.", show_default=False)] = None,
    preset: Annotated[str | None, typer.Option(help="Use the preset of this name.", show_default=False)] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change one setting, such as search.visits=32; can be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of everything random (default: 0).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder (default: a new one in runs/).", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue the run in this folder.", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks are fitted and evaluated: cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Threads that self-play and fits share.")] = 1,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print all settings (of GAME, of a preset) and stop.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, on the last line.")] = False,
) -> None:
    """Learn a game by self-play, from the rules alone; NashConv measures the distance from equilibrium."""
    changes = set_ or []
    if game is not None and runs_game is not None:
        raise InputError(f"GAME {game} and --game {runs_game} are both given, expected one of them")
    game = game or runs_game
    if settings:
        _show_settings(game, preset, changes, as_json)
        return
    _check_options(game, resume, {"--preset": preset, "--set": set_, "--seed": seed, "--out": out})
    verify_installed("learning needs", "nets")
    interrupted = False
    with follower(silent=as_json) as watch:
        try:
            watch.load(game or str(resume))
            loaded = None if game is None else _load(game, preset, changes)
            from qdts.learning import loop

            if resume is not None:
                run = loop.resume(
                    resume, game=loaded, minutes=minutes, generations=generations, device=device, threads=threads,
                    watch=watch,
                )  # fmt: skip
            else:
                assert loaded is not None
                run = loop.train(
                    loaded, minutes=minutes, generations=generations, seed=seed or 0, out=out,
                    preset_name=preset or "default", settings=changes, device=device, threads=threads, watch=watch,
                )  # fmt: skip
        except KeyboardInterrupt:
            if watch.run is None:
                raise
            run, interrupted = watch.run, True
    _finish(run, interrupted, as_json)


def _check_options(game: str | None, resume: Path | None, of_new_runs: dict[str, object]) -> None:
    given = [name for name, value in of_new_runs.items() if value is not None]
    if resume is not None and given:
        raise InputError(f"{given[0]} with --resume: a run keeps what it was begun with, expected no {given[0]}")
    if resume is None and game is None:
        raise InputError("no GAME is given, expected a game to learn (qdts games lists them) or --resume DIR")


def _load(game: str, preset: str | None, changes: list[str]) -> Game:
    """The game; wrong settings raise an InputError here, before torch is loaded."""
    from qdts.games.registry import load_game
    from qdts.learning import config

    loaded = load_game(game)
    config.read_settings(changes, config.preset(preset or "default"))
    return loaded


def _finish(run: Run, interrupted: bool, as_json: bool) -> None:
    from qdts.cli.display import run as learned

    figures = learned.figures(run, interrupted=interrupted)
    if as_json:
        print(json.dumps(figures, allow_nan=False), flush=True)
    else:
        learned.show(console(), run, figures)
    if (sentence := learned.warning(run, figures)) is not None:
        print(f"qdts: warning: {sentence}", file=sys.stderr, flush=True)
    if interrupted:
        command = shlex.join(["qdts", "train", "--resume", str(run.folder)])
        over = run.progress(figures["generations"] + 1, figures["seconds"]) >= 1.0
        then = "the run is complete" if over else f"{command} continues"
        print(f"qdts: generations kept: {figures['generations']:,}; {then}", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED)


def _show_settings(game: str | None, preset_name: str | None, changes: list[str], as_json: bool) -> None:
    from qdts.cli.display import settings
    from qdts.games.registry import load_game
    from qdts.learning.config import flat, preset, read_settings

    if game is not None:
        load_game(game)
    config = read_settings(changes, preset(preset_name or "default"))
    if as_json:
        print(json.dumps(flat(config)))
    else:
        settings.show(console(), config, f"preset {preset_name}" if preset_name else game or "a run")

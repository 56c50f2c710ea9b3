"""`qdts fit`: learn from recorded games, and begin a run with what they teach."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qdts.cli.commands.arguments import AsJson, GameFile
from qdts.cli.commands.exit_codes import INTERRUPTED
from qdts.cli.display.output import console
from qdts.cli.display.training import follower
from qdts.packages import verify_installed

if TYPE_CHECKING:
    from qdts.learning.fitting import Epoch
    from qdts.learning.run import Run

EXAMPLES = """[bold]Examples[/]
  qdts fit leduc_poker --records games.txt
  qdts fit leduc_poker --records games.txt --records more.txt --epochs 20 --seed 1 --out runs/fitted
  qdts fit connect_four --records runs/connect_four-0 --minutes 5
  qdts train --resume runs/fitted --minutes 10
  qdts match leduc_poker leduc.npz leduc.npz --games 20000 --save-games games.txt

A text file has one game in each line: actions and chance outcomes from the
start to the end, by name or number, with commas or spaces between them, and
if you like the return of each player after =>. Lines that begin with # are
skipped. qdts walk GAME shows the names.

  # Kuhn poker
  deal K, deal J, Bet, Pass => 1 -1
  2 0 1 0

P learns how often each move was played, V the outcomes, H the worlds behind
the views. One game in ten is held out; learning ends when the losses on these
games no longer fall. At views that no game reaches, P is a guess. What is
learned is the first generation of a run: qdts train --resume continues it by
self-play. Ctrl-C keeps the best so far, and exits with 130."""


def fit(
    game: GameFile,
    records: Annotated[
        list[Path],
        typer.Option(
            "--records",
            metavar="FILE",
            help="Games: a text file, a record of self-play (.safetensors), or a run's folder, for its records; can be "
            "repeated.",
        ),
    ],
    epochs: Annotated[
        int | None, typer.Option(help="The most epochs (default: 50, without --minutes).", show_default=False)
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="The most minutes of learning.", show_default=False)] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change one setting, such as net.width=64; can be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder (default: a new one in runs/).", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks are fitted and evaluated: cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Threads that the fits of P, V and H share.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Learn P, V and H from recorded games, and begin a run that [bold]qdts train --resume[/] continues."""
    verify_installed("learning needs", "nets")
    interrupted = False
    with follower(silent=as_json) as watch:
        try:
            watch.load(game)
            from qdts.learning import fit as fitting

            run = fitting.fit(
                game, records, epochs=epochs, minutes=minutes, seed=seed, out=out, settings=set_ or [], device=device,
                threads=threads, watch=watch, report=lambda epoch: watch.say(_words(epoch)),
            )  # fmt: skip
        except KeyboardInterrupt:
            if watch.run is None or not watch.run.checkpoints():
                raise
            run, interrupted = watch.run, True
    _finish(run, interrupted, as_json)


def _words(epoch: Epoch) -> str:
    """The losses of an epoch in one line."""
    from qdts.learning.metrics import BY_NAME

    held = ", ".join(f"{BY_NAME[name].curve} {loss:.4f}" for name, loss in epoch.held_out.items())
    return f"epoch {epoch.epoch:>3}   held-out loss: {held}   {epoch.seconds:.1f} s{'   best' if epoch.best else ''}"


def _finish(run: Run, interrupted: bool, as_json: bool) -> None:
    from qdts.cli.display import run as learned
    from qdts.learning.fit import read_epochs

    figures = learned.figures(run, interrupted=interrupted)
    command = shlex.join(["qdts", "train", "--resume", str(run.folder), "--minutes", "10"])
    if as_json:
        print(json.dumps(figures | {"epochs": read_epochs(run)}, indent=2, allow_nan=False))
    else:
        learned.show(console(), run, figures)
        console().print(f"Self-play continues it: [bold]{command}[/]", soft_wrap=True)
    if interrupted:
        print("qdts: stopped by Ctrl-C: the best epoch is kept", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED)

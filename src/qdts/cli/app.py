"""The command line: its commands, and how errors come out."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from qdts.cli.commands import bench, check, evaluate, games, match, nashconv, policy, search, solve, survey, train, walk
from qdts.errors import InputError

PACKAGE = Path(__file__).parents[1]
WRONG_INPUT = 2
"""Exit code for what a person can correct."""

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What the parser raises for options and arguments that do not fit."""

app = typer.Typer(
    name="qdts",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="[bold]Examples[/]\n"
    "  qdts train kuhn_poker --minutes 1              learn a game by playing it\n"
    "  qdts games                                     what games there are\n"
    "  qdts solve leduc_poker --out leduc.npz         solve a game, keep the strategy\n"
    "  qdts policy leduc.npz                          look at it again\n"
    "  qdts check ./my_game.py                        is a game of your own in order?\n"
    "  qdts walk ./my_game.py                         step through it, with every player's view\n"
    "  qdts nashconv 'liars_dice(numdice=2)'          measure uniform play, or --policy FILE\n"
    "  qdts search leduc_poker --policy leduc.npz     one decision by search\n"
    "  qdts evaluate leduc_poker --policy leduc.npz   how well that search plays\n"
    "  qdts match leduc_poker ismcts:500 leduc.npz    one player against another\n"
    "  qdts solve 'liars_dice(dice_sides=4)' --json   the same for a program\n\n"
    "Exit codes: 0 done, 1 a law is broken (qdts check), 2 input that can be corrected, 130 stopped by Ctrl-C.",
)
app.command(epilog=games.EXAMPLES)(games.games)
app.command(epilog=solve.EXAMPLES)(solve.solve)
app.command(epilog=train.EXAMPLES)(train.train)
app.command(epilog=policy.EXAMPLES)(policy.policy)
app.command(epilog=check.EXAMPLES)(check.check)
app.command(epilog=walk.EXAMPLES)(walk.walk)
app.command(epilog=nashconv.EXAMPLES)(nashconv.nashconv)
app.command(epilog=search.EXAMPLES)(search.search)
app.command(epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command(epilog=match.EXAMPLES)(match.match)
app.command(epilog=survey.EXAMPLES)(survey.survey)
app.add_typer(bench.app, name="bench")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Games with hidden information: their rules, solving them exactly, searching, learning and playing."""
    if version:
        from importlib.metadata import version as installed

        print(f"qdts {installed('qdts')}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code.

    Wrong input is one sentence on stderr, without a traceback; a name that has changed is one line, a note.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default", FutureWarning)
        warnings.showwarning = _note
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = app(arguments, prog_name="qdts", standalone_mode=False)
    except InputError as error:
        return _fail(str(error))
    except UsageError as error:
        return _fail(error.format_message())  # type: ignore[attr-defined]
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains at exit
        return 1
    except (KeyboardInterrupt, typer.Abort):
        code = solve.INTERRUPTED
    except Exception as error:
        if (where := _fault_in_game(error)) is None:
            raise
        return _fail(f"the game's file fails: {where}")
    if code == solve.INTERRUPTED:
        _stop()
    return code or 0


def _fault_in_game(error: Exception) -> str | None:
    """The place and the words of an error that passed through the file of a game of one's own, else None."""
    from qdts.games.registry import fault_in_file

    return fault_in_file(error)


def _stop() -> None:
    """Say so; and leave at once if a call that can't be stopped still runs, lest Python be torn down around it."""
    print("qdts: stopped by Ctrl-C", file=sys.stderr, flush=True)
    from qdts.interrupt import left_behind

    if left_behind():
        sys.stdout.flush()
        os._exit(solve.INTERRUPTED)


def _note(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    """Show a warning: one line where it is a note of our own, else as Python does."""
    if issubclass(category, FutureWarning) and Path(filename).is_relative_to(PACKAGE):
        print("qdts: note:", " ".join(str(message).split()), file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def _fail(message: str) -> int:
    print("qdts:", " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT

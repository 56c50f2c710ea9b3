"""The command line: its commands, and what becomes of errors and warnings."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from qdts.cli.commands.exit_codes import INTERRUPTED, WRONG_INPUT
from qdts.errors import InputError

PACKAGE = Path(__file__).parents[1]

COMMANDS = (
    "games",
    "solve",
    "train",
    "fit",
    "policy",
    "check",
    "walk",
    "nashconv",
    "search",
    "evaluate",
    "match",
    "compare",
    "survey",
    "ablate",
    "bench",
)
"""The commands, in the order of the help.

`qdts.cli.commands.NAME` has a function NAME and its EXAMPLES, or an `app` with commands of its own. It is imported when
the command is run, or when the help lists it.
"""

EXAMPLES = """[bold]Examples[/]
  qdts train kuhn_poker --minutes 1              learn a game by self-play
  qdts fit leduc_poker --records games.txt       learn from recorded games
  qdts games                                     list the games
  qdts solve leduc_poker --out leduc.npz         solve a game, save the strategy
  qdts policy leduc.npz                          show a saved strategy
  qdts check ./my_game.py                        check a game of your own
  qdts walk ./my_game.py                         step through it, with every player's view
  qdts nashconv 'liars_dice(numdice=2)'          measure uniform play, or --policy FILE
  qdts search leduc_poker --policy leduc.npz     one decision by search
  qdts evaluate leduc_poker --policy leduc.npz   measure how well that search plays
  qdts match leduc_poker ismcts:500 leduc.npz    one player against another
  qdts compare runs/a runs/b --out both.png      runs side by side
  qdts solve 'liars_dice(dice_sides=4)' --json   the same for a program

Exit codes: 0 done, 1 a law is broken (qdts check), 2 input that can be corrected, 130 stopped by Ctrl-C."""

SYNONYMS = {"--solver": "--algorithm", "--method": "--algorithm", "--parallel": "--threads", "--output": "--out"}
"""Options that people try, and what they are called here."""
FULL = errno.ENOSPC, errno.EDQUOT
"""What goes wrong where a disk has no space left."""

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What the parser raises for wrong options and arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: What follows `qdts`; by default the arguments of this process.

    Returns:
        The exit code. Wrong input is reported in one sentence, without a traceback.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    _replace_unprintable(sys.stdout, sys.stderr)
    try:
        _verify_surroundings(given)
        with _notes():
            code = make_app(_commands_for(given))(given, prog_name="qdts", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _fail(str(error))
    except UsageError as error:
        return _fail(_usage(error))
    except BrokenPipeError:
        _silence_output()
        return 1
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if (sentence := _full_disk(error) or _fault_in_game(error)) is None:
            raise
        return _fail(sentence)
    if code == INTERRUPTED:
        _stop()
    return code or 0


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with some of its commands, whose modules are imported."""
    app = typer.Typer(
        name="qdts",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=EXAMPLES,
    )
    app.callback(invoke_without_command=True)(root)
    for name in names:
        module = import_module(f"qdts.cli.commands.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, epilog=module.EXAMPLES)(getattr(module, name))
    return app


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


def _commands_for(arguments: Sequence[str]) -> Sequence[str]:
    """The command that arguments begin with, or all of them where none is named or the name is wrong."""
    first = next(iter(arguments), "")
    return (first,) if first in COMMANDS else COMMANDS


def _verify_surroundings(arguments: Sequence[str]) -> None:
    """Raise an InputError where no command can work: in a folder that is gone, or with the compiler switched off."""
    try:
        Path.cwd()
    except OSError:
        raise InputError("the working directory does not exist any more: change to another one") from None
    if next(iter(arguments), "") in COMMANDS:
        from qdts.kernels import is_interpreted

        if is_interpreted():
            raise InputError("NUMBA_DISABLE_JIT switches numba's compiler off, which every command needs: unset it")


def _usage(error: Any) -> str:
    """What is wrong with options and arguments; for an unknown option also the one that was meant, or all there are."""
    said: str = error.format_message()
    if not hasattr(error, "option_name") or error.ctx is None:
        return said
    options = [name for parameter in error.ctx.command.params for name in parameter.opts if name.startswith("--")]
    if (meant := SYNONYMS.get(error.option_name)) in options:
        return f"No such option: {error.option_name} (did you mean {meant}?)"
    return said if error.possibilities else f"{said}; the options are {', '.join(options)}"


@contextmanager
def _notes() -> Iterator[None]:
    """Show notes and FutureWarnings of this package on standard error, in one line each."""
    from qdts.notes import Note

    with warnings.catch_warnings():
        for kind in (Note, FutureWarning):
            warnings.simplefilter("default", kind)
        show = warnings.showwarning

        def note(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, Note | FutureWarning) and Path(filename).is_relative_to(PACKAGE):
                print("qdts: note:", " ".join(str(message).split()), file=sys.stderr, flush=True)
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = note
        yield


def _replace_unprintable(*streams: TextIO) -> None:
    """Print a question mark for a character that a stream can't encode, as on some terminals of Windows."""
    for stream in streams:
        if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _fault_in_game(error: Exception) -> str | None:
    """That the file of a game of one's own failed, where and how; None for an error from elsewhere."""
    from qdts.games.registry import fault_in_file

    where = fault_in_file(error)
    return None if where is None else f"the game's file fails: {where}"


def _full_disk(error: Exception) -> str | None:
    """That standard output or a file can't be written, for want of space; None for another error."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        return None
    try:
        sys.stdout.flush()
    except OSError:
        _silence_output()
    return f"cannot write {error.filename or 'standard output, or a file of this command'}: {error.strerror}"


def _silence_output() -> None:
    """Drop what is still to be printed, else Python complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop() -> None:
    """Report Ctrl-C; exit at once if a call that can't be stopped still runs, lest Python be torn down around it."""
    print("qdts: stopped by Ctrl-C", file=sys.stderr, flush=True)
    from qdts.interrupt import left_behind

    if left_behind():
        sys.stdout.flush()
        os._exit(INTERRUPTED)


def _fail(message: str) -> int:
    print("qdts:", " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT

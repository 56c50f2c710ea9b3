"""Run a game's rules as plain Python on guarded vectors: `NUMBA_DISABLE_JIT=1 python -m qdts.testing.guard SPEC`.

Writes a transcript of a few random games. Ends with status 1 and one line of explanation if a rule reaches beyond its
vectors, writes where it may only read, or fails.
"""

from __future__ import annotations

import argparse
import contextlib
import sys

from qdts.games.interface import FunctionPointer
from qdts.games.registry import load_game
from qdts.testing.interpreted import GuardError, Interpreted
from qdts.testing.transcript import transcript


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="qdts.testing.guard", description="run a game's rules as plain Python")
    parser.add_argument("spec", help="the game, such as 'kuhn_poker(players=3)' or './my_game.py'")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a game's file prints is no part of the transcript
            game = load_game(given.spec)
            if isinstance(game.kernels.initial, FunctionPointer):
                parser.error("the rules are compiled: set NUMBA_DISABLE_JIT=1")
            lines = list(transcript(Interpreted(game), given.seed))
    except GuardError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

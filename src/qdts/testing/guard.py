"""Run a game's rules as plain Python on guarded vectors: `NUMBA_DISABLE_JIT=1 python -m qdts.testing.guard SPEC`.

Writes a transcript of a few random games. Ends with status 1 and one line of explanation if a rule reaches beyond its
vectors or writes where it may only read.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from qdts.games.interface import FunctionPointer
from qdts.games.registry import load_game, register
from qdts.testing.interpreted import GuardError, Interpreted
from qdts.testing.transcript import transcript


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="qdts.testing.guard", description="run a game's rules as plain Python")
    parser.add_argument("spec", help="the game, such as 'kuhn_poker(players=3)'")
    parser.add_argument("--file", type=Path, help="the Python file with its FAMILY, for a game of one's own")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.file:
        register_file(given.file)
    game = load_game(given.spec)
    if isinstance(game.kernels.initial, FunctionPointer):
        parser.error("the rules are compiled: set NUMBA_DISABLE_JIT=1")
    try:
        for line in transcript(Interpreted(game), given.seed):
            sys.stdout.write(f"{line}\n")
    except GuardError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def register_file(file: Path) -> None:
    """Register the FAMILY that a Python file holds."""
    sys.path.insert(0, str(file.parent))
    found = importlib.util.spec_from_file_location(file.stem, file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[file.stem] = module
    found.loader.exec_module(module)
    register(module.FAMILY)


if __name__ == "__main__":
    sys.exit(main())

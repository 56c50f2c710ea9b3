"""Golden files: a game's counts and one playthrough as text, to be compared line by line.

    python -m qdts.testing.golden [SPEC…] [--write DIR]

writes the texts of these games (all registered ones if none is named), into one file each if a folder is given. The
counts pin the rules, the returns of the uniform random policy pin chance and utilities, the playthrough is for reading.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from qdts.games import batch
from qdts.games.game import Choice, Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.registry import family_names, find_family, load_game
from qdts.kernels import Reals
from qdts.solving.exact.values import history_values
from qdts.solving.policy.table import uniform
from qdts.solving.tree.arrays import NONE, GameTree
from qdts.solving.tree.enumeration import enumerate_game
from qdts.testing.faults import ConformanceError, Law

FULL_LIMIT = 10_000_000
"""Games with at most so many histories are counted in full, others to a depth with at most PART_LIMIT."""
PART_LIMIT = 100_000
SEED = 0
"""Of the playthrough."""
ROUNDING = 1e-13
PLAIN = re.compile(r"\w+(\(\w+=[\w.]+(,\w+=[\w.]+)*\))?")


def registered() -> list[str]:
    """The specifications of all registered games: each family at its defaults, and its examples."""
    return [spec for name in family_names() for spec in (name, *find_family(name).examples)]


def file_name(spec: str) -> str:
    """A file name for a game: its specification with hyphens for punctuation, and a hash where that is ambiguous."""
    words = re.sub(r"[^\w.]+", "-", spec).strip("-")[:80]
    mark = "" if PLAIN.fullmatch(spec) and len(spec) < 80 else f"-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
    return f"{words}{mark}.txt"


def check(game: Game, file: Path) -> None:
    """Raise a ConformanceError at the first line that differs from the file."""
    if not file.exists():
        raise ConformanceError(Law.GOLDEN, game, f"there is no golden file {file}")
    expected, found = file.read_text(encoding="utf-8").splitlines(), write(game).splitlines()
    for number, (old, new) in enumerate(itertools.zip_longest(expected, found, fillvalue="the end"), 1):
        if old != new:
            raise ConformanceError(Law.GOLDEN, game, f"line {number} of {file.name}: expected '{old}', got '{new}'")


def write(game: Game) -> str:
    """The text of a golden file."""
    lines = [f"game: {game.spec}", f"version: {game.version}", "", *_counts(game), "", *_playthrough(game)]
    return "\n".join(lines) + "\n"


def _counts(game: Game) -> Iterator[str]:
    """The numbers of histories, nodes and information sets, and the returns of the uniform random policy."""
    tree, within = _tree(game)
    histories = tree.histories
    yield f"Counts{within}"
    yield f"histories: {tree.num_histories}"
    yield f"terminals: {tree.num_terminals}"
    yield f"chance nodes: {np.count_nonzero(histories.mover == CHANCE)}"
    yield f"decision nodes: {np.count_nonzero(histories.mover >= 0)}"
    for player in range(game.players):
        yield f"information sets of player {player}: {np.count_nonzero(tree.infosets.owner == player)}"
    yield f"deepest history: {_deepest(tree)}"
    yield f"returns of the uniform random policy{within}: {_numbers(history_values(tree, uniform(tree))[0])}"


def _tree(game: Game) -> tuple[GameTree, str]:
    """Every history, or those to the greatest depth within PART_LIMIT; and which of these it is, in words."""
    if batch.count_histories(game, game.max_depth, FULL_LIMIT) <= FULL_LIMIT:
        return enumerate_game(game, limit=FULL_LIMIT), ""
    depth = 0
    while batch.count_histories(game, depth + 1, PART_LIMIT) <= PART_LIMIT:
        depth += 1
    return enumerate_game(game, limit=PART_LIMIT, max_depth=depth), f" to depth {depth}"


def _deepest(tree: GameTree) -> int:
    """The length of the longest history."""
    at, depth = tree.histories.parent, 0
    while (at != NONE).any():
        at, depth = tree.histories.parent[at[at != NONE]], depth + 1
    return depth


def _numbers(reals: Reals) -> str:
    """Twelve significant digits; numbers within rounding of 0 are 0."""
    return " ".join("0" if abs(x) < ROUNDING else f"{x:.12g}" for x in reals)


def _playthrough(game: Game) -> Iterator[str]:
    """One random game: at each step the world, every player's view, the choices and the one taken."""
    rng = random.Random(SEED)
    world = game.initial()
    yield f"Playthrough with seed {SEED}"
    for step in itertools.count():
        mover = game.mover(world)
        yield ""
        yield f"step {step}"
        yield f"world: {game.layout.write(world)}"
        for player in range(game.players):
            yield f"view of player {player}: {game.layout.write(game.view(world, player))}"
        if mover == TERMINAL:
            yield f"returns: {_numbers(game.returns(world))}"
            return
        choices = game.choices(world)
        taken = choices[int(rng.random() * len(choices))]
        yield f"mover: {'chance' if mover == CHANCE else f'player {mover}'}"
        yield "choices: " + ", ".join(map(_text, choices))
        yield f"taken: {taken.name}"
        world = game.step(world, taken.number)


def _text(choice: Choice) -> str:
    """The name of a choice, with its probability if it is left to chance."""
    return choice.name if choice.probability is None else f"{choice.name} ({choice.probability:.12g})"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="qdts.testing.golden", description="write golden files")
    parser.add_argument("spec", nargs="*", help="games, such as 'kuhn_poker(players=3)'; all registered ones if none")
    parser.add_argument("--write", type=Path, metavar="DIR", help="the folder for the files")
    given = parser.parse_args()
    for spec in given.spec or registered():
        game = load_game(spec)
        text = write(game)
        if given.write is None:
            sys.stdout.write(text)
        else:
            given.write.mkdir(parents=True, exist_ok=True)
            (given.write / file_name(game.spec)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

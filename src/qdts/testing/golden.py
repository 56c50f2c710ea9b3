"""Golden files: a game's counts and one playthrough as text, to be compared line by line.

    python -m qdts.testing.golden [SPEC…] [--write DIR]

writes the texts of these games (of all registered ones if none is named), into one file each if a folder is given.
The counts pin the rules, the returns of the uniform random policy pin chance and utilities, the playthrough is there to
be read.
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
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.registry import family_names, find_family, load_game
from qdts.kernels import Ints, Reals
from qdts.solving.exact.values import history_values
from qdts.solving.policy.table import uniform
from qdts.solving.tree.arrays import NONE, GameTree
from qdts.solving.tree.enumeration import enumerate_game
from qdts.testing.faults import ConformanceError, Law

FULL_LIMIT = 10_000_000
"""Games with at most so many histories are counted whole, others to a depth with at most PART_LIMIT."""
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
    """How much there is of everything, and what the uniform random policy gets."""
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
    """Every history, or those to the greatest depth that is not too large, and which of these it is, in words."""
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
    """To twelve significant digits; what is nothing but rounding is 0."""
    return " ".join("0" if abs(x) < ROUNDING else f"{x:.12g}" for x in reals)


def _playthrough(game: Game) -> Iterator[str]:
    """One random game, as those at the table would tell it."""
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
        choices = _choices(game, world, mover)
        taken, name, _ = choices[int(rng.random() * len(choices))]
        yield f"mover: {'chance' if mover == CHANCE else f'player {mover}'}"
        yield "choices: " + ", ".join(name + chance for _, name, chance in choices)
        yield f"taken: {name}"
        world = game.step(world, taken)


def _choices(game: Game, world: Ints, mover: int) -> list[tuple[int, str, str]]:
    """What may happen: the number, the name, and the probability if it is left to chance."""
    if mover == CHANCE:
        return [(o, game.outcome_name(o), f" ({p:.12g})") for o, p in game.chance(world)]
    return [(a, game.action_name(a), "") for a in game.legal(world)]


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

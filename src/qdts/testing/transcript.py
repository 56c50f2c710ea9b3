"""What every rule of a game returns along a few random games, line by line.

The compiled rules and the same rules as plain Python must give the same lines.
"""

from __future__ import annotations

import inspect
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.games.registry import IMPORTED, NATIVE, find_family
from qdts.kernels import Ints
from qdts.testing.faults import ConformanceError, Law
from qdts.testing.interpreted import Interpreted

GAMES = 5
"""How many games a transcript holds."""
LOOKS = 12
"""At about how many steps of each game the players' views are written."""

Rules = Game | Interpreted


def transcript(rules: Rules, seed: int) -> Iterator[str]:
    """Play random games and write what each rule returns; a game without a choice, or without an end, is broken off."""
    rng = random.Random(seed)
    look = LOOKS / rules.max_depth
    for _ in range(GAMES):
        world = rules.initial()
        yield f"initial {_text(world)}"
        for _ in range(rules.max_depth):
            if (mover := rules.mover(world)) == TERMINAL:
                break
            yield f"mover {mover} midway {int(rules.midway(world))}"
            if rng.random() < look:
                for player in range(rules.players):
                    yield from _seat(rules, world, player, rng)
            outcomes = rules.chance(world) if mover == CHANCE else [(a, 1.0) for a in rules.legal(world)]
            if not outcomes:
                return
            action = rng.choice(outcomes)[0]
            world = rules.step(world, action)
            yield f"choices {_text(outcomes)} taken {action} step {_text(world)}"
        if rules.mover(world) == TERMINAL:
            yield f"returns {_text(rules.returns(world))}"


def _seat(rules: Rules, world: Ints, player: int, rng: random.Random) -> Iterator[str]:
    """What one player sees, what they may do, and how their view may be filled."""
    view = rules.view(world, player)
    mover = rules.mover(view)
    yield f"player {player} features {_text(rules.features(world, player))}"
    yield f"player {player} redact {_text(view)} mover {mover}"
    if mover == player:
        yield f"player {player} legal {_text(rules.legal(view))}"
    for _ in range(len(view)):
        if (hole := rules.hole(view)) == NO_HOLE:
            return
        yield f"player {player} features {_text(rules.features(view, player))}"
        offered = rules.values(view, hole)
        if not offered:
            return
        view = rules.fill(view, hole, rng.choice(offered)[0])
        yield f"hole {hole} values {_text(offered)} fill {_text(view)}"


def _text(numbers: Any) -> str:
    """Whole numbers, and others to nine digits."""
    return " ".join(f"{x:.9g}" for x in np.ravel(numbers).tolist())


def interpreted_lines(game: Game, seed: int) -> list[str]:
    """The transcript of the rules as plain Python, from another process; they must stay within their vectors."""
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "qdts.testing.guard", _anywhere(game), f"--seed={seed}"]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConformanceError(Law.GUARD, game, done.stderr.strip().splitlines()[-1])
    return done.stdout.splitlines()


def _anywhere(game: Game) -> str:
    """A specification that loads a game in another process, from the file of its family if it is one's own."""
    if game.name in NATIVE or game.name.startswith(IMPORTED):
        return game.spec
    return inspect.getfile(find_family(game.name).build) + game.spec.removeprefix(game.name)


def check_same(game: Game, seed: int, lines: list[str]) -> None:
    """The compiled rules return what the interpreted ones returned."""
    for compiled, interpreted in itertools.zip_longest(transcript(game, seed), lines, fillvalue="nothing"):
        if compiled != interpreted:
            raise ConformanceError(Law.COMPILED, game, f"compiled: '{compiled}', interpreted: '{interpreted}'")

"""What every rule of a game says along a few random games, line by line.

The compiled rules and the same rules as plain Python must give the same lines.
"""

from __future__ import annotations

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
from qdts.games.registry import NATIVE, find_family
from qdts.kernels import Ints
from qdts.testing.faults import ConformanceError, Law
from qdts.testing.interpreted import Interpreted

GAMES = 5
"""How many games a transcript holds."""
LOOKS = 12
"""In games that may be longer, what the players see is told at about so many steps of each."""

Rules = Game | Interpreted


def transcript(rules: Rules, seed: int) -> Iterator[str]:
    """Play some random games and tell what each rule says."""
    rng = random.Random(seed)
    look = LOOKS / rules.max_depth
    for _ in range(GAMES):
        world = rules.initial()
        yield f"initial {_text(world)}"
        while (mover := rules.mover(world)) != TERMINAL:
            yield f"mover {mover} midway {int(rules.midway(world))}"
            if rng.random() < look:
                for player in range(rules.players):
                    yield from _seat(rules, world, player, rng)
            outcomes = rules.chance(world) if mover == CHANCE else [(a, 1.0) for a in rules.legal(world)]
            action = rng.choice(outcomes)[0]
            world = rules.step(world, action)
            yield f"choices {_text(outcomes)} taken {action} step {_text(world)}"
        yield f"returns {_text(rules.returns(world))}"


def _seat(rules: Rules, world: Ints, player: int, rng: random.Random) -> Iterator[str]:
    """What one player sees, what he may do, and how his view may be filled."""
    view = rules.view(world, player)
    mover = rules.mover(view)
    yield f"player {player} features {_text(rules.features(world, player))}"
    yield f"player {player} redact {_text(view)} mover {mover}"
    if mover == player:
        yield f"player {player} legal {_text(rules.legal(view))}"
    while (hole := rules.hole(view)) != NO_HOLE:
        yield f"player {player} features {_text(rules.features(view, player))}"
        offered = rules.values(view, hole)
        view = rules.fill(view, hole, rng.choice(offered)[0])
        yield f"hole {hole} values {_text(offered)} fill {_text(view)}"


def _text(numbers: Any) -> str:
    """Whole numbers, and others to nine digits."""
    return " ".join(f"{x:.9g}" for x in np.ravel(numbers).tolist())


def check_interpreted(game: Game, seed: int) -> None:
    """The rules as plain Python, in a process of their own, keep within their vectors and say the same."""
    command = [sys.executable, "-m", "qdts.testing.guard", game.spec, f"--seed={seed}"]
    if game.name not in NATIVE:
        command.append(f"--file={sys.modules[find_family(game.name).build.__module__].__file__}")
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConformanceError(Law.GUARD, game, done.stderr.strip().splitlines()[-1])
    pairs = itertools.zip_longest(transcript(game, seed), done.stdout.splitlines(), fillvalue="nothing")
    for compiled, interpreted in pairs:
        if compiled != interpreted:
            raise ConformanceError(Law.GUARD, game, f"compiled: '{compiled}', interpreted: '{interpreted}'")

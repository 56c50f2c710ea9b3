"""Random games at native speed: every player chooses evenly, chance as its probabilities say.

A playout calls a rule at every step, so each game has one of its own, into which its rules are compiled: a copy of
one template whose globals are the game's rules. It compiles when the first playout of the game is asked for, once
for all parameter values, and is kept like every kernel. What comes out is a plain C function, which a search can
call through its pointer.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import config, float64, int64

from qdts.games.game import Game
from qdts.games.interface import (
    CHANCE,
    SIGNATURES,
    TERMINAL,
    FunctionPointer,
    Pointer,
    PointerType,
    RealPointer,
    RulesType,
)
from qdts.kernels import PACKAGE, Ints, Reals, compiled, kernel
from qdts.pointers import pointer
from qdts.rng import GOLDEN, State, StatePointer, StateType, drawn, mixed, one_of, seeded

PLAYOUT = int64(Pointer, Pointer, Pointer, RealPointer, StatePointer, RealPointer)
"""The signature of a playout; see `_play_out`."""
PlayoutType = PointerType(PLAYOUT)


class Playouts(NamedTuple):
    """What a number of random games gave."""

    games: int
    steps: int
    """Actions and outcomes in all of them."""
    returns: Reals
    """float64[P]: the mean of every player's returns."""


def play_randomly(game: Game, games: int, *, seed: int = 0, world: Ints | None = None) -> Playouts:
    """Play random games from the start, or from a world."""
    start = game.initial() if world is None else world
    total = np.zeros(game.players)
    steps = _play(playout_of(game), game.rules, start, game.max_branching, games, seeded(seed), total)
    return Playouts(games, int(steps), total / max(games, 1))


@kernel(int64(PlayoutType, RulesType, int64[::1], int64, int64, StateType, float64[::1]))
def _play(play_out: Any, rules: Ints, start: Ints, branching: int, games: int, state: State, total: Reals) -> int:
    world, actions = start.copy(), np.zeros(branching, np.int64)
    chances, utilities = np.zeros(branching), np.zeros(len(total))
    rules_at, world_at, actions_at = pointer(rules), pointer(world), pointer(actions)
    chances_at, state_at, utilities_at = pointer(chances), pointer(state), pointer(utilities)
    steps = 0
    for _ in range(games):
        for i in range(len(start)):
            world[i] = start[i]
        steps += play_out(rules_at, world_at, actions_at, chances_at, state_at, utilities_at)
        for p in range(len(total)):
            total[p] += utilities[p]
    return steps


def playout_of(game: Game) -> FunctionPointer:
    """A game's playout, with the signature PLAYOUT; with the JIT switched off a plain function."""
    return _compile(game.pick, *(rule if config.DISABLE_JIT else rule.dispatcher for rule in game.kernels))


@functools.cache
def _compile(pick: Any, *functions: Any) -> Any:
    """The playout of a game with these rules, in the order of SIGNATURES."""
    rules = dict(zip(SIGNATURES, functions, strict=True))
    listed, direct = (_list_and_choose, rules), (_choose, {"pick": pick})
    rules["choose"] = _bind(*(listed if pick is None else direct), forceinline=True)
    play_out = _bind(_play_out, rules)
    return play_out if config.DISABLE_JIT else FunctionPointer(play_out, PLAYOUT)


def _bind(template: Any, rules: dict[str, Any], **options: bool) -> Any:
    """A copy of a template, compiled, in which `bound` holds these rules. The cache knows it by a name of its own."""
    plain = [getattr(rule, "py_func", rule) for rule in rules.values()]
    files = [Path(rule.__code__.co_filename) for rule in plain]
    module = ModuleType("bound")
    module.__dict__.update(rules)
    names = " ".join(f"{rule.__module__}.{rule.__qualname__}" for rule in plain)
    name = f"{template.__name__}_{hashlib.sha256(names.encode()).hexdigest()[:16]}"
    code = template.__code__.replace(co_name=name, co_qualname=name)
    own = FunctionType(code, template.__globals__ | {"bound": module}, name)
    outside = (file for file in files if not file.is_relative_to(PACKAGE))
    return compiled(own, beside=next(outside, files[0]), no_cpython_wrapper=True, no_rewrites=True, **options)


bound: Any = None
"""In the copies of the templates below, the rules of a game."""


def _play_out(rules: Ints, world: Ints, actions: Ints, chances: Reals, state: State, utilities: Reals) -> int:
    """Play from a world to the end, in place, and write the returns; return the number of steps.

    `actions` and `chances` are scratch, as long as the game's `max_branching`; the state moves on by one a step.
    """
    random, steps = state[0], 0
    while True:
        mover = bound.mover(rules, world)
        if mover == TERMINAL:
            break
        random += GOLDEN
        action = bound.choose(rules, world, mover, actions, chances, mixed(random))
        bound.step(rules, world, action)
        steps += 1
    state[0] = random
    bound.returns(rules, world, utilities)
    return steps


def _list_and_choose(rules: Ints, world: Ints, mover: int, actions: Ints, chances: Reals, bits: np.uint64) -> int:
    """What the mover does by random bits, from a list of all that he can do."""
    if mover == CHANCE:
        return actions[drawn(chances, bound.chance(rules, world, actions, chances), bits)]
    return actions[one_of(bound.legal(rules, world, actions), bits)]


def _choose(rules: Ints, world: Ints, mover: int, actions: Ints, chances: Reals, bits: np.uint64) -> int:
    """The same, by the game's own shortcut."""
    return bound.pick(rules, world, bits)

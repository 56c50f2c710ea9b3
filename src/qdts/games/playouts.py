"""Random games at native speed: every player chooses uniformly, chance with its probabilities.

A playout calls a rule at every step, so each game has one of its own, into which its rules are compiled: a copy of
one template whose globals are the game's rules. It compiles when the first playout of the game is needed, and is
kept like every kernel. What comes out is a plain C function, of which there are two:

    playout    one game, once for all parameter values; a search calls it through its pointer
    series     many games from one position, with the parameters as constants: the loops over players are gone
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64
from numba.core.typing.templates import Signature

from qdts.games.game import Game
from qdts.games.interface import SIGNATURES, FunctionPointer, Pointer, PointerType, RealPointer, RulesType
from qdts.games.rule import CHANCE, TERMINAL
from qdts.kernels import Ints, Reals, compiled, is_interpreted, kernel
from qdts.pointers import StatePointer, StateType, element, pointer
from qdts.rng import GOLDEN, State, mixed, one_of, sample_index, seeded

PLAYOUT = int64(Pointer, Pointer, Pointer, RealPointer, StatePointer, RealPointer)
"""The signature of a playout; see `_play_out`."""
PlayoutType = PointerType(PLAYOUT)

SERIES = int64(*PLAYOUT.args, Pointer, int64, RealPointer)
"""The signature of a series; see `_play_series`."""
SeriesType = PointerType(SERIES)

MOST_CONSTANTS = 1024
"""The longest `Game.rules` that a series has as constants; those of an imported game are its whole tree."""
AHEAD = np.uint64(2 * int(GOLDEN) % 2**64)
"""By how much the state of a playout's stream advances in two draws."""


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
    steps = _play(series_of(game), game.rules, start, game.max_branching, games, seeded(seed), total)
    return Playouts(games, int(steps), total / max(games, 1))


@kernel(int64(SeriesType, RulesType, int64[::1], int64, int64, StateType, float64[::1]))
def _play(play_series: Any, rules: Ints, start: Ints, branching: int, games: int, state: State, total: Reals) -> int:
    world, actions = start.copy(), np.zeros(branching, np.int64)
    chances, utilities = np.zeros(branching), np.zeros(len(total))
    rules_at, start_at, world_at, actions_at = pointer(rules), pointer(start), pointer(world), pointer(actions)
    chances_at, state_at, utilities_at, total_at = pointer(chances), pointer(state), pointer(utilities), pointer(total)
    steps: int = play_series(
        rules_at, world_at, actions_at, chances_at, state_at, utilities_at, start_at, games, total_at
    )
    return steps


def playout_of(game: Game) -> FunctionPointer:
    """A game's playout, with the signature PLAYOUT; with the JIT switched off a plain function."""
    return _compile_playout(game.pick, *_functions(game))


def series_of(game: Game) -> FunctionPointer:
    """A game's series, with the signature SERIES; with the JIT switched off a plain function."""
    constant = len(game.rules) <= MOST_CONSTANTS and not is_interpreted()
    constants = tuple(game.rules.tolist()) if constant else None
    return _compile_series(constants, game.world_size, game.players, game.pick, *_functions(game))


def _functions(game: Game) -> Iterable[Any]:
    """The rules of a game as a kernel calls them by name."""
    return (rule if is_interpreted() else rule.dispatcher for rule in game.kernels)


@functools.cache
def _compile_playout(pick: Any, *functions: Any) -> Any:
    """The playout of a game with these rules, in the order of SIGNATURES."""
    return _compile(_bind_playout(pick, functions), PLAYOUT, [*functions, pick])


@functools.cache
def _compile_series(constants: tuple[int, ...] | None, size: int, players: int, pick: Any, *functions: Any) -> Any:
    """The series of a game with these rules; its parameters, if not None, and the lengths of its vectors are constants.

    The rules compile anew, within it: as they are kept, their loops are unrolled for any number of turns already.
    """
    anew = [_helper(getattr(function, "py_func", function)) for function in functions]
    parameters = _bind(_given, {}) if constants is None else _bind(_known, {"rules": np.array(constants, np.int64)})
    held = {"play_out": _helper(_bind_playout(pick, anew)), "parameters": _helper(parameters)}
    return _compile(_bind(_play_series, {**held, "size": size, "players": players}), SERIES, [*functions, pick])


def _bind_playout(pick: Any, functions: Iterable[Any]) -> Any:
    """The playout that calls these rules."""
    rules = dict(zip(SIGNATURES, functions, strict=True))
    choose = _bind(_list_and_choose, rules) if pick is None else _bind(_choose, {"pick": pick})
    return _bind(_play_out, {**rules, "choose": _helper(choose)})


def _bind(template: Any, held: dict[str, Any]) -> Any:
    """A copy of a template in which `bound` holds these. The cache knows it by a name of its own."""
    module = ModuleType("bound")
    module.__dict__.update(held)
    digest = hashlib.sha256(" ".join(f"{name} {_text(value)}" for name, value in held.items()).encode())
    name = f"{template.__name__}_{digest.hexdigest()[:16]}"
    code = template.__code__.replace(co_name=name, co_qualname=name)
    return FunctionType(code, template.__globals__ | {"bound": module}, name)


def _text(value: Any) -> str:
    """A text that distinguishes a function or a constant from others."""
    plain = getattr(value, "py_func", value)
    return f"{plain.__module__}.{plain.__qualname__}" if callable(plain) else str(np.asarray(value).tolist())


def _compile(function: Any, signature: Signature, rules: Iterable[Any]) -> Any:
    """A C function that calls some rules, kept with them."""
    files = [Path(getattr(rule, "py_func", rule).__code__.co_filename) for rule in rules if rule is not None]
    own = compiled(function, beside=files, no_cpython_wrapper=True, no_rewrites=True)
    return own if is_interpreted() else FunctionPointer(own, signature)


_helper = kernel(inline=True)

bound: Any = None
"""In the copies of the templates below, the rules of a game, and what else is known of it."""


def _play_series(
    rules: Ints, world: Ints, actions: Ints, chances: Reals, state: State, utilities: Reals,
    start: Ints, games: int, total: Reals,
) -> int:  # fmt: skip
    """Play games from one start, each as a playout does, and add up their returns; return the number of steps."""
    parameters, steps = bound.parameters(rules), 0
    for _ in range(games):
        for i in range(bound.size):
            world[i] = start[i]
        steps += bound.play_out(parameters, world, actions, chances, state, utilities)
        for p in range(bound.players):
            total[p] += utilities[p]
    return steps


def _given(rules: Ints) -> Ints:
    """The parameters of any game."""
    return rules


def _known(rules: Ints) -> Any:
    """Those of this game, constants."""
    return element(bound.rules, 0)


def _play_out(rules: Ints, world: Ints, actions: Ints, chances: Reals, state: State, utilities: Reals) -> int:
    """Play from a world to the end, in place, and write the returns; return the number of steps.

    `actions` and `chances` are scratch, as long as the game's `max_branching`; the state advances by one a step.
    Random bits are made two steps ahead. A choice is a branch that the processor can't foresee; whenever it took the
    wrong one, what it waits for then is there already.
    """
    random, steps = state[0] + AHEAD, 0
    bits, later = mixed(random - GOLDEN), mixed(random)
    while True:
        mover = bound.mover(rules, world)
        if mover == TERMINAL:
            break
        random += GOLDEN
        now, bits, later = bits, later, mixed(random)
        action = bound.choose(rules, world, mover, actions, chances, now)
        bound.step(rules, world, action)
        steps += 1
    state[0] = random - AHEAD
    bound.returns(rules, world, utilities)
    return steps


def _list_and_choose(rules: Ints, world: Ints, mover: int, actions: Ints, chances: Reals, bits: np.uint64) -> int:
    """What the mover does by random bits, from a list of all choices."""
    if mover == CHANCE:
        return actions[sample_index(chances, bound.chance(rules, world, actions, chances), bits)]
    return actions[one_of(bound.legal(rules, world, actions), bits)]


def _choose(rules: Ints, world: Ints, mover: int, actions: Ints, chances: Reals, bits: np.uint64) -> int:
    """The same, by the game's own shortcut."""
    return bound.pick(rules, world, bits)

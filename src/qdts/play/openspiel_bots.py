"""OpenSpiel's bots by name, and whether one can play a game.

A bot is written `NAME(parameter=value,...)`. A bot that does not suit a game may raise an error or end the process, so
it first plays a few games in a process of its own: this file, run as a program. It imports nothing heavy.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdts.errors import InputError, unknown

TRIAL_GAMES = 3
TRIAL_SECONDS = 20.0
"""A bot that takes longer for its trial is refused."""
TRIAL_MOST = {"simulations": 2, "rollouts": 1, "iterations": 1}
"""The largest values of these parameters in a trial."""
MEMORY_MB = 1000
"""Memory of the tree of `mcts`."""

Maker = Callable[[int, int], Any]
"""From a player and a seed to a `pyspiel.Bot`."""


@dataclass(frozen=True)
class Kind:
    """A bot that is made here, and not by OpenSpiel's registry."""

    defaults: Mapping[str, int | float | bool]
    """Every parameter with its default; a value must be of the same type, and no number may be negative."""
    maker: Callable[..., Maker]
    """Called with OpenSpiel's game and every parameter."""


def _uniform(theirs: Any) -> Maker:
    return _sampled(theirs, _pyspiel().UniformPolicy())


def _mcts(theirs: Any, simulations: int, c: float, rollouts: int, solve: bool) -> Maker:
    def make(_player: int, seed: int) -> Any:
        rollout = _pyspiel().RandomRolloutEvaluator(rollouts, seed)
        return _pyspiel().MCTSBot(theirs, rollout, c, simulations, MEMORY_MB, solve, seed, False)

    return make


def _ismcts(_theirs: Any, simulations: int, c: float, rollouts: int) -> Maker:
    def make(_player: int, seed: int) -> Any:
        rollout = _pyspiel().RandomRolloutEvaluator(rollouts, seed)
        return _pyspiel().ISMCTSBot(seed, rollout, c, simulations)

    return make


def _cfr(theirs: Any, iterations: int) -> Maker:
    return _averaged(theirs, _pyspiel().CFRSolver(theirs), iterations)


def _cfr_plus(theirs: Any, iterations: int) -> Maker:
    return _averaged(theirs, _pyspiel().CFRPlusSolver(theirs), iterations)


def _averaged(theirs: Any, solver: Any, iterations: int) -> Maker:
    """Makes bots that play a solver's average policy."""
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    # the average policy refers to its solver, which must live as long as the bots
    return _sampled(theirs, solver.average_policy(), solver)


def _sampled(theirs: Any, policy: Any, *_kept: Any) -> Maker:
    """Makes bots that sample from a policy."""

    def make(player: int, seed: int, _kept: Any = _kept) -> Any:
        return _pyspiel().make_policy_bot(theirs, player, seed, policy)

    return make


SEARCH = {"simulations": 1000, "c": 2.0, "rollouts": 1}
KINDS: Mapping[str, Kind] = {
    "uniform": Kind({}, _uniform),
    "mcts": Kind({**SEARCH, "solve": True}, _mcts),
    "ismcts": Kind(SEARCH, _ismcts),
    "cfr": Kind({"iterations": 100}, _cfr),
    "cfr+": Kind({"iterations": 100}, _cfr_plus),
}
"""The bots that are made here, by name."""
TREE_WALKERS = ("cfr", "cfr+")
"""Bots that enumerate the whole game."""


def bot_names() -> list[str]:
    """The names of all bots."""
    return sorted({*KINDS, *_pyspiel().registered_bots()})


def read_parameters(name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a bot, from text; an InputError names the choices.

    Those of a bot in OpenSpiel's registry are passed on without a check, as numbers, true or false, or text.
    """
    if name not in KINDS:
        if name not in bot_names():
            raise unknown("bot of OpenSpiel", name, bot_names())
        return {key: _guessed(text) for key, text in given.items()}
    defaults = KINDS[name].defaults
    for key in given:
        if key not in defaults:
            raise unknown(f"parameter of openspiel:{name}", key, defaults)
    return {key: _read(name, key, given[key], value) if key in given else value for key, value in defaults.items()}


def _read(name: str, key: str, text: str, default: int | float | bool) -> int | float | bool:
    value = _guessed(text)
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    least = 0.0 if isinstance(default, float) else 1
    if type(value) is not type(default) or (type(value) is not bool and not least <= value < 2**31):
        words = "true or false" if isinstance(default, bool) else f"a {'' if least == 0.0 else 'whole '}number"
        bound = "" if isinstance(default, bool) else f" of at least {least:g}"
        raise InputError(f"{key}={text} is not possible for openspiel:{name}, expected {words}{bound}")
    return value


def _guessed(text: str) -> Any:
    """The number, true or false that a text stands for, or the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | str) else text


def make_bots(theirs: Any, name: str, parameters: Mapping[str, Any]) -> Maker:
    """The function that makes the bots of a name, for a game of OpenSpiel."""
    if name in KINDS:
        return KINDS[name].maker(theirs, **parameters)
    return lambda player, seed: _pyspiel().load_bot(name, theirs, player, {"seed": seed, **parameters})


def verify_plays(spec: str, theirs: Any, name: str, parameters: Mapping[str, Any]) -> None:
    """Raise an InputError unless a bot plays some games to the end; `spec` is our name of the game."""
    lighter = {key: min(value, TRIAL_MOST.get(key, value)) for key, value in parameters.items()}
    command = [sys.executable, "-P", str(Path(__file__)), str(theirs), name, json.dumps(lighter)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        reason = f"it takes more than {TRIAL_SECONDS:g} s for {TRIAL_GAMES} games"
    else:
        if done.returncode == 0:
            return
        reason = done.stdout.strip() or f"OpenSpiel crashes (exit code {done.returncode})"
    raise InputError(f"openspiel:{name} can't play {spec}: {reason}")


def _pyspiel() -> Any:
    import pyspiel

    return pyspiel


def _trial(spec: str, name: str, parameters: str) -> int:
    """Play some games with the bot in all seats; the exit code, after printing what was wrong."""
    try:
        theirs = _pyspiel().load_game(spec)
        make = make_bots(theirs, name, json.loads(parameters))
        for seed in range(TRIAL_GAMES):
            bots = [make(player, seed) for player in range(theirs.num_players())]
            _pyspiel().evaluate_bots(theirs.new_initial_state(), bots, seed)
    except Exception as error:
        sys.stdout.write((str(error).splitlines() or [type(error).__name__])[0])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_trial(*sys.argv[1:]))

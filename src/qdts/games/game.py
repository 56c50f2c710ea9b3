"""The frozen description of one game with its parameters, and the same rules called from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from qdts.errors import InputError, unknown
from qdts.games.layout import Layout
from qdts.games.rule import CHANCE, TERMINAL, UNKNOWN, Kernels
from qdts.kernels import Ints, Reals, Reals32

Namer = Callable[[int], str]
Replay = Callable[[Ints], list[int]]


@dataclass(frozen=True, eq=False)
class Game:
    """Everything that is known of a game without playing it."""

    name: str
    """The family's name, such as `liars_dice`."""
    parameters: Mapping[str, Any]
    """Every parameter with its value."""
    spec: str
    """The name with the parameters that differ from their defaults: `liars_dice(numdice=2)`."""
    version: int
    """Changes when behaviour does; policies and checkpoints store it."""
    players: int
    rules: Ints
    """What the kernels get to know of the parameters. int64[any], read-only"""
    kernels: Kernels
    layout: Layout
    """The slots of a world."""
    num_actions: int
    """Actions are numbered 0 .. num_actions - 1."""
    num_outcomes: int
    """Chance outcomes are numbered 0 .. num_outcomes - 1."""
    num_values: int
    """Values of a hole are numbered 0 .. num_values - 1: the width of H."""
    max_depth: int
    """No history is longer; chance events and sub-actions count."""
    min_return: float
    max_return: float
    """Bounds of every player's return."""
    feature_shape: tuple[int, ...]
    """(length,), or (planes, height, width) where the game is played on a board."""
    action_name: Namer
    outcome_name: Namer = str
    hidden: bool = True
    """Whether any player ever has a hole in his view. If not, a view is a position."""
    zero_sum: bool = True
    memory: Literal["perfect", "sufficient"] = "perfect"
    """`perfect`: a view determines all earlier views and actions of its owner. `sufficient`: the game declares
    that what a view forgets does not matter. Where nothing is hidden neither is asked for."""
    weights: Literal["chance", "equal"] = "chance"
    """What the weights of a hole's values are: exact under chance alone, or merely equal."""
    replay: Replay | None = None
    """The actions and outcomes that lead to a full world; needed where the game is too large to enumerate."""
    pick: Callable[..., int] | None = None
    """A kernel `pick(rules, world, bits)`: what the mover does by 64 random bits, the same as from the whole list."""
    title: Callable[[Ints], str] | None = None
    """How a person would call a view (`K, raise, call`); where absent, the layout's text is shown."""
    action_numbers: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rules.setflags(write=False)
        numbers = {self.action_name(a).lower(): a for a in range(self.num_actions)}
        if len(numbers) != self.num_actions:
            raise TypeError(f"{self.spec}: action names are not distinct")
        object.__setattr__(self, "action_numbers", numbers)

    def __str__(self) -> str:
        return self.spec

    def __reduce__(self) -> tuple[Any, ...]:
        from qdts.games.registry import load_game, path_spec

        return load_game, (path_spec(self),)

    @property
    def world_size(self) -> int:
        """The number of slots of a world."""
        return self.layout.size

    @cached_property
    def num_features(self) -> int:
        """The number of features, whatever their shape."""
        return int(np.prod(self.feature_shape))

    @property
    def max_branching(self) -> int:
        """No node has more children."""
        return max(self.num_actions, self.num_outcomes, 1)

    def initial(self) -> Ints:
        """The world before anything has happened."""
        world = np.zeros(self.world_size, np.int64)
        self.kernels.initial.call(self.rules.ctypes.data, world.ctypes.data)
        return world

    def mover(self, world: Ints) -> int:
        """The player to move, CHANCE, TERMINAL, or OTHERS."""
        return int(self.kernels.mover.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data))

    def legal(self, world: Ints) -> list[int]:
        """The mover's legal actions."""
        out = np.zeros(self.max_branching, np.int64)
        n = self.kernels.legal.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data)
        return [int(a) for a in out[:n]]

    def chance(self, world: Ints) -> list[tuple[int, float]]:
        """What chance may do, with probabilities."""
        out, p = np.zeros(self.max_branching, np.int64), np.zeros(self.max_branching)
        n = self.kernels.chance.call(
            self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data, p.ctypes.data
        )
        return [(int(a), float(q)) for a, q in zip(out[:n], p[:n], strict=True)]

    def verify_action(self, world: Ints, action: int) -> None:
        """Raise an InputError that names the choices unless the mover (or chance) may do this."""
        mover = self.mover(world)
        if mover == TERMINAL:
            raise InputError(f"{self.spec}: action {action} after the game is over ({self.layout.write(world)})")
        chance = mover == CHANCE
        choices = [o for o, _ in self.chance(world)] if chance else self.legal(world)
        if action not in choices:
            name = self.outcome_name if chance else self.action_name
            listed = ", ".join(f"{a} ({name(a)})" for a in choices)
            who = "chance" if chance else f"player {mover}"
            raise InputError(
                f"{self.spec}: action {action} is illegal for {who} at {self.layout.write(world)}; legal: {listed}"
            )

    def step(self, world: Ints, action: int) -> Ints:
        """The world after an action or a chance outcome; raises an InputError if it is illegal."""
        self.verify_action(world, action)
        after = world.copy()
        self.kernels.step.call(self.rules.ctypes.data, after.ctypes.data, int(action))
        return after

    def returns(self, world: Ints) -> Reals:
        """Every player's utility of a finished game."""
        out = np.zeros(self.players)
        self.kernels.returns.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data)
        return out

    def view(self, world: Ints, player: int) -> Ints:
        """What a player knows of a world."""
        self.verify_player(player)
        view = self.verify_vector(world).copy()
        self.kernels.redact.call(self.rules.ctypes.data, view.ctypes.data, player)
        return view

    def hole(self, view: Ints) -> int:
        """The next slot to fill, or NO_HOLE."""
        return int(self.kernels.hole.call(self.rules.ctypes.data, self.verify_vector(view).ctypes.data))

    def values(self, view: Ints, hole: int) -> list[tuple[int, float]]:
        """What a hole may hold, with the weights that the rules give."""
        self._verify_hole(self.verify_vector(view), hole)
        out, w = np.zeros(max(self.num_values, 1), np.int64), np.zeros(max(self.num_values, 1))
        n = self.kernels.values.call(
            self.rules.ctypes.data, self.verify_vector(view).ctypes.data, hole, out.ctypes.data, w.ctypes.data
        )
        return [(int(v), float(q)) for v, q in zip(out[:n], w[:n], strict=True)]

    def fill(self, view: Ints, hole: int, value: int) -> Ints:
        """The view with one hole filled."""
        self._verify_hole(self.verify_vector(view), hole)
        filled = view.copy()
        self.kernels.fill.call(self.rules.ctypes.data, filled.ctypes.data, hole, value)
        return filled

    def midway(self, world: Ints) -> bool:
        """Whether an action in pieces is not yet whole."""
        return bool(self.kernels.midway.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data))

    def features(self, world: Ints, player: int) -> Reals32:
        """What a network sees of a world or view from a player's seat."""
        self.verify_player(player)
        out = np.zeros(self.num_features, np.float32)
        self.kernels.features.call(
            self.rules.ctypes.data, self.verify_vector(world).ctypes.data, player, out.ctypes.data
        )
        return out.reshape(self.feature_shape)

    def parse_action(self, text: str) -> int:
        """The action with this name or number."""
        wanted = text.strip().lower()
        if wanted in self.action_numbers:
            return self.action_numbers[wanted]
        if wanted.isascii() and wanted.isdigit() and int(wanted) < self.num_actions:
            return int(wanted)
        raise unknown(f"action of {self.spec}", text, self.action_numbers)

    def describe(self, view: Ints) -> str:
        """A view in words, for people."""
        return self.title(view) if self.title else self.layout.write(view)

    def verify_vector(self, world: Ints) -> Ints:
        """The vector itself, if a kernel can read it: the one place where a wrong shape or slot is caught."""
        if world.dtype != np.int64 or world.shape != (self.world_size,) or not world.flags.c_contiguous:
            raise InputError(
                f"{self.spec}: a world is a contiguous int64 vector of {self.world_size} slots, "
                f"got {world.dtype} with shape {world.shape}"
            )
        if not self.layout.holds(world):
            raise InputError(
                f"{self.spec}: {world.tolist()} has a slot out of bounds, expected -1 or less than "
                f"{self.layout.bounds.tolist()}"
            )
        return world

    def verify_player(self, player: int) -> None:
        """Raise an InputError unless there is such a player."""
        if not 0 <= player < self.players:
            raise InputError(f"{self.spec}: player {player}, expected 0 to {self.players - 1}")

    def _verify_hole(self, view: Ints, hole: int) -> None:
        if not 0 <= hole < self.world_size or view[hole] != UNKNOWN:
            raise InputError(f"{self.spec}: slot {hole} of {self.layout.write(view)} is not a hole")

"""The frozen description of one game with its parameters, and the same rules called from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from qdts.errors import InputError, unknown
from qdts.games.layout import Layout
from qdts.games.rule import CHANCE, TERMINAL, UNKNOWN, Kernels
from qdts.kernels import Ints, Reals, Reals32

Namer = Callable[[int], str]
Replay = Callable[[Ints], list[int]]


class Choice(NamedTuple):
    """One thing that the mover, a player or chance, may do."""

    number: int
    """The action or outcome."""
    name: str
    probability: float | None
    """Of a chance outcome; None for a player's action."""


@dataclass(frozen=True, eq=False)
class Game:
    """Everything that is known about a game without playing it, and its rules as methods.

    A world is a vector of `world_size` int64 components; a view is a world in which every component that its owner
    does not know is UNKNOWN. Methods check what they are given and raise an InputError that names what was expected.

    Examples:
        >>> from qdts import load_game
        >>> game = load_game("kuhn_poker")
        >>> world = game.initial()
        >>> for move in (2, 0, game.parse_action("bet")):  # deal the king, deal the jack, bet
        ...     world = game.step(world, move)
        >>> game.layout.write(game.view(world, 1)), game.mover(world), game.legal(world)
        ('turn=3 bettor=1 cards=?J bets=b--', 1, [0, 1])
    """

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
    """The parameters as the kernels read them. int64[any], read-only"""
    kernels: Kernels
    layout: Layout
    """The components of a world's vector."""
    num_actions: int
    """Actions are numbered 0 .. num_actions - 1."""
    num_outcomes: int
    """Chance outcomes are numbered 0 .. num_outcomes - 1."""
    num_values: int
    """Values of a hole are numbered 0 .. num_values - 1: the width of H."""
    max_depth: int
    """The length of the longest history; chance events and sub-actions count."""
    min_return: float
    max_return: float
    """Bounds of every player's return."""
    feature_shape: tuple[int, ...]
    """(length,), or (planes, height, width) where the game is played on a board."""
    action_name: Namer
    outcome_name: Namer = str
    hidden: bool = True
    """Whether any player ever has a hole in their view. False: perfect information, and a view is a position."""
    zero_sum: bool = True
    memory: Literal["perfect", "sufficient"] = "perfect"
    """`perfect`: a view determines all earlier views and actions of its owner. `sufficient`: the game declares that
    what a view forgets does not matter. Games with perfect information need neither."""
    weights: Literal["chance", "equal"] = "chance"
    """What the weights of a hole's values are: exact under chance alone (`chance`), or not: equal, or a rough count."""
    by_cells: bool = False
    """Whether it is a game of hidden stones (`rules/hidden_moves.py`) in which a view has nothing but its owner's tries
    and what came of them, so that `solving.cells` can measure it."""
    replay: Replay | None = None
    """The actions and outcomes that lead to a world; needed where the game is too large to enumerate."""
    pick: Callable[..., int] | None = None
    """A kernel `pick(rules, world, bits)` that makes a random choice from 64 random bits without listing all choices.
    It must choose what a choice from the whole list would."""
    title: Callable[[Ints], str] | None = None
    """What a person would call a view (`K, raise, call`); without it, the layout's text is shown."""
    action_numbers: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rules.setflags(write=False)
        object.__setattr__(self, "action_numbers", self._numbers("action", self.action_name, self.num_actions))
        self._numbers("outcome", self.outcome_name, self.num_outcomes)

    def __str__(self) -> str:
        return self.spec

    def __reduce__(self) -> tuple[Any, ...]:
        from qdts.games.registry import load_game, path_spec

        return load_game, (path_spec(self),)

    @property
    def world_size(self) -> int:
        """The number of components of a world."""
        return self.layout.size

    @cached_property
    def num_features(self) -> int:
        """The number of features, whatever their shape."""
        return int(np.prod(self.feature_shape))

    @property
    def max_branching(self) -> int:
        """The largest number of actions or outcomes at a world, at least 1."""
        return max(self.num_actions, self.num_outcomes, 1)

    @property
    def max_choices(self) -> int:
        """B: the most edges that a node of a search tree can have, over actions, outcomes and values of holes.

        It is no less than the number of players, so that scratch rows of this length can hold one number for each.
        """
        return max(self.max_branching, self.num_values, self.players)

    @property
    def scale(self) -> float:
        """S = (max_return − min_return) / 2, half the range of returns, or 1 where all returns are the same."""
        return (self.max_return - self.min_return) / 2 or 1.0

    @property
    def neutral_value(self) -> float:
        """The value of a position about which nothing is known: 0 in a zero-sum game, else the middle of the range."""
        return 0.0 if self.zero_sum else (self.max_return + self.min_return) / 2

    def initial(self) -> Ints:
        """The world before anything has happened."""
        world = np.zeros(self.world_size, np.int64)
        self.kernels.initial.call(self.rules.ctypes.data, world.ctypes.data)
        return world

    def mover(self, world: Ints) -> int:
        """The player to move, CHANCE, TERMINAL, or (on a view) OTHERS."""
        return int(self.kernels.mover.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data))

    def legal(self, world: Ints) -> list[int]:
        """The legal actions of the player to move, ascending."""
        out = np.zeros(self.max_branching, np.int64)
        n = self.kernels.legal.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data)
        return [int(a) for a in out[:n]]

    def chance(self, world: Ints) -> list[tuple[int, float]]:
        """The outcomes of a chance event with their probabilities, ascending."""
        out, p = np.zeros(self.max_branching, np.int64), np.zeros(self.max_branching)
        n = self.kernels.chance.call(
            self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data, p.ctypes.data
        )
        return [(int(a), float(q)) for a, q in zip(out[:n], p[:n], strict=True)]

    def choices(self, world: Ints) -> list[Choice]:
        """What the player to move, or chance, may do, with names; nothing when the game is over.

        Examples:
            >>> from qdts import load_game
            >>> game = load_game("kuhn_poker")
            >>> [choice.name for choice in game.choices(game.initial())]
            ['deal J', 'deal Q', 'deal K']
        """
        mover = self.mover(world)
        if mover == TERMINAL:
            return []
        if mover == CHANCE:
            return [Choice(o, self.outcome_name(o), p) for o, p in self.chance(world)]
        return [Choice(a, self.action_name(a), None) for a in self.legal(world)]

    def verify_action(self, world: Ints, action: int) -> None:
        """Check that the player to move, or chance, may do this.

        Raises:
            InputError: They may not; it names the legal choices.
        """
        choices = self.choices(world)
        if not choices:
            raise InputError(f"{self.spec}: action {action} after the game is over ({self.layout.write(world)})")
        if action not in (choice.number for choice in choices):
            listed = ", ".join(f"{choice.number} ({choice.name})" for choice in choices)
            mover = self.mover(world)
            who = "chance" if mover == CHANCE else f"player {mover}"
            raise InputError(
                f"{self.spec}: action {action} is illegal for {who} at {self.layout.write(world)}; legal: {listed}"
            )

    def step(self, world: Ints, action: int) -> Ints:
        """The world after an action or a chance outcome, as a new vector.

        Args:
            world: A world at which the game is not over.
            action: The number of a legal action of the player to move, or of an outcome of the chance event.

        Raises:
            InputError: The action is illegal; it names the legal ones.
        """
        self.verify_action(world, action)
        after = world.copy()
        self.kernels.step.call(self.rules.ctypes.data, after.ctypes.data, int(action))
        return after

    def returns(self, world: Ints) -> Reals:
        """Every player's return of a finished game, float64[players]."""
        out = np.zeros(self.players)
        self.kernels.returns.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data, out.ctypes.data)
        return out

    def view(self, world: Ints, player: int) -> Ints:
        """What a player knows of a world: a new vector in which all that they don't know is UNKNOWN."""
        self.verify_player(player)
        view = self.verify_vector(world).copy()
        self.kernels.redact.call(self.rules.ctypes.data, view.ctypes.data, player)
        return view

    def hole(self, view: Ints) -> int:
        """The next component to fill, or NO_HOLE."""
        return int(self.kernels.hole.call(self.rules.ctypes.data, self.verify_vector(view).ctypes.data))

    def values(self, view: Ints, hole: int) -> list[tuple[int, float]]:
        """What a hole may hold, with the weights that the rules give.

        Raises:
            InputError: The component is not a hole of this view.
        """
        self._verify_hole(self.verify_vector(view), hole)
        out, w = np.zeros(max(self.num_values, 1), np.int64), np.zeros(max(self.num_values, 1))
        n = self.kernels.values.call(
            self.rules.ctypes.data, self.verify_vector(view).ctypes.data, hole, out.ctypes.data, w.ctypes.data
        )
        return [(int(v), float(q)) for v, q in zip(out[:n], w[:n], strict=True)]

    def fill(self, view: Ints, hole: int, value: int) -> Ints:
        """The view with one hole filled, as a new vector.

        Raises:
            InputError: The component is not a hole of this view.
        """
        self._verify_hole(self.verify_vector(view), hole)
        filled = view.copy()
        self.kernels.fill.call(self.rules.ctypes.data, filled.ctypes.data, hole, value)
        return filled

    def midway(self, world: Ints) -> bool:
        """Whether a split action is not complete yet."""
        return bool(self.kernels.midway.call(self.rules.ctypes.data, self.verify_vector(world).ctypes.data))

    def features(self, world: Ints, player: int) -> Reals32:
        """What a network sees of a world or view from a player's seat, float32[feature_shape]."""
        self.verify_player(player)
        out = np.zeros(self.num_features, np.float32)
        self.kernels.features.call(
            self.rules.ctypes.data, self.verify_vector(world).ctypes.data, player, out.ctypes.data
        )
        return out.reshape(self.feature_shape)

    def parse_action(self, text: str) -> int:
        """The action with this name or number.

        Raises:
            InputError: No action has this name; it lists those that there are.
        """
        wanted = text.strip().lower()
        if wanted in self.action_numbers:
            return self.action_numbers[wanted]
        if wanted.isascii() and wanted.isdigit() and int(wanted) < self.num_actions:
            return int(wanted)
        raise unknown(f"action of {self.spec}", text, self.action_numbers)

    def describe(self, view: Ints) -> str:
        """A view in words: its title, or the layout's fields with the names of their values."""
        return self.title(view) if self.title else self.layout.describe(view)

    def value_name(self, view: Ints, hole: int, value: int) -> str:
        """What a hole of a view holds once it is filled with a value, in words.

        Examples:
            >>> from qdts import load_game
            >>> game = load_game("kuhn_poker")
            >>> view = game.layout.read("turn=2 bettor=0 cards=J? bets=---")
            >>> hole = game.hole(view)
            >>> game.layout.place(hole), [game.value_name(view, hole, value) for value, _ in game.values(view, hole)]
            ('card of player 1', ['Q', 'K'])
        """
        return self.layout.find(hole)[0].value_name(int(self.fill(view, hole, value)[hole]))

    def _numbers(self, kind: str, namer: Namer, count: int) -> dict[str, int]:
        """The numbers of actions or outcomes by their names in lower case, which must be distinct."""
        numbers: dict[str, int] = {}
        for number in range(count):
            name = str(namer(number))
            if (other := numbers.setdefault(name.lower(), number)) != number:
                raise TypeError(
                    f"{self.spec}: {kind} names are not distinct: {kind}s {other} and {number} are both '{name}'"
                )
        return numbers

    def verify_vector(self, world: Ints) -> Ints:
        """The vector itself, if a kernel can read it: the one place where a wrong shape or value is caught."""
        if world.dtype != np.int64 or world.shape != (self.world_size,) or not world.flags.c_contiguous:
            raise InputError(
                f"{self.spec}: a world is a contiguous int64 vector of {self.world_size} components, "
                f"got {world.dtype} with shape {world.shape}"
            )
        if not self.layout.holds(world):
            raise InputError(
                f"{self.spec}: {world.tolist()} has a component out of bounds, expected -1 or less than "
                f"{self.layout.bounds.tolist()}"
            )
        return world

    def verify_player(self, player: int) -> None:
        """Raise an InputError unless there is such a player."""
        if not 0 <= player < self.players:
            raise InputError(f"{self.spec}: player {player}, expected 0 to {self.players - 1}")

    def _verify_hole(self, view: Ints, hole: int) -> None:
        if not 0 <= hole < self.world_size or view[hole] != UNKNOWN:
            raise InputError(f"{self.spec}: component {hole} of {self.layout.write(view)} is not a hole")

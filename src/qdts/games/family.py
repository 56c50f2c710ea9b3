"""A family of games: one name, its parameters, and how a game is built from them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qdts.errors import InputError, unknown
from qdts.games.game import Game


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family. Its kind is the type of its default: int, bool, str or a nested list.

    A list is written as JSON: `matrix_game(payoffs=[[3,0],[5,1]])`. `build` gets it as Python lists of numbers and
    checks its shape; `wrong` makes the error for one that does not fit. Names for common lists are its `presets`.

    Examples:
        >>> dice = Parameter("dice", 2, "how many dice each has", low=1, high=5)
        >>> dice.read("3", "my_game")
        3
        >>> payoffs = Parameter("payoffs", [[1, -1], [-1, 1]], "what the row gets", presets={"zero": [[0]]})
        >>> payoffs.read("[[2,0],[0,1]]", "my_game"), payoffs.read("zero", "my_game"), payoffs.write([[0]])
        ([[2, 0], [0, 1]], [[0]], 'zero')
    """

    name: str
    default: Any
    help: str
    low: int | None = None
    high: int | None = None
    """Bounds of an int, both included."""
    choices: tuple[str, ...] = ()
    """The words that a str may be."""
    presets: Mapping[str, Any] = field(default_factory=dict)
    """Names for nested lists: a name is read as its list, and such a list is written by its name."""

    def read(self, value: object, family: str) -> Any:
        """The checked value, from text or from Python.

        Args:
            value: A text such as `3`, `true` or `[[1,2]]`, or the value itself.
            family: The family's name, for the error.

        Raises:
            InputError: The value does not fit; it names what was expected.
        """
        if isinstance(self.default, bool):
            return self._read_bool(value, family)
        if isinstance(self.default, int):
            return self._read_int(value, family)
        if isinstance(self.default, str):
            return self._read_word(value, family)
        return self._read_list(value, family)

    def expected(self) -> str:
        """What is accepted, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int):
            return f"a whole number from {self.low} to {self.high}"
        if isinstance(self.default, str):
            return " or ".join(self.choices)
        return " or ".join(["a nested list of numbers", *self.presets])

    def wrong(self, value: object, family: str) -> InputError:
        """The error for a value that does not fit."""
        return InputError(f"{family}: {self.name}={value} is not possible, expected {self.expected()}")

    def _read_bool(self, value: object, family: str) -> bool:
        words = {"true": True, "false": False}
        if isinstance(value, bool):
            return value
        if str(value).lower() not in words:
            raise self.wrong(value, family)
        return words[str(value).lower()]

    def _read_int(self, value: object, family: str) -> int:
        try:
            number = int(str(value))
        except ValueError:
            raise self.wrong(value, family) from None
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise self.wrong(value, family)
        return number

    def _read_word(self, value: object, family: str) -> str:
        if self.choices and str(value) not in self.choices:
            raise unknown(f"{self.name} of {family}", value, self.choices)
        return str(value)

    def _read_list(self, value: object, family: str) -> Any:
        if isinstance(value, str) and value in self.presets:
            return self.presets[value]
        try:
            read = json.loads(value if isinstance(value, str) else json.dumps(value), parse_float=_shortest)
        except RecursionError:
            raise InputError(f"{family}: {self.name} is nested too deeply") from None
        except (TypeError, ValueError):
            raise self.wrong(value, family) from None
        if not isinstance(read, list):
            raise self.wrong(value, family)
        return read

    def write(self, value: object) -> str:
        """The value as it stands in a game's name."""
        word = next((w for w, preset in self.presets.items() if preset == value), value)
        return word if isinstance(word, str) else json.dumps(word, separators=(",", ":"))


def is_number(value: object) -> bool:
    """Whether an entry of a nested list is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _shortest(text: str) -> int | float:
    """The number of a text with a point or an exponent, as an int where it is whole: 2.0 is 2."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


@dataclass(frozen=True, eq=False)
class Family:
    """All games of one name: what `load_game` needs to build one.

    Examples:
        >>> from qdts.games.registry import find_family
        >>> family = find_family("kuhn_poker")
        >>> family.load({"players": 3}).spec, family.spec({"players": 2})
        ('kuhn_poker(players=3)', 'kuhn_poker')
    """

    name: str
    summary: str
    """One line on the game, for lists."""
    parameters: tuple[Parameter, ...]
    build: Callable[..., Game]
    """Called with `spec` and every parameter by name."""
    players: int = 2
    """The number of players, where it is no parameter."""
    examples: tuple[str, ...] = ()
    """Further specifications worth trying; the conformance suite runs on each."""
    small: tuple[str, ...] = ()
    """Specifications small enough to enumerate: `qdts check` checks the first of them exactly where the game itself is
    too large. Without them it tries the lower bounds of the parameters, then the examples."""

    def load(self, given: Mapping[str, object]) -> Game:
        """The game with these parameters, the others at their defaults.

        Args:
            given: Values by name, as text or as Python values.

        Raises:
            InputError: A parameter is unknown or does not fit, or `build` returns something else than this game.
        """
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise unknown(f"parameter of {self.name}", name, known)
        values = {n: p.read(given[n], self.name) if n in given else p.default for n, p in known.items()}
        game = self.build(spec=(spec := self.spec(values)), **values)
        if not isinstance(game, Game):
            raise InputError(f"{self.name}: build returns {game!r}, expected a Game")
        if (game.name, game.spec) != (self.name, spec):
            raise InputError(
                f"{self.name}: build gives name='{game.name}', spec='{game.spec}', expected '{self.name}' and '{spec}'"
            )
        return game

    def spec(self, values: Mapping[str, Any]) -> str:
        """The canonical name of a game: parameters at their defaults are left out."""
        parts = [f"{p.name}={p.write(values[p.name])}" for p in self.parameters if values[p.name] != p.default]
        return f"{self.name}({','.join(parts)})" if parts else self.name

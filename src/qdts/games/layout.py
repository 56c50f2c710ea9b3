"""How the components of a world's vector are named, bounded, written as text and read back.

A world is one line of `name=value` fields, for instance `turn=3 bettor=- cards=J? bets=p--`. A hole is written `?`.
What is written is read back exactly, so a view can be given on a command line or kept in a file. Beside these symbols,
which are short because they are parsed, values and components may have names in words, which are only shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qdts.errors import InputError, unknown
from qdts.games.rule import UNKNOWN
from qdts.kernels import Ints

HOLE = "?"
LARGEST = np.iinfo(np.int64).max


def each_player(what: str, players: int) -> tuple[str, ...]:
    """Places for a field with one component a player: `card of player 0`, `card of player 1`, …"""
    return tuple(f"{what} of player {player}" for player in range(players))


@dataclass(frozen=True)
class Field:
    """A run of neighbouring components with one meaning.

    Examples:
        >>> bets = Field("bets", ("-", "p", "b"), length=3, names=("none", "pass", "bet"), places=("1st", "2nd", "3rd"))
        >>> bets.write(np.array([2, -1, 0]))
        'b?-'
        >>> bets.place(1), bets.value_name(2)
        ('2nd', 'bet')
    """

    name: str
    symbols: tuple[str, ...] = ()
    """How value v is written; without symbols a component is a plain non-negative number."""
    length: int = 1
    """How many components the field has."""
    row: int = 0
    """Components in a row of a board; rows are written with a slash between them. 0: not a board."""
    below: int = 0
    """Without symbols: values are below this. 0: they may be any."""
    bits: bool = False
    """A component is a set: bit v stands for symbol v, and the symbols of all bits that are set are written."""
    names: tuple[str, ...] = ()
    """What value v is called where it is shown to people; without names, its symbol or number."""
    places: tuple[str, ...] = ()
    """What each component is called where it is shown to people; without places, `name` or `name[i]`."""

    def __post_init__(self) -> None:
        if self.names and self.symbols and len(self.names) != len(self.symbols):
            raise TypeError(f"field {self.name} has {len(self.symbols)} symbols, but {len(self.names)} names")
        if self.places and len(self.places) != self.length:
            raise TypeError(f"field {self.name} has {self.length} components, but {len(self.places)} places")

    @property
    def bound(self) -> int:
        """Values of a component are below this."""
        if self.bits:
            return int(2 ** len(self.symbols))
        return len(self.symbols) or self.below or LARGEST

    @property
    def separator(self) -> str:
        """What stands between symbols: nothing where each is a single character."""
        return "" if self.symbols and not self.bits and all(len(s) == 1 for s in self.symbols) else ","

    def write(self, components: Ints) -> str:
        """The field's text, which `read` reads back."""
        words = [HOLE if v == UNKNOWN else self._write_value(int(v)) for v in components]
        if self.row:
            rows = [words[i : i + self.row] for i in range(0, len(words), self.row)]
            return "/".join(self.separator.join(r) for r in rows)
        return self.separator.join(words)

    def describe(self, components: Ints) -> str:
        """The field's text with names in the place of symbols; it is not read back."""
        if not self.names:
            return self.write(components)
        return ",".join(HOLE if v == UNKNOWN else self.value_name(int(v)) for v in components)

    def value_name(self, value: int) -> str:
        """What a value is called where it is shown to people."""
        if self.names and self.bits:
            return "+".join(n for i, n in enumerate(self.names) if value >> i & 1) or "-"
        return self.names[value] if value < len(self.names) else self._write_value(value)

    def place(self, index: int) -> str:
        """What a component of the field is called where it is shown to people."""
        return self.places[index] if self.places else self.code(index)

    def code(self, index: int) -> str:
        """The short name of a component: `turn`, or `cards[1]` where the field has several."""
        return f"{self.name}[{index}]" if self.length > 1 else self.name

    def _write_value(self, value: int) -> str:
        if self.bits:
            return "+".join(s for i, s in enumerate(self.symbols) if value >> i & 1) or "-"
        return self.symbols[value] if self.symbols else str(value)

    def read(self, text: str) -> list[int]:
        """The values that a text stands for."""
        text = text.replace("/", self.separator) if self.row else text
        words = list(text) if not self.separator else text.split(",") if text else []
        if len(words) != self.length:
            raise InputError(f"field {self.name}='{text}' has {len(words)} values, expected {self.length}")
        return [UNKNOWN if w == HOLE else self._read_value(w) for w in words]

    def _read_value(self, word: str) -> int:
        if self.bits:
            return sum(1 << self._index(w) for w in word.split("+")) if word != "-" else 0
        if self.symbols:
            return self._index(word)
        if not word.isascii() or not word.isdigit() or int(word) > LARGEST:
            raise InputError(f"field {self.name} has '{word}', expected a number from 0 to {LARGEST} or {HOLE}")
        return int(word)

    def _index(self, word: str) -> int:
        if word not in self.symbols:
            raise unknown(f"value of field {self.name}", word, [*self.symbols, HOLE])
        return self.symbols.index(word)


@dataclass(frozen=True)
class Layout:
    """All fields of a world, in the order of their components.

    Examples:
        >>> layout = Layout((Field("turn"), Field("cards", ("-", "J", "Q"), length=2, names=("none", "jack", "queen"))))
        >>> view = layout.read("turn=2 cards=J?")
        >>> view
        array([ 2,  1, -1])
        >>> layout.write(view), layout.describe(view)
        ('turn=2 cards=J?', 'turn=2 cards=jack,?')
    """

    fields: tuple[Field, ...]

    @cached_property
    def size(self) -> int:
        """The number of components."""
        return sum(f.length for f in self.fields)

    @cached_property
    def bounds(self) -> Ints:
        """A component's values lie in 0 .. bound - 1, or are UNKNOWN. int64[size]"""
        return np.array([f.bound for f in self.fields for _ in range(f.length)], np.int64)

    def holds(self, vectors: Ints) -> bool:
        """Whether every component of a vector, or of each of many, is within its bounds or UNKNOWN."""
        return not np.count_nonzero((vectors - UNKNOWN).view(np.uint64) > self._unsigned_bounds)

    @cached_property
    def _unsigned_bounds(self) -> NDArray[np.uint64]:
        return self.bounds.astype(np.uint64)

    def find(self, component: int) -> tuple[Field, int]:
        """The field of a component, and the component's index in it."""
        index = component
        for field in self.fields:
            if 0 <= index < field.length:
                return field, index
            index -= field.length
        raise InputError(f"component {component} of a world's vector, expected 0 to {self.size - 1}")

    def code(self, component: int) -> str:
        """The short name of a component: `cards[1]`."""
        field, index = self.find(component)
        return field.code(index)

    def place(self, component: int) -> str:
        """What a component is called where it is shown to people: `card of player 1`."""
        field, index = self.find(component)
        return field.place(index)

    def write(self, world: Ints) -> str:
        """One line of text for a world or a view, which `read` reads back."""
        return " ".join(f"{f.name}={f.write(part)}" for f, part in self._parts(world))

    def describe(self, world: Ints) -> str:
        """One line for people, with the names of values where fields have them; it is not read back."""
        return " ".join(f"{f.name}={f.describe(part)}" for f, part in self._parts(world))

    def _parts(self, world: Ints) -> list[tuple[Field, Ints]]:
        """Every field with its components."""
        ends = np.cumsum([f.length for f in self.fields])
        return [(f, world[end - f.length : end]) for f, end in zip(self.fields, ends, strict=True)]

    def read(self, text: str) -> Ints:
        """The world or view that a line of text stands for.

        Raises:
            InputError: A field is missing, unknown or given twice, or has a value that is not one of its symbols.
        """
        given: dict[str, str] = {}
        for part in text.split():
            name, equals, value = part.partition("=")
            if not equals or name in given:
                raise InputError(f"'{part}' in '{text}' is not a field, or stands twice: expected name=value")
            given[name] = value
        names = [f.name for f in self.fields]
        for name in given:
            if name not in names:
                raise unknown("field", name, names)
        for name in names:
            if name not in given:
                raise InputError(f"field {name} is missing in '{text}': expected {' '.join(n + '=…' for n in names)}")
        return np.array([v for f in self.fields for v in f.read(given[f.name])], np.int64)

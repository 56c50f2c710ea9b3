"""How the slots of a world are named, bounded, written as text and read back.

A world is one line of `name=value` fields, for instance `turn=3 bettor=- cards=J? bets=p--`. A hole is
written `?`. What is written is read back exactly, so a view can be given on a command line or kept in a file.
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


@dataclass(frozen=True)
class Field:
    """A run of neighbouring slots with one meaning."""

    name: str
    symbols: tuple[str, ...] = ()
    """What value v is called; without symbols a slot is a plain non-negative number."""
    length: int = 1
    """How many slots the field has."""
    row: int = 0
    """Slots in a row of a board; rows are written with a slash between them. 0: not a board."""
    below: int = 0
    """Without symbols: values are below this. 0: they may be any."""
    bits: bool = False
    """The slot is a set: bit v stands for symbol v, and the symbols of all bits that are set are written."""

    @property
    def bound(self) -> int:
        """Values of a slot are below this."""
        if self.bits:
            return int(2 ** len(self.symbols))
        return len(self.symbols) or self.below or LARGEST

    @property
    def separator(self) -> str:
        """What stands between symbols: nothing where each is a single character."""
        return "" if self.symbols and not self.bits and all(len(s) == 1 for s in self.symbols) else ","

    def write(self, slots: Ints) -> str:
        """The field's text."""
        words = [HOLE if v == UNKNOWN else self._write_value(int(v)) for v in slots]
        if self.row:
            rows = [words[i : i + self.row] for i in range(0, len(words), self.row)]
            return "/".join(self.separator.join(r) for r in rows)
        return self.separator.join(words)

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
    """All fields of a world, in the order of their slots."""

    fields: tuple[Field, ...]

    @cached_property
    def size(self) -> int:
        """The number of slots."""
        return sum(f.length for f in self.fields)

    @cached_property
    def bounds(self) -> Ints:
        """A slot's values lie in 0 .. bound - 1, or are UNKNOWN. int64[size]"""
        return np.array([f.bound for f in self.fields for _ in range(f.length)], np.int64)

    def holds(self, vectors: Ints) -> bool:
        """Whether every slot of a vector, or of each of many, is within its bounds or UNKNOWN."""
        return not np.count_nonzero((vectors - UNKNOWN).view(np.uint64) > self._unsigned_bounds)

    @cached_property
    def _unsigned_bounds(self) -> NDArray[np.uint64]:
        return self.bounds.astype(np.uint64)

    def write(self, world: Ints) -> str:
        """One line of text for a world or a view."""
        parts, at = [], 0
        for f in self.fields:
            parts.append(f"{f.name}={f.write(world[at : at + f.length])}")
            at += f.length
        return " ".join(parts)

    def read(self, text: str) -> Ints:
        """The world or view that a line of text stands for."""
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

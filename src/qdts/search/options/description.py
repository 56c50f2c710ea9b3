"""The description of an option: its help, the values it may have, who reads it, and how kernels get it.

A description is metadata of the field of `Options` that it describes: all that is known of an option is written there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from qdts.errors import InputError, unknown
from qdts.notes import note_renamed
from qdts.search.options.variants import Machine, Variant

KEY = "option"
"""Where a field's metadata holds the description."""

FOREST = (Machine.FOREST,)
BANDIT = (Machine.BANDIT,)
BOTH = (Machine.FOREST, Machine.BANDIT)

V = TypeVar("V", bound=Variant)


class Bounds(NamedTuple):
    """The numbers that an option may be, both ends included."""

    low: float
    high: float
    words: str


POSITIVE = Bounds(1e-12, 1e12, "a positive number")
NOT_NEGATIVE = Bounds(0.0, 1e12, "a number that is not negative")
SHARE = Bounds(0.0, 1.0, "a number from 0 to 1")
POSITIVE_SHARE = Bounds(1e-12, 1.0, "a number above 0 and up to 1")
RADIUS = Bounds(0.0, 2.0, "a number from 0 to 2")


@dataclass(frozen=True, kw_only=True)
class Description(ABC):
    """What is known of an option, whatever its kind."""

    help: str
    """One line; the symbol of docs/search.md comes first, where it has one."""
    readers: Sequence[Machine] = FOREST
    """The machines that read the option."""
    in_kernels: bool = False
    """Whether kernels read it."""
    in_units_of_s: bool = False
    """Whether it is compared with Q: kernels get it multiplied by S."""
    formerly: str | None = None
    """A former name of the option that still works."""
    whole: bool = True
    """Whether kernels get an integer."""

    @abstractmethod
    def verified(self, name: str, value: Any) -> Any:
        """The value as `Options` keeps it; raises an InputError where it is not possible."""

    @abstractmethod
    def parse(self, name: str, text: str) -> Any:
        """The value that a text stands for; raises an InputError where it stands for none."""

    def number(self, value: Any) -> float:
        """The number that stands for a value in kernels."""
        return int(value) if self.whole else float(value)


@dataclass(frozen=True, kw_only=True)
class Number(Description):
    """An option that is a number."""

    bounds: Bounds
    whole: bool = False

    def verified(self, name: str, value: Any) -> Any:
        """The value itself, if it is a number within the bounds, and a whole one if it must be."""
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not self.bounds.low <= float(value) <= self.bounds.high:  # a NaN fails, too
            raise _impossible(name, value, self.bounds.words)
        if self.whole and not isinstance(value, int):
            raise _impossible(name, value, "a whole number")
        return value

    def parse(self, name: str, text: str) -> Any:
        """A number written in digits."""
        try:
            return int(text) if self.whole else float(text)
        except ValueError:
            raise _impossible(name, text, "a whole number" if self.whole else "a number") from None


@dataclass(frozen=True, kw_only=True)
class Switch(Description):
    """An option that is on or off."""

    def verified(self, name: str, value: Any) -> Any:
        """The value itself, if it is a bool."""
        if not isinstance(value, bool):
            raise _impossible(name, value, "true or false")
        return value

    def parse(self, name: str, text: str) -> Any:
        """True or False, in capitals or not."""
        if text.lower() not in ("true", "false"):
            raise _impossible(name, text, "true or false")
        return text.lower() == "true"


@dataclass(frozen=True, kw_only=True)
class Choice(Description):
    """An option that is one of the variants of an enum."""

    variants: type[Variant]

    def verified(self, name: str, value: Any) -> Variant:
        """The member of the enum that the value names; a former name is noted."""
        if isinstance(value, self.variants):
            return value
        for variant in self.variants:
            if value == variant:
                return variant
            if value is not None and value == variant.formerly:
                note_renamed(f"{name}={value}", f"{name}={variant}")
                return variant
        raise unknown(f"{name} of a search", value, self.variants)

    def parse(self, name: str, text: str) -> Any:
        """The member of the enum that a word names."""
        return self.verified(name, text)

    def number(self, value: Any) -> float:
        """The variant's number."""
        return int(value.number)


def number(default: float, help: str, bounds: Bounds, **known: Any) -> float:
    """A field that holds a number within bounds; `known` are further fields of its description."""
    found: float = field(default=default, metadata={KEY: Number(help=help, bounds=bounds, **known)})
    return found


def whole_number(default: int, help: str, low: int, high: int, **known: Any) -> int:
    """A field that holds a whole number from `low` to `high`."""
    bounds = Bounds(low, high, f"a whole number from {low:,} to {high:,}")
    found: int = field(default=default, metadata={KEY: Number(help=help, bounds=bounds, whole=True, **known)})
    return found


def switch(default: bool, help: str, **known: Any) -> bool:
    """A field that is on or off."""
    found: bool = field(default=default, metadata={KEY: Switch(help=help, **known)})
    return found


def choice(default: V, help: str, **known: Any) -> V:
    """A field that holds one of the variants of the default's enum."""
    found: V = field(default=default, metadata={KEY: Choice(help=help, variants=type(default), **known)})
    return found


def _impossible(name: str, value: object, expected: str) -> InputError:
    return InputError(f"{name}={value} is not possible for a search, expected {expected}")

"""All settings of a run together, presets, and how they are read.

A setting is known by its section and name, `search.visits`; `settings.py` has the sections.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple, get_type_hints

from qdts.errors import InputError, unknown
from qdts.learning.settings import (
    BeliefSettings,
    Bounds,
    FitSettings,
    MeasureSettings,
    NetSettings,
    PlaySettings,
    PolicySettings,
    SearchSettings,
    ValueSettings,
)
from qdts.notes import note_renamed


@dataclass(frozen=True)
class Config:
    """All settings of a run."""

    net: NetSettings = field(default_factory=NetSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    play: PlaySettings = field(default_factory=PlaySettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    value: ValueSettings = field(default_factory=ValueSettings)
    belief: BeliefSettings = field(default_factory=BeliefSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    measure: MeasureSettings = field(default_factory=MeasureSettings)

    def __post_init__(self) -> None:
        for known in SETTINGS.values():
            section, _, name = known.name.partition(".")
            known.verify(getattr(getattr(self, section), name))

    @property
    def window(self) -> int:
        """Generations whose games are kept, where they are decided by search: as many as P or V learns from."""
        return max(self.policy.window, self.value.window)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Setting(NamedTuple):
    """One setting, as its field describes it."""

    name: str
    """With its section."""
    kind: Any
    """The type of its values."""
    default: Any
    help: str
    bounds: Bounds | None
    choices: Mapping[str, str]
    formerly: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The values that are possible, in words; empty where any text is."""
        if self.bounds is not None:
            return self.bounds.expected
        if self.kind == tuple[int, ...]:
            return "rising whole numbers from 1, with commas between"
        return "true or false" if self.kind is bool else ", ".join(self.choices)

    @property
    def meaning(self) -> str:
        """The help, with the meaning of each choice."""
        if not self.choices:
            return self.help
        listed = "; ".join(f"{word}: {meaning}" for word, meaning in self.choices.items())
        return f"{self.help} {listed}."

    def verify(self, value: Any) -> None:
        """Raise an InputError unless the value is possible."""
        if self.choices and value not in self.choices:
            raise unknown(f"value of {self.name}", value, self.choices)
        if self.bounds is not None and (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.bounds.low <= value <= self.bounds.high
        ):  # a NaN fails, too
            raise InputError(f"{self.name}={value} is not possible, expected {self.expected}")
        if self.kind == tuple[int, ...] and (not value or any(v < 1 for v in value) or list(value) != sorted({*value})):
            raise InputError(f"{self.name}={value} is not possible, expected {self.expected}")

    def read(self, text: str) -> Any:
        """A value from its text."""
        try:
            if self.kind is bool:
                return {"true": True, "false": False}[text.lower()]
            if self.kind in (int, float):
                return self.kind(text)
            if self.kind == tuple[int, ...]:
                return tuple(int(part) for part in text.split(","))
        except (KeyError, ValueError):
            raise InputError(f"{self.name}={text} is not possible, expected {self.expected}") from None
        return text


def _settings() -> Iterator[Setting]:
    for section in fields(Config):
        kinds = get_type_hints(section.default_factory)
        for f in fields(section.default_factory):  # type: ignore[arg-type]
            about = dict(f.metadata)
            about["formerly"] = tuple(o if "." in o else f"{section.name}.{o}" for o in about["formerly"])
            yield Setting(f"{section.name}.{f.name}", kinds[f.name], f.default, **about)


SETTINGS: Mapping[str, Setting] = {known.name: known for known in _settings()}
"""All settings by name, in the order of their sections."""
FORMERLY: Mapping[str, str] = {old: known.name for known in SETTINGS.values() for old in known.formerly}
"""The settings by their old names."""

WHOLE_HISTORY = 1_000_000
"""Generations of a window that forgets none."""
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "document": {
        "play.by": "search",
        "search.name": "qdts[noise=0.25]",
        "search.explore": 0.0,
        "search.eps": 0.1,
        "search.eps_last": 0.1,
        "policy.target": "lcb",
        "policy.power": 1.0,
        "policy.window": WHOLE_HISTORY,
        "value.target": "outcome",
        "value.window": WHOLE_HISTORY,
        "belief.explore": 0.0,
    },
}
"""Settings by the name of a preset; `document` is the recipe of QDTS, with AlphaZero's noise at the root."""


def at(first: float, last: float, progress: float) -> float:
    """A setting between its first and last value: by equal factors where both are positive, else by equal steps.

        first · (last / first)^progress     or      first + (last − first) · progress

    `progress` is the share of the budget that is spent, from 0 to 1.
    """
    if first > 0.0 and last > 0.0:
        return first * (last / first) ** progress
    return first + (last - first) * progress


def grown_window(config: Config, generation: int) -> int:
    """The number of generations that P and V learn from in a generation of games that have trees of their own.

    It is a quarter of all so far, at most `search.window`, but no less than the windows of P and V, and than 2: the
    length of games is known from the last generation.
    """
    return max(2, config.window, min(generation // 4, config.search.window))


def flat(config: Config) -> dict[str, Any]:
    """The values of all settings by name."""
    return {f"{s}.{name}": value for s, values in config.as_dict().items() for name, value in values.items()}


def preset(name: str = "default") -> Config:
    """The settings of a preset."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return changed(Config(), PRESETS[name])


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """The configuration with other values of some settings, by name."""
    by_section: dict[str, dict[str, Any]] = {}
    for given, value in changes.items():
        name = FORMERLY.get(given, given)
        if name not in SETTINGS:
            raise _unknown_setting(name)
        section, _, key = name.partition(".")
        by_section.setdefault(section, {})[key] = value
    return replace(config, **{s: replace(getattr(config, s), **values) for s, values in by_section.items()})


def _unknown_setting(name: str) -> InputError:
    """An error with the nearest settings, by the whole name or by its last part."""
    near = difflib.get_close_matches(name, SETTINGS, n=3, cutoff=0.6)
    last = name.rpartition(".")[2]
    near += [
        k for k in SETTINGS if difflib.SequenceMatcher(None, k.partition(".")[2], last).ratio() > 0.8 and k not in near
    ]
    hint = f"did you mean {' or '.join(near[:3])}?" if near else f"the settings are {', '.join(sorted(SETTINGS))}"
    return InputError(f"unknown setting '{name}': {hint}")


def read_settings(texts: Sequence[str], config: Config) -> Config:
    """The configuration changed by texts such as `search.visits=32`."""
    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise InputError(f"'{text}' is not a setting, expected name=value such as search.visits=32")
        if name in FORMERLY:
            note_renamed(f"the setting {name}", FORMERLY[name])
            name = FORMERLY[name]
        if name not in SETTINGS:
            raise _unknown_setting(name)
        changes[name] = SETTINGS[name].read(value)
    return changed(config, changes)


def from_dict(data: Mapping[str, Any]) -> Config:
    """The configuration that `as_dict` gave, in this version or an earlier one; an InputError where it is not one."""
    sections = {f.name for f in fields(Config)}
    values: dict[str, Any] = {}
    for section, part in data.items():
        if section not in sections or not isinstance(part, dict):
            raise unknown("section of a configuration", section, sections)
        values |= {f"{section}.{key}": tuple(v) if isinstance(v, list) else v for key, v in part.items()}
    if "play.by" not in values and "play.games" in values:
        values = _of_searched_run(values)
    if "search.name" in values:
        values.setdefault("search.window", 1)  # it did not grow in earlier versions
    return changed(Config(), values)


def _of_searched_run(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run that is older than games without search, in today's names."""
    moved = {"play.games": "search.games", "play.explore": "search.explore"}
    return {moved.get(name, name): value for name, value in values.items()} | {
        "play.by": "search",
        "policy.unit": "scale",
    }

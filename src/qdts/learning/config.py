"""The settings of a run: each field of a section with its default, its help and its bounds, and presets.

A setting is known by its section and name, `search.visits`. `docs/learning.md` explains them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple, get_type_hints

from qdts.errors import InputError, unknown
from qdts.notes import note_renamed


class Bounds(NamedTuple):
    """The numbers that a setting may have, and how an error names them."""

    low: float
    high: float
    expected: str


COUNT = Bounds(1, 1_000_000_000, "a whole number, at least 1")
POSITIVE = Bounds(1e-12, 1e12, "a positive number")
NOT_NEGATIVE = Bounds(0.0, 1e12, "a number that is not negative")
SHARE = Bounds(0.0, 1.0, "a number from 0 to 1")
EXPLORING = Bounds(0.0, 0.99, "a number from 0 to 0.99")
RADIUS = Bounds(0.0, 2.0, "a number from 0 to 2")


def setting(
    default: Any, help: str, bounds: Bounds | None = None, *,
    choices: Mapping[str, str] | None = None, formerly: str | Sequence[str] = (),
) -> Any:  # fmt: skip
    """A field of a section.

    Args:
        default: Its value in the default preset.
        help: One sentence on what it does.
        bounds: The numbers that it may be.
        choices: The words that it may be, each with its meaning.
        formerly: An old name, or several, which still work; with a section where that was another one.
    """
    old = (formerly,) if isinstance(formerly, str) else tuple(formerly)
    metadata = {"help": help, "bounds": bounds, "choices": choices or {}, "formerly": old}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class NetSettings:
    """The models."""

    width: int = setting(
        0,
        "Units of a layer, or channels of a convolution; 0: 128 units, 32 channels.",
        Bounds(0, 65536, "a whole number from 0 to 65,536"),
    )
    layers: int = setting(
        0,
        "Hidden layers, or convolutions; 0: 2 layers, and as many convolutions as let each cell see the whole board.",
        Bounds(0, 1000, "a whole number from 0 to 1,000"),
    )
    towers: int = setting(
        0,
        "2: P has a trunk of its own; 1: P and V share one; 0: 1 with perfect information, else 2.",
        Bounds(0, 2, "0, 1 or 2"),
    )
    trunk: str = setting(
        "auto",
        "What lies between inputs and outputs.",
        choices={
            "mlp": "linear layers",
            "conv": "convolutions",
            "auto": "convolutions where the game is played on a board",
        },
    )
    child_values: bool = setting(
        True, "Whether the model has V_c; without it V of a node stands for all of its children (first-play urgency)."
    )


@dataclass(frozen=True)
class SearchSettings:
    """Games that are decided by search. A setting moves to its `_last` value as the budget is spent."""

    name: str = setting(
        "auto",
        "A search, with changed options in brackets, which take precedence over settings; auto: puct with perfect "
        "information, mmds where something is hidden.",
    )
    visits: int = setting(
        0,
        "Visits of every search; 0: 64, but with perfect information no more than 8 for each legal action, on average.",
        Bounds(0, 1_000_000_000, "a whole number that is not negative"),
    )
    c: float = setting(
        4.0,
        "c of PUCT with perfect information, in units of the spread of values, as the step's (`policy.unit`).",
        NOT_NEGATIVE,
    )
    games: int = setting(
        0,
        "Games of a generation, where they are decided by search; 0: with perfect information as many as make about "
        "`search.moves` moves, but no fewer than 2 for each row of `play.batch`; 500 where something is hidden.",
        Bounds(0, 1_000_000_000, "a whole number that is not negative"),
    )
    moves: int = setting(2000, "Moves of players in a generation, about, where `search.games` is 0.", COUNT)
    samples: float = setting(
        5.0,
        "With perfect information, how often fitting samples each move of a generation, on average: more steps than "
        "`fit.steps`, if that needs more.",
        NOT_NEGATIVE,
    )
    window: int = setting(
        50,
        "With perfect information P and V learn from a quarter of all generations, but from no more than this.",
        COUNT,
    )
    reuse: bool = setting(
        True, "Whether a search continues with the tree of the move before; with perfect information and visits."
    )
    noise: float = setting(0.25, "The share of Dirichlet noise in P at the roots, with perfect information.", SHARE)
    noise_total: float = setting(
        10.0, "The parameter of that noise, times the mean number of legal actions of a move.", POSITIVE
    )
    drawn: float = setting(
        0.5,
        "With perfect information, the first moves of a game that are sampled in proportion to visits, as a share of "
        "the mean length of games.",
        NOT_NEGATIVE,
    )
    late_temperature: float = setting(
        0.25, "τ of later moves, sampled in proportion to N^(1/τ); 0: the action with the most visits.", SHARE
    )
    opening: float = setting(
        0.45,
        "With perfect information, up to how many of the first moves are uniform in half of the games, as a share of "
        "the mean length of games.",
        SHARE,
    )
    explore: float = setting(
        0.3,
        "The share of the exploring seat's moves that are sampled uniformly, where games at the same view share a "
        "search: where something is hidden, or P learns mirror steps.",
        SHARE,
    )
    eps: float = setting(0.0, "eps at SAMPLE and OPPONENT nodes, at the start of the run.", RADIUS)
    eps_last: float = setting(0.0, "eps at the end of the run.", RADIUS)


@dataclass(frozen=True)
class PlaySettings:
    """Self-play."""

    by: str = setting(
        "auto",
        "How the games of a generation are made.",
        choices={
            "values": "sampled from P in bulk, without search; P learns from the values that follow",
            "search": "a search decides every move; P learns from what the searches found",
            "auto": "search with perfect information, values where something is hidden",
        },
    )
    games: int = setting(
        0,
        "Games of a generation, where they are sampled in bulk; 0: as many as have about play.histories histories.",
        Bounds(0, 1_000_000_000, "a whole number that is not negative"),
    )
    histories: int = setting(
        40_000, "About how many different histories the games of a generation have, all together.", COUNT
    )
    explore: float = setting(
        0.5, "The share of the exploring seat's moves in these games that are sampled uniformly.", EXPLORING
    )
    explore_others: float = setting(
        0.2, "The same for the other seats. Weights make up for it, so that it changes no value.", EXPLORING
    )
    lanes: int = setting(1024, "Searches side by side, at most.", COUNT, formerly="slots")
    batch: int = setting(32, "Rows of one call of a network.", COUNT)
    cache: int = setting(
        65536,
        "Evaluations that are remembered within a generation.",
        Bounds(0, 1 << 30, f"a whole number from 0 to {1 << 30:,}"),
    )


@dataclass(frozen=True)
class PolicySettings:
    """What P learns."""

    target: str = setting(
        "auto",
        "The policy that P learns at a searched view.",
        choices={
            "auto": "visits with perfect information, the mirror step where something is hidden",
            "mirror": "the mirror step",
            "visits": "the share of visits",
            "lcb": "filtered visits",
            "played": "the frequencies of the actions that were played, sampled from the mirror step",
            "played-visits": "the same, sampled by the share of visits",
        },
    )
    step: float = setting(
        0.5, "η: the mirror step of the policy target, at the start of the run.", NOT_NEGATIVE, formerly="search.step"
    )
    step_last: float = setting(0.15, "η at the end of the run.", NOT_NEGATIVE, formerly="search.step_last")
    temperature: float = setting(
        0.7, "α: the strength of the magnet, at the start of the run.", NOT_NEGATIVE, formerly="search.temperature"
    )
    temperature_last: float = setting(0.7, "α at the end of the run.", NOT_NEGATIVE, formerly="search.temperature_last")
    uniform: float = setting(
        0.1,
        "The share of uniform play in the magnet ρ, at the start of the run; the rest is P of the averaged weights.",
        SHARE,
        formerly=("search.uniform", "search.even"),
    )
    uniform_last: float = setting(
        0.003,
        "The share of uniform play in ρ at the end of the run.",
        SHARE,
        formerly=("search.uniform_last", "search.even_last"),
    )
    unit: str = setting(
        "spread",
        "The unit of Q in the mirror step.",
        choices={
            "spread": "how far the values of a player's actions lie apart, as measured",
            "scale": "S, half the range of returns",
        },
    )
    damped: bool = setting(True, "Whether the step is smaller at views with few games, by the noise of their Q.")
    power: float = setting(0.75, "A view that occurred n times has weight n to this power.", SHARE)
    window: int = setting(1, "Generations that P learns from, where games are decided by search.", COUNT)


@dataclass(frozen=True)
class ValueSettings:
    """What V and V_c learn."""

    target: str = setting(
        "auto",
        "The value that V learns where games are decided by search.",
        choices={
            "auto": "long with perfect information, mix where something is hidden",
            "mix": "see value.mix",
            "long": "the same with λ = 0.9, and the luck of chance taken off",
            "outcome": "the returns of the games",
        },
    )
    mix: float = setting(
        0.25, "λ of mix: the share of what follows in the game; the rest is the search's own value.", SHARE
    )
    deblunder: bool = setting(True, "Whether the search's own value replaces what follows an exploring move.")
    chance: bool = setting(
        False,
        "Whether the luck of chance is taken off what follows in a game, by V_c, where games are decided by search.",
    )
    window: int = setting(5, "Generations that V learns from.", COUNT)
    weight: float = setting(1.0, "The weight of the loss of V.", NOT_NEGATIVE)
    child_weight: float = setting(0.5, "The weight of the loss of V_c.", NOT_NEGATIVE)
    baseline: str = setting(
        "children",
        "What sampled outcomes are compared with, where games are sampled in bulk.",
        choices={
            "children": "V_c of each choice; without V_c, V of the node",
            "evaluated": "V of each child, evaluated by itself",
            "actions": "V_c of players' actions; the luck of chance is not corrected for",
            "none": "nothing: outcomes count by their importance weights alone",
        },
    )
    child_target: str = setting(
        "auto",
        "What V_c learns.",
        choices={
            "network": "the network's own V of the child",
            "estimate": "the value of the child that follows from the games, where they are sampled in bulk",
            "auto": "estimate where games are sampled in bulk, else network",
        },
    )
    consistency: float = setting(
        0.0,
        "The weight of the loss that holds V to the mean of V_c under P, or under the rules of chance.",
        NOT_NEGATIVE,
    )
    best_child: float = setting(0.0, "The weight of the loss that holds V to the largest V_c.", NOT_NEGATIVE)


@dataclass(frozen=True)
class BeliefSettings:
    """What H learns."""

    source: str = setting(
        "sampled",
        "Where H learns from.",
        choices={
            "sampled": "games sampled from the newest P, without search",
            "buffer": "the records of self-play that V learns from",
            "exact": "nowhere: Bayes' rule takes the place of H",
        },
    )
    games: int = setting(20_000, "Games that are sampled for H alone, where self-play is by search.", COUNT)
    explore: float = setting(
        0.5,
        "The share of all players' moves in these games that are sampled uniformly, which weights make up for.",
        EXPLORING,
    )
    power: float = setting(1.0, "A node that occurred n times has weight n to this power.", SHARE)
    bayes: float = setting(0.0, "The weight of the loss that holds H to Bayes' rule.", NOT_NEGATIVE)
    bayes_since: str = setting(
        "turn",
        "Where Bayes' rule begins, in that loss.",
        choices={"turn": "with H at the player's last own turn", "start": "at the start of the game, without H"},
    )
    steps: int = setting(20, "Optimiser steps of a generation.", COUNT)
    rate: float = setting(1e-3, "The learning rate at the start of the run.", POSITIVE)
    rate_last: float = setting(1e-4, "The learning rate at the end of the run.", POSITIVE)
    average_games: int = setting(
        100_000, "The most games that H̄, the H of the averaged P, learns from for a checkpoint that is kept.", COUNT
    )
    average_steps: int = setting(400, "The most optimiser steps of H̄ for a checkpoint that is kept.", COUNT)


@dataclass(frozen=True)
class FitSettings:
    """How the models are fitted."""

    steps: int = setting(20, "Optimiser steps of a generation.", COUNT)
    rows: int = setting(512, "Examples of P, and as many of V, in each step.", COUNT)
    rate: float = setting(3e-3, "The learning rate at the start of the run.", POSITIVE)
    rate_last: float = setting(1e-4, "The learning rate at the end of the run.", POSITIVE)
    average: float = setting(5.0, "γ of the average of weights.", NOT_NEGATIVE)


@dataclass(frozen=True)
class MeasureSettings:
    """What is measured, off the clock."""

    visits: tuple[int, ...] = setting((16, 64, 256), "Visits of the searched policies measured at the end of the run.")
    seeds: int = setting(1, "Seeds that a searched policy is averaged over.", COUNT)
    most: int = setting(
        50_000,
        "The most information sets of a game that is measured during a run.",
        Bounds(0, 1_000_000_000, "a whole number that is not negative"),
    )
    games: int = setting(
        1000,
        "The most games of each match that shows the strength of P where it is not measured exactly; 0: no matches.",
        Bounds(0, 1_000_000_000, "a whole number that is not negative"),
    )


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

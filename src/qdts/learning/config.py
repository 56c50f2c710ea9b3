"""How a run learns: every setting with its meaning, its bounds, and the presets of games that have one.

A setting has a section and a name, `search.visits`; `docs/learning.md` says what each one does.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args, get_type_hints

from qdts.errors import InputError, unknown
from qdts.learning.choices import BeliefSource, PolicyTarget, Trunk, ValueKind


@dataclass(frozen=True)
class NetSettings:
    """The models."""

    width: int = 128
    """Units of a layer, or channels of a convolution."""
    layers: int = 2
    """Hidden layers, or convolutions."""
    towers: int = 2
    """2: P has a trunk of its own; 1: P and V share one."""
    trunk: Trunk = "auto"
    """`mlp`, `conv`, or `auto`: convolutions where the game is played on a board."""


@dataclass(frozen=True)
class SearchSettings:
    """The searches of self-play."""

    name: str = "mmds"
    """A search, with what is changed in brackets."""
    visits: int = 64
    """Of every search."""
    step: float = 5.0
    step_last: float = 5.0
    """η_root: the mirror step of the target, at the beginning and the end of the run."""
    temperature: float = 0.1
    temperature_last: float = 0.1
    """α_root: how strong its magnet is, in the same way."""
    even: float = 0.1
    even_last: float = 0.02
    """The share of even play in the magnet ρ, in the same way; the rest of it is the policy with averaged weights."""
    eps: float = 0.0
    eps_last: float = 0.0
    """eps at SAMPLE and OPPONENT nodes, in the same way."""


@dataclass(frozen=True)
class PlaySettings:
    """Self-play."""

    games: int = 2000
    """A generation."""
    explore: float = 0.3
    """The share of its moves that the exploring seat draws evenly."""
    slots: int = 1024
    """Searches side by side, at most."""
    batch: int = 64
    """Rows of one call of a network."""
    cache: int = 65536
    """Evaluations of the networks that a generation remembers."""


@dataclass(frozen=True)
class PolicySettings:
    """What P is taught."""

    target: PolicyTarget = "mirror"
    """`mirror`: the mirror step; `lcb`: filtered visits; `played`: the actions played."""
    power: float = 0.5
    """A view met n times weighs n to this power."""


@dataclass(frozen=True)
class ValueSettings:
    """What V and V_c are taught."""

    target: ValueKind = "mix"
    """`mix`: see λ; `outcome`: the returns of played games."""
    mix: float = 0.25
    """λ: the share of what follows on the played path; the rest is the search's own value."""
    deblunder: bool = True
    """Whether the search's own value takes the place of what follows an exploring move."""
    window: int = 5
    """Generations that V learns from."""
    weight: float = 1.0
    """Of the loss of V."""
    child_weight: float = 0.5
    """Of the loss of V_c."""


@dataclass(frozen=True)
class BeliefSettings:
    """What H is taught."""

    source: BeliefSource = "sampled"
    """`sampled`: games drawn from the newest P, without search; `buffer`: the window of self-play; `exact`: no H, but
    Bayes' rule."""
    games: int = 20_000
    """Games that are sampled."""
    explore: float = 0.5
    """The share of all players' moves in these games that is drawn evenly, which the rows are corrected for; 0: only
    the exploring seat's, as in self-play, and its rows alone."""
    power: float = 1.0
    """What was met n times weighs n to this power."""
    steps: int = 80
    """A generation."""
    rate: float = 1e-3
    rate_last: float = 1e-4
    """Learning rate at the beginning and the end of the run."""
    average_games: int = 100_000
    average_steps: int = 400
    """The most games that H̄, the H of the averaged P, is taught on for a checkpoint that is kept, and steps."""


@dataclass(frozen=True)
class FitSettings:
    """How the models are fitted."""

    steps: int = 60
    """A generation."""
    rows: int = 512
    """A step."""
    rate: float = 3e-3
    rate_last: float = 1e-4
    """Learning rate at the beginning and the end of the run."""
    average: float = 8.0
    """γ of the average of weights."""


@dataclass(frozen=True)
class MeasureSettings:
    """What is measured besides, off the clock."""

    visits: tuple[int, ...] = (16, 64, 256)
    """Visits of the searched policy, measured at the end."""
    seeds: int = 1
    """Seeds over which the searched policy is averaged."""
    most: int = 50_000
    """Information sets of the largest game that is measured during a run."""


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
        for name, value in flat(self).items():
            _verify(name, value)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


COUNT = (1, 1_000_000_000, "a whole number, at least 1")
POSITIVE = (1e-12, 1e12, "a positive number")
NOT_NEGATIVE = (0.0, 1e12, "a number that is not negative")
SHARE = (0.0, 1.0, "a number from 0 to 1")
RADIUS = (0.0, 2.0, "a number from 0 to 2")
BOUNDS: Mapping[str, tuple[float, float, str]] = {
    "net.width": (1, 65536, "a whole number from 1 to 65,536"),
    "net.layers": (1, 1000, "a whole number from 1 to 1,000"),
    "net.towers": (1, 2, "1 or 2"),
    "search.visits": COUNT,
    "search.step": NOT_NEGATIVE,
    "search.step_last": NOT_NEGATIVE,
    "search.temperature": NOT_NEGATIVE,
    "search.temperature_last": NOT_NEGATIVE,
    "search.even": SHARE,
    "search.even_last": SHARE,
    "search.eps": RADIUS,
    "search.eps_last": RADIUS,
    "play.games": COUNT,
    "play.explore": SHARE,
    "play.slots": COUNT,
    "play.batch": COUNT,
    "play.cache": (0, 1 << 30, f"a whole number from 0 to {1 << 30:,}"),
    "policy.power": SHARE,
    "value.mix": SHARE,
    "value.window": COUNT,
    "value.weight": NOT_NEGATIVE,
    "value.child_weight": NOT_NEGATIVE,
    "belief.games": COUNT,
    "belief.explore": (0.0, 0.99, "a number from 0 to 0.99"),
    "belief.power": SHARE,
    "belief.steps": COUNT,
    "belief.rate": POSITIVE,
    "belief.rate_last": POSITIVE,
    "belief.average_games": COUNT,
    "belief.average_steps": COUNT,
    "fit.steps": COUNT,
    "fit.rows": COUNT,
    "fit.rate": POSITIVE,
    "fit.rate_last": POSITIVE,
    "fit.average": NOT_NEGATIVE,
    "measure.seeds": COUNT,
    "measure.most": (0, 1_000_000_000, "a whole number that is not negative"),
}
WORDS: Mapping[str, Sequence[str]] = {
    "net.trunk": get_args(Trunk),
    "policy.target": get_args(PolicyTarget),
    "value.target": get_args(ValueKind),
    "belief.source": get_args(BeliefSource),
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "kuhn_poker": {
        "net.width": 64,
        "search.temperature": 0.2,
        "search.temperature_last": 0.2,
        "search.even": 0.05,
        "search.even_last": 0.002,
        "play.games": 500,
        "belief.steps": 40,
        "belief.average_games": 1_000_000,
        "fit.steps": 40,
        "fit.rows": 128,
    },
    "leduc_poker": {"belief.average_games": 1_000_000},
    "connect_four": {"net.width": 32, "net.layers": 4, "play.games": 256},
    "tic_tac_toe": {"net.width": 32, "net.layers": 3, "play.games": 500},
}
"""Settings by the name of a preset; a game takes the one of its own name, or else the default."""


def flat(config: Config) -> dict[str, Any]:
    """All settings by their full names."""
    return {f"{s}.{name}": value for s, values in config.as_dict().items() for name, value in values.items()}


def _verify(name: str, value: Any) -> None:
    if name in WORDS and value not in WORDS[name]:
        raise unknown(f"value of {name}", value, WORDS[name])
    if name in BOUNDS:
        low, high, text = BOUNDS[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InputError(f"{name}={value} is not possible, expected {text}")
    if name == "measure.visits" and (not value or any(v < 1 for v in value) or list(value) != sorted({*value})):
        raise InputError(f"{name}={value} is not possible, expected whole numbers from 1 on that rise")


def preset(game: str, name: str | None = None) -> Config:
    """The settings of a preset, or those of a game (by its family's name)."""
    if name is not None and name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    chosen = name or (game if game in PRESETS else "default")
    return changed(Config(), PRESETS[chosen])


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """A configuration with other values of some settings, each by its full name."""
    known = flat(config)
    by_section: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        if name not in known:
            raise _unknown_setting(name, known)
        section, _, key = name.partition(".")
        by_section.setdefault(section, {})[key] = value
    return replace(config, **{s: replace(getattr(config, s), **values) for s, values in by_section.items()})


def _unknown_setting(name: str, known: Mapping[str, Any]) -> InputError:
    """An error with the nearest settings, by the whole name or by its last part."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    last = name.rpartition(".")[2]
    near += [
        k for k in known if difflib.SequenceMatcher(None, k.partition(".")[2], last).ratio() > 0.8 and k not in near
    ]
    hint = f"did you mean {' or '.join(near[:3])}?" if near else f"the settings are {', '.join(sorted(known))}"
    return InputError(f"unknown setting '{name}': {hint}")


def read_settings(texts: Sequence[str], config: Config) -> Config:
    """A configuration changed by texts such as `search.visits=32`."""
    changes: dict[str, Any] = {}
    known = flat(config)
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise InputError(f"'{text}' is not a setting, expected name=value such as search.visits=32")
        if name not in known:
            raise _unknown_setting(name, known)
        changes[name] = _read(name, value)
    return changed(config, changes)


def _read(name: str, text: str) -> Any:
    """A value as the kind of its setting."""
    section, _, key = name.partition(".")
    kind = get_type_hints(type(getattr(Config(), section)))[key]
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind in (int, float):
            return kind(text)
        if kind == tuple[int, ...]:
            return tuple(int(part) for part in text.split(","))
    except (KeyError, ValueError):
        expected = BOUNDS.get(name, (0, 0, "true or false" if kind is bool else "whole numbers with commas between"))[2]
        raise InputError(f"{name}={text} is not possible, expected {expected}") from None
    return text


def from_dict(data: Mapping[str, Any]) -> Config:
    """The configuration that `as_dict` gave; an InputError where it is not one."""
    sections = {f.name for f in fields(Config)}
    values: dict[str, Any] = {}
    for section, part in data.items():
        if section not in sections or not isinstance(part, dict):
            raise unknown("section of a configuration", section, sections)
        values |= {f"{section}.{key}": tuple(v) if isinstance(v, list) else v for key, v in part.items()}
    return changed(Config(), values)

"""The settings of a run, section by section: each with its default, its help and its bounds.

A setting is known by its section and name, `search.visits`. `docs/learning.md` explains them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


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
        "Hidden layers, or convolutions; 0: 2 layers, or as many convolutions as let the board's middle see all of it.",
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

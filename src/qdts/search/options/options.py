"""What a search is made of: every parameter, one line each, and the searches that have a name.

`docs/search.md` says what each one does; the symbol of the page stands at the beginning of the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, get_args

from qdts.errors import InputError, unknown
from qdts.search.options.variants import (
    Backup,
    Ball,
    Belief,
    Decision,
    Estimate,
    Form,
    LuckBase,
    LuckChild,
    Machine,
    RootBelief,
    RootQ,
    Select,
    SelfDeterminization,
    Trees,
    Unvisited,
)


@dataclass(frozen=True)
class Options:
    """The parameters of a search. Constants that are compared with Q are in units of S, half the range of returns."""

    machine: Machine = "forest"
    """`forest`: many trees with P, V, V_c and H. `bandit`: UCB and playouts."""
    c: float = 0.5
    """c: exploration, in PUCT and in UCB."""
    eps_sample: float = 0.1
    """eps: how far H may be wrong, as an L1 distance."""
    eps_opponent: float = 0.1
    """eps: how far P̂ may be wrong, as an L1 distance."""
    estimate: Estimate = "dirichlet"
    """P̂: how a simulated player's policy is estimated from his tree."""
    pseudo_visits: float = 10.0
    """κ: what the prior counts for in P̂ by `dirichlet`."""
    confidence: float = 0.05
    """δ: how unlikely a distribution must be to be left by P̂ by `sticky`."""
    step: float = 0.0
    """η: the mirror step of simulated players and of ACT nodes."""
    doubt: float = 0.0
    """δ: how far V may be wrong, in units of S: a mirror step takes what is worth as much as P within it for equal."""
    select: Select = "puct"
    """How an ACT node that is no root chooses."""
    root_select: Select = "puct"
    """How a root, spawned ones included, chooses."""
    backup: Backup = "average"
    """What an ACT node backs up: the MIX/PN average, the expectation under its mirror step, or a running average."""
    sample_q: Form = "residual"
    """The form of Q at SAMPLE and CHANCE nodes."""
    opponent_q: Form = "residual"
    """The form of Q at OPPONENT nodes."""
    luck_base: LuckBase = "same"
    """Φ: what the luck of a drawn child is measured from, in running averages."""
    luck_child: LuckChild = "q"
    """Φ: what the drawn child counts as."""
    ball: Ball = "node"
    """B_eps: at each SAMPLE node, or over whole routes through a chain of them."""
    belief: Belief = "model"
    """H: the evaluator's, or what takes its place."""
    root_belief: RootBelief = "model"
    """The belief at the root: as everywhere, or as if the others had answered P all along."""
    response_visits: int = 16
    """Visits of each of the searches that find out how the others would have answered."""
    unvisited: Unvisited = "child"
    """Q of a child that was not visited: V_c, or first-play urgency."""
    fpu: float = 0.0
    """fpu: what first-play urgency takes off V, in units of S."""
    widen: bool = False
    """Whether the children of a new ACT node are evaluated with it, so that they carry intervals from the start."""
    share: bool = False
    """Whether spawned trees with the same root view are one tree."""
    decision: Decision = "mirror"
    """How the root decides."""
    c_lcb: float = 0.5
    """c_σ: the width of the confidence interval of `lcb`."""
    root_step: float = 3.0
    """η_root: the mirror step of the root's decision."""
    root_reach: float = 2.0
    """How far from P the root's mirror step may lead, as an L1 distance."""
    root_q: RootQ = "nearest"
    """What the root's mirror step takes for Q: the middle, or the point of the interval nearest to the value of P."""
    root_doubt: float = 0.0
    """δ_root: what is added to the doubt in the root's mirror step, in units of S."""
    c_doubt: float = 0.0
    """c_δ: what few visits add to the doubt of the root's mirror step, c_δ S / √N for each action."""
    root_temperature: float = 0.0
    """α_root: the pull towards the uniform magnet in the root's mirror step."""
    prior_temperature: float = 1.0
    """P' ∝ P^(1/temperature) at the root of the search; mixing and decisions keep P."""
    noise: float = 0.0
    """The share of Dirichlet noise in P' at the root of the search."""
    noise_alpha: float = 0.3
    """The parameter of that noise."""
    max_nodes: int = 10_000_000
    """How many nodes a search may have; it then goes on without growing, and says so."""
    trees: Trees = "one"
    """The bandit's trees: one for the observer, or many, one for each player and what he may know."""
    self_determinization: SelfDeterminization = "none"
    """Whether the bandit's many trees also see worlds that the player knows to be impossible."""

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            if getattr(self, name) not in words:
                raise unknown(f"{name} of a search", getattr(self, name), words)
        for name, (low, high, text) in BOUNDS.items():
            value = getattr(self, name)
            if (
                not isinstance(value, Real) or isinstance(value, bool) or not low <= float(value) <= high
            ):  # a NaN fails, too
                raise InputError(f"{name}={value} is not possible for a search, expected {text}")
        for name in NUMBERS:
            if not isinstance(getattr(self, name), int):
                raise InputError(f"{name}={getattr(self, name)} is not possible for a search, expected a whole number")
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name}={getattr(self, name)} is not possible for a search, expected true or false")


WORDS = {
    "machine": get_args(Machine),
    "estimate": get_args(Estimate),
    "select": get_args(Select),
    "root_select": get_args(Select),
    "backup": get_args(Backup),
    "sample_q": get_args(Form),
    "opponent_q": get_args(Form),
    "luck_base": get_args(LuckBase),
    "luck_child": get_args(LuckChild),
    "ball": get_args(Ball),
    "belief": get_args(Belief),
    "root_belief": get_args(RootBelief),
    "trees": get_args(Trees),
    "self_determinization": get_args(SelfDeterminization),
    "unvisited": get_args(Unvisited),
    "decision": get_args(Decision),
    "root_q": get_args(RootQ),
}
POSITIVE = (1e-12, 1e12, "a positive number")
NOT_NEGATIVE = (0.0, 1e12, "a number that is not negative")
SHARE = (0.0, 1.0, "a number from 0 to 1")
RADIUS = (0.0, 2.0, "a number from 0 to 2")
BOUNDS = {
    "c": NOT_NEGATIVE,
    "eps_sample": RADIUS,
    "eps_opponent": RADIUS,
    "pseudo_visits": POSITIVE,
    "confidence": (1e-12, 1.0, "a number above 0 and up to 1"),
    "step": NOT_NEGATIVE,
    "doubt": NOT_NEGATIVE,
    "fpu": NOT_NEGATIVE,
    "c_lcb": NOT_NEGATIVE,
    "root_step": NOT_NEGATIVE,
    "root_reach": RADIUS,
    "root_doubt": NOT_NEGATIVE,
    "c_doubt": NOT_NEGATIVE,
    "root_temperature": NOT_NEGATIVE,
    "prior_temperature": POSITIVE,
    "noise": SHARE,
    "noise_alpha": POSITIVE,
    "response_visits": (1, 1_000_000, "a whole number from 1 to 1,000,000"),
    "max_nodes": (1, 2_000_000_000, "a whole number from 1 to 2,000,000,000"),
}
NUMBERS = ("response_visits", "max_nodes")
SWITCHES = ("widen", "share")

SEARCHES: Mapping[str, Options] = {
    "puct": Options(decision="visits"),
    "a-ismcts": Options(eps_sample=0.0, eps_opponent=0.0, estimate="counts", decision="visits"),
    "qdts": Options(),
    "qdts-descent": Options(
        eps_sample=0.02,
        eps_opponent=0.02,
        estimate="mirror",
        step=30.0,
        doubt=0.05,
        root_select="uniform",
        root_belief="responses",
        root_step=8.0,
        root_reach=0.4,
        root_doubt=0.02,
        c_doubt=0.2,
    ),
    "qdts-backprop": Options(
        eps_opponent=0.0, estimate="mix", sample_q="running", opponent_q="expected", decision="lcb"
    ),
    "nash-ismcts": Options(
        eps_opponent=0.0,
        estimate="counts",
        sample_q="running",
        opponent_q="running",
        backup="running",
        ball="route",
        belief="bayes",
        decision="lcb",
    ),
    "mmds": Options(
        eps_sample=0.0,
        eps_opponent=0.0,
        estimate="mirror",
        select="mirror",
        root_select="uniform",
        backup="mirror",
        root_step=2.0,
        root_q="middle",
    ),
    "uct": Options(machine="bandit", c=1.4, decision="most", belief="rules"),
    "ismcts": Options(machine="bandit", c=1.4, decision="visits", belief="rules"),
    "mt-ismcts": Options(machine="bandit", c=1.4, decision="visits", belief="rules", trees="many"),
}
"""The searches that have a name."""


def named(name: str, **changes: Any) -> Options:
    """The options of a named search, some of them changed."""
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    known = {f.name for f in fields(Options)}
    for change in changes:
        if change not in known:
            raise unknown("parameter of a search", change, known)
    return replace(SEARCHES[name], **changes)

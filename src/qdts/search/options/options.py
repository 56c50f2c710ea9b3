"""The options of a search, each described in one place: the metadata of its field.

`docs/search.md` says what each one does; its symbol there comes first in the help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from qdts.errors import InputError
from qdts.notes import note_renamed
from qdts.search.options.description import (
    BANDIT,
    BOTH,
    KEY,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_SHARE,
    RADIUS,
    SHARE,
    Description,
    choice,
    number,
    switch,
    whole_number,
)
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
    """The options of a search. Constants that are compared with Q are in units of S, half the range of returns.

    A variant may be given as its enum's member or as a plain string. A value that is not possible raises an InputError.
    """

    machine: Machine = choice(Machine.FOREST, "What runs the search.", readers=())
    c: float = number(
        0.5,
        "c: exploration, in PUCT and in UCB.",
        NOT_NEGATIVE,
        readers=BOTH,
        in_kernels=True,
        in_units_of_s=True,
    )
    eps_sample: float = number(0.1, "eps: how far H may be wrong, as an L1 distance.", RADIUS, in_kernels=True)
    eps_opponent: float = number(0.1, "eps: how far P̂ may be wrong, as an L1 distance.", RADIUS, in_kernels=True)
    estimate: Estimate = choice(
        Estimate.DIRICHLET, "P̂: how a simulated player's policy is estimated from their tree.", in_kernels=True
    )
    pseudo_visits: float = number(
        10.0, "κ: how many visits the prior counts as in P̂ by `dirichlet`.", POSITIVE, in_kernels=True
    )
    confidence: float = number(
        0.05,
        "δ: how unlikely the counts must make a distribution before P̂ by `sticky` rules it out.",
        POSITIVE_SHARE,
        in_kernels=True,
    )
    step: float = number(
        0.0, "η: the mirror step of simulated players and of ACT nodes.", NOT_NEGATIVE, in_kernels=True
    )
    doubt: float = number(
        0.0,
        "δ: how far V may be wrong, in units of S: a mirror step counts values within it of P's value as equal.",
        NOT_NEGATIVE,
        readers=BOTH,
        in_kernels=True,
        in_units_of_s=True,
    )
    select: Select = choice(Select.PUCT, "How an ACT node that is no root chooses.", in_kernels=True)
    root_select: Select = choice(Select.PUCT, "How a root, spawned ones included, chooses.", in_kernels=True)
    backup: Backup = choice(Backup.AVERAGE, "What an ACT node backs up.", in_kernels=True)
    sample_q: Form = choice(Form.RESIDUAL, "The form of Q at SAMPLE and CHANCE nodes.", in_kernels=True)
    opponent_q: Form = choice(Form.RESIDUAL, "The form of Q at OPPONENT nodes.", in_kernels=True)
    luck_base: LuckBase = choice(
        LuckBase.SAME, "Φ: what the luck of a sampled child is measured from, in running averages.", in_kernels=True
    )
    luck_child: LuckChild = choice(LuckChild.Q, "Φ: what the sampled child counts as.", in_kernels=True)
    ball: Ball = choice(Ball.NODE, "B_eps: the ball at each SAMPLE node, or over whole routes.", in_kernels=True)
    belief: Belief = choice(Belief.MODEL, "H: the evaluator's, or what takes its place.", readers=BOTH)
    belief_turns: int = whole_number(
        1, "How many of the player's own turns back `bayes` begins; at the start where there were fewer.", 1, 1_000_000
    )
    root_belief: RootBelief = choice(
        RootBelief.MODEL, "The belief at the root: as everywhere, or as if the others had responded to P all along."
    )
    response_visits: int = whole_number(
        16, "Visits of each search for the others' responses.", 1, 1_000_000, formerly="answer_visits"
    )
    unvisited: Unvisited = choice(
        Unvisited.CHILD, "Q of a child that was not visited: V_c, or first-play urgency.", in_kernels=True
    )
    fpu: float = number(
        0.0,
        "fpu: what first-play urgency takes off V, in units of S.",
        NOT_NEGATIVE,
        in_kernels=True,
        in_units_of_s=True,
    )
    widen: bool = switch(
        False,
        "Whether the children of a new ACT node are evaluated with it, so that they have intervals from the start.",
        in_kernels=True,
    )
    share: bool = switch(False, "Whether spawned trees with the same root view are one tree.", in_kernels=True)
    decision: Decision = choice(Decision.MIRROR, "How the root decides.", readers=BOTH)
    c_lcb: float = number(0.5, "c_σ: the width of the confidence interval of `lcb`.", NOT_NEGATIVE, readers=BOTH)
    root_step: float = number(3.0, "η_root: the mirror step of the root's decision.", NOT_NEGATIVE, readers=BOTH)
    root_reach: float = number(
        2.0, "How far from P the root's mirror step may lead, as an L1 distance.", RADIUS, readers=BOTH
    )
    root_q: RootQ = choice(RootQ.NEAREST, "What the root's mirror step takes for Q.", readers=BOTH)
    root_doubt: float = number(
        0.0,
        "δ_root: what is added to the doubt in the root's mirror step, in units of S.",
        NOT_NEGATIVE,
        readers=BOTH,
    )
    c_doubt: float = number(
        0.0,
        "c_δ: what few visits add to the doubt of the root's mirror step, c_δ S / √N for each action.",
        NOT_NEGATIVE,
        readers=BOTH,
    )
    root_temperature: float = number(
        0.0, "α_root: the pull towards the uniform magnet in the root's mirror step.", NOT_NEGATIVE, readers=BOTH
    )
    prior_temperature: float = number(
        1.0,
        "P' ∝ P^(1/temperature) at the root of the search; mixing and decisions keep P.",
        POSITIVE,
        in_kernels=True,
    )
    noise: float = number(0.0, "The share of Dirichlet noise in P' at the root of the search.", SHARE, in_kernels=True)
    noise_alpha: float = number(0.3, "The parameter of that noise.", POSITIVE)
    max_nodes: int = whole_number(
        10_000_000,
        "How many nodes a search may have; it then adds visits without growing, and its result says so.",
        1,
        2_000_000_000,
        readers=BOTH,
        in_kernels=True,
    )
    trees: Trees = choice(
        Trees.ONE,
        "The bandit's trees: one for the observer, or one for each player and what they may know.",
        readers=BANDIT,
    )
    self_determinization: SelfDeterminization = choice(
        SelfDeterminization.NONE,
        "Whether the bandit's many trees also see worlds that the player knows to be impossible.",
        readers=BANDIT,
    )

    def __post_init__(self) -> None:
        for name, description in DESCRIPTIONS.items():
            object.__setattr__(self, name, description.verified(name, getattr(self, name)))


DESCRIPTIONS: Mapping[str, Description] = {f.name: f.metadata[KEY] for f in fields(Options)}
"""All that is known of each option, in the order of the fields."""


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of options with former names of options replaced by their present ones, each noted; others stay."""
    present = {d.formerly: name for name, d in DESCRIPTIONS.items() if d.formerly is not None}
    found: dict[str, Any] = {}
    for given, value in values.items():
        name = present.get(given, given)
        if name != given:
            note_renamed(given, name)
        if name in found:
            raise InputError(f"option {name} of a search is given twice")
        found[name] = value
    return found

"""The searches that have a name, and what each one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from qdts.errors import unknown
from qdts.search.options.options import DESCRIPTIONS, Options, current_names
from qdts.search.options.variants import (
    Backup,
    Ball,
    Belief,
    Decision,
    Estimate,
    Form,
    Machine,
    RootBelief,
    RootQ,
    Select,
    Trees,
)


@dataclass(frozen=True)
class NamedSearch:
    """A search that has a name."""

    help: str
    """What it is, in one line."""
    options: Options
    with_hidden: str | None = None
    """Its counterpart for games with hidden information, where it is for perfect information alone."""


SEARCHES: Mapping[str, NamedSearch] = {
    "puct": NamedSearch(
        "PUCT as in AlphaZero; perfect information only",
        Options(decision=Decision.VISITS),
        with_hidden="a-ismcts",
    ),
    "a-ismcts": NamedSearch(
        "many trees without dispersion: the baseline that collapses",
        Options(eps_sample=0.0, eps_opponent=0.0, estimate=Estimate.COUNTS, decision=Decision.VISITS),
    ),
    "qdts": NamedSearch("Q-Dispersion Tree Search: Q as intervals, a mirror step", Options()),
    "qdts-descent": NamedSearch(
        "QDTS against simulated responses, for learned networks",
        Options(
            eps_sample=0.02,
            eps_opponent=0.02,
            estimate=Estimate.MIRROR,
            step=30.0,
            doubt=0.05,
            root_select=Select.UNIFORM,
            root_belief=RootBelief.RESPONSES,
            root_step=8.0,
            root_reach=0.4,
            root_doubt=0.02,
            c_doubt=0.2,
        ),
    ),
    "qdts-backprop": NamedSearch(
        "QDTS as first written: running averages, an lcb filter",
        Options(
            eps_opponent=0.0,
            estimate=Estimate.MIX,
            sample_q=Form.RUNNING,
            opponent_q=Form.EXPECTED,
            decision=Decision.LCB,
        ),
    ),
    "nash-ismcts": NamedSearch(
        "running averages over whole routes, Bayesian beliefs",
        Options(
            eps_opponent=0.0,
            estimate=Estimate.COUNTS,
            sample_q=Form.RUNNING,
            opponent_q=Form.RUNNING,
            backup=Backup.RUNNING,
            ball=Ball.ROUTE,
            belief=Belief.BAYES,
            decision=Decision.LCB,
        ),
    ),
    "mmds": NamedSearch(
        "everybody plays P, and the root takes one mirror step",
        Options(
            eps_sample=0.0,
            eps_opponent=0.0,
            estimate=Estimate.MIRROR,
            select=Select.MIRROR,
            root_select=Select.UNIFORM,
            backup=Backup.MIRROR,
            root_step=2.0,
            root_q=RootQ.MIDDLE,
        ),
    ),
    "uct": NamedSearch(
        "UCT with playouts; perfect information only",
        Options(machine=Machine.BANDIT, c=1.4, decision=Decision.MOST, belief=Belief.RULES),
        with_hidden="ismcts",
    ),
    "ismcts": NamedSearch(
        "information-set MCTS with playouts, one tree",
        Options(machine=Machine.BANDIT, c=1.4, decision=Decision.VISITS, belief=Belief.RULES),
    ),
    "mt-ismcts": NamedSearch(
        "information-set MCTS with playouts, a tree for each player",
        Options(machine=Machine.BANDIT, c=1.4, decision=Decision.VISITS, belief=Belief.RULES, trees=Trees.MANY),
    ),
}
"""The searches that have a name."""


def named(name: str, **changes: Any) -> Options:
    """The options of a named search with some of them changed.

    Args:
        name: One of `SEARCHES`.
        **changes: Values of options, by the names of `Options`; variants may be plain strings.

    Raises:
        InputError: For an unknown name or option, or a value that is not possible.
    """
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    changes = current_names(changes)
    for change in changes:
        if change not in DESCRIPTIONS:
            raise unknown("parameter of a search", change, DESCRIPTIONS)
    return replace(SEARCHES[name].options, **changes)

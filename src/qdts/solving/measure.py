"""How good a policy is: every player's value, what he could gain, and by which way that was found out.

positions    games that hide nothing, on the graph of their positions (`positions.py`)
enumerate    on the enumerated game (`best_response.py`, `sequence_form.py`): fast once its histories are listed
sweep        view by view in bounded memory (`view_sweep.py`), for games whose histories are too many to list
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.kernels import Reals
from qdts.solving.policy import Policy, aligned, game_tree, handy_tree, is_sweepable, verify_game
from qdts.solving.rows import Rows, ask
from qdts.solving.tree import GameTree

METHODS = ("enumerate", "sweep")
DEFAULT_MEMORY = 2 << 30
"""Bytes that a sweep may hold, besides a policy's own table."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is."""

    player: int
    share: float
    """Of this player's sweep, each action at a view counted alike: a rough measure."""
    histories: int
    views: int


SweepReport = Callable[[SweepProgress], None]


@dataclass(frozen=True)
class Measurement:
    """What is known of a policy."""

    values: tuple[float, ...]
    """Every player's expected return."""
    gains: tuple[float, ...]
    """What each could gain by a best response."""
    method: str
    histories: int | None = None
    """How many were met, where they were counted; a sweep leaves out those that nobody but the responder goes to."""
    views: int | None = None
    """How many views of all players were met at their turn."""
    largest: int | None = None
    """The most worlds at one view, where a sweep counted them."""
    memory: int | None = None
    """The most bytes that a sweep held."""

    @property
    def nash_conv(self) -> float:
        """What all players together could gain by best responses."""
        return float(sum(self.gains))


def measure_policy(
    game: Game,
    policy: Policy | Rows,
    *,
    method: str | None = None,
    memory: int = DEFAULT_MEMORY,
    report: SweepReport | None = None,
) -> Measurement:
    """Measure a policy: a table, or any callable from views to rows of probabilities (see `rows.Rows`).

    Without a method, a game that hides nothing is measured on positions, one whose histories are listed already or are
    few on those, and any other by a sweep that holds at most `memory` bytes.
    """
    if isinstance(policy, Policy):
        verify_game(policy, game)
    if not game.hidden:
        return _on_positions(game, policy, method)
    tree = chosen_tree(game, method)
    if tree is None:
        return _swept(game, policy, memory, report)
    from qdts.solving.best_response import gains
    from qdts.solving.values import history_values

    probability = on_tree(tree, policy)
    values = history_values(tree, probability)[0]
    return Measurement(
        tuple(values.tolist()),
        tuple(gains(tree, probability).tolist()),
        "enumerate",
        tree.num_histories,
        tree.num_infosets,
    )


def chosen_tree(game: Game, method: str | None) -> GameTree | None:
    """The enumerated game if that is the way to measure, or None for a sweep."""
    if method is not None and method not in METHODS:
        raise unknown("method", method, METHODS)
    if method == "sweep":
        return None
    return game_tree(game) if method == "enumerate" else handy_tree(game)


def on_tree(tree: GameTree, policy: Policy | Rows) -> Reals:
    """A policy's probabilities in the order of a tree's information sets."""
    if isinstance(policy, Policy):
        return aligned(tree, policy)
    return ask(tree.game, policy, tree.infosets.views, np.diff(tree.infosets.offset))


def _on_positions(game: Game, policy: Policy | Rows, method: str | None) -> Measurement:
    from qdts.solving.positions import position_measure, position_policy

    if method is not None:
        raise InputError(f"{game.spec} hides nothing and is measured on its positions, expected no method '{method}'")
    table = policy if isinstance(policy, Policy) else position_policy(game, policy)
    values, gains = position_measure(table)
    return Measurement(tuple(values.tolist()), tuple(gains.tolist()), "positions", views=len(table))


def _swept(game: Game, policy: Policy | Rows, memory: int, report: SweepReport | None) -> Measurement:
    if not is_sweepable(game):
        raise InputError(
            f"{game.spec} can't be swept: expected a game that hides something and whose views forget nothing; "
            "method 'enumerate' measures any other"
        )
    from qdts.solving.view_sweep import sweep

    found = [sweep(game, policy, player, memory=memory, report=report) for player in range(game.players)]
    return Measurement(
        tuple(each.value for each in found),
        tuple(each.best - each.value for each in found),
        "sweep",
        max(each.histories for each in found),
        sum(each.views for each in found),
        max(each.largest for each in found),
        max(each.bytes for each in found),
    )

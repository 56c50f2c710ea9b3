"""How good a policy is: every player's value, what each would gain by a best response, and NashConv.

There are four methods, and each function here chooses the one for its game:

positions    perfect-information games, on the graph of their positions (`perfect/value_iteration.py`)
enumerate    on the enumerated game (`exact/best_response.py`, `sequence/form.py`): fast once it is enumerated
cells        cell by cell (`cells/cell_measure.py`), for large games of hidden stones on one board
sweep        view by view in bounded memory (`sweep/view_sweep.py`), for other games too large to enumerate
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdts.errors import InputError, unknown
from qdts.games.game import Game
from qdts.kernels import Reals
from qdts.notes import note_renamed
from qdts.solving.exact.best_response import gains, respond
from qdts.solving.exact.values import history_values
from qdts.solving.policy.function import PolicyFunction, evaluate_function
from qdts.solving.policy.table import Policy, aligned, policy_on, verify_game
from qdts.solving.sweep.progress import DEFAULT_MEMORY, SweepReport
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.recent import game_tree, handy_tree, is_sweepable

METHODS = ("enumerate", "cells", "sweep")


@dataclass(frozen=True)
class Measurement:
    """The value of a policy to every player, and its distance to equilibrium.

    Examples:
        >>> from qdts import load_game, measure_policy, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> measured = measure_policy(game, uniform_policy(game))
        >>> measured.method, measured.histories, measured.views
        ('enumerate', 58, 12)
        >>> [round(gain, 4) for gain in measured.gains], round(measured.nash_conv, 4)
        ([0.375, 0.5417], 0.9167)
    """

    values: tuple[float, ...]
    """Every player's expected return."""
    gains: tuple[float, ...]
    """What each player would gain by a best response."""
    method: str
    """`positions`, `enumerate`, `cells` or `sweep`."""
    histories: int | None = None
    """How many were met, where they were counted; a sweep omits those that only the responding player goes to."""
    views: int | None = None
    """How many views of all players were met, each at its owner's turn."""
    largest: int | None = None
    """The most worlds with one view, where a sweep counted them."""
    memory: int | None = None
    """The most bytes that a sweep, or a measurement cell by cell, held."""

    @property
    def nash_conv(self) -> float:
        """What all players together would gain by best responses."""
        return float(sum(self.gains))


def measure_policy(
    game: Game,
    policy: Policy | PolicyFunction,
    *,
    method: str | None = None,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    report: SweepReport | None = None,
) -> Measurement:
    """Measure a policy exactly: every player's value, and what each would gain by a best response.

    Args:
        game: The game.
        policy: A table, or a function of views (`policy.function.PolicyFunction`), such as a network.
        method: `enumerate`, `cells` or `sweep`; None enumerates games with few histories or whose tree is in memory,
            measures large games of hidden stones cell by cell, and sweeps the others. Perfect-information games are
            always measured on their positions.
        memory: The most bytes that a sweep may hold, besides a policy's own table.
        threads: How many measure cell by cell; by default one for each core that the process may use.
        report: Called with the progress of a sweep, or of a measurement cell by cell.

    Returns:
        The values and gains, the method, and the size of what was visited.

    Raises:
        InputError: The policy is for another game or lacks a view, the method is unknown or not possible for the game,
            or the memory is too small.

    Examples:
        >>> from qdts import load_game, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> [round(gain, 4) for gain in measure_policy(game, uniform_policy(game)).gains]
        [0.375, 0.5417]
    """
    if isinstance(policy, Policy):
        verify_game(policy, game)
    if not game.hidden:
        return _on_positions(game, policy, method)
    tree = chosen_tree(game, method)
    if tree is None and (method == "cells" or (method is None and is_measurable_by_cells(game))):
        return _by_cells(game, policy, threads, report)
    if tree is None:
        return _swept(game, policy, memory, report)
    probability = on_tree(tree, policy)
    values = history_values(tree, probability)[0]
    return Measurement(
        tuple(values.tolist()),
        tuple(gains(tree, probability).tolist()),
        "enumerate",
        tree.num_histories,
        tree.num_infosets,
    )


def nash_conv(
    game: Game,
    policy: Policy | PolicyFunction,
    *,
    method: str | None = None,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    report: SweepReport | None = None,
) -> float:
    """NashConv: Σ over players of the gain by a best response; zero exactly at a Nash equilibrium.

    For two players exploitability is half of this.

    Args:
        game: The game.
        policy: A table, or a function of views (`policy.function.PolicyFunction`), such as a network.
        method: As for `measure_policy`.
        memory: As for `measure_policy`.
        threads: As for `measure_policy`.
        report: As for `measure_policy`.

    Returns:
        What all players together would gain by best responses.

    Raises:
        InputError: As for `measure_policy`.

    Examples:
        >>> from qdts import load_game, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> round(nash_conv(game, uniform_policy(game)), 4)
        0.9167
    """
    tree = chosen_tree(game, method) if game.hidden else None
    if tree is None:
        return measure_policy(game, policy, method=method, memory=memory, threads=threads, report=report).nash_conv
    return tree_nash_conv(tree, on_tree(tree, policy))


def expected_values(game: Game | Policy, policy: Policy | PolicyFunction | None = None) -> Reals:
    """Every player's expected return from the start of the game.

    Args:
        game: The game. (A policy alone in its place is the form of version 0.1.)
        policy: The policy that all players follow: a table, or a function of views.

    Returns:
        float64[P], one value for each player.

    Raises:
        InputError: The policy is for another game or lacks a view, or there is none.

    Examples:
        >>> from qdts import load_game, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> expected_values(game, uniform_policy(game))
        array([ 0.125, -0.125])
    """
    if isinstance(game, Policy):
        note_renamed("expected_values(policy)", "expected_values(game, policy)")
        policy, game = game, game.game
    if policy is None:
        raise InputError(f"expected_values({game}): expected a game and a policy")
    if isinstance(policy, Policy):
        verify_game(policy, game)
    tree = handy_tree(game) if game.hidden else None
    if tree is not None:
        return history_values(tree, on_tree(tree, policy))[0].copy()
    if not game.hidden and isinstance(policy, Policy):
        from qdts.solving.perfect.value_iteration import position_values

        return position_values(policy)
    return np.array(measure_policy(game, policy).values)


def best_response(policy: Policy, player: int) -> tuple[float, Policy]:
    """A best response of one player to the others' policy.

    Args:
        policy: What all players play.
        player: The player who responds, counted from 0.

    Returns:
        The value of the best response to that player, and the policy with that player's part replaced by it.

    Raises:
        InputError: There is no such player, or the policy lacks a view of its game.

    Examples:
        >>> from qdts import load_game, uniform_policy
        >>> game = load_game("kuhn_poker")
        >>> value, response = best_response(uniform_policy(game), 0)
        >>> value
        0.5
        >>> expected_values(game, response)
        array([ 0.5, -0.5])
    """
    policy.game.verify_player(player)
    if not policy.game.hidden:
        from qdts.solving.perfect.value_iteration import position_response

        return position_response(policy, player)
    tree = game_tree(policy.game)
    response = respond(tree, aligned(tree, policy), player)
    return response.value, policy_on(tree, response.probability)


def tree_nash_conv(tree: GameTree, probability: Reals) -> float:
    """NashConv of probabilities float64[A] in the order of a tree, by the fastest exact method."""
    if is_sequential(tree.game):
        from qdts.solving.sequence.form import sequence_form

        return sequence_form(tree).nash_conv(probability)
    if not tree.game.hidden:
        from qdts.solving.perfect.value_iteration import position_gains

        return float(position_gains(policy_on(tree, probability)).sum())
    return float(gains(tree, probability).sum())


def is_sequential(game: Game) -> bool:
    """Whether a game has a sequence form: two players, imperfect information and perfect recall."""
    return game.players == 2 and is_sweepable(game)


def chosen_tree(game: Game, method: str | None) -> GameTree | None:
    """The enumerated game if the method needs it, else None."""
    if method is not None and method not in METHODS:
        raise unknown("method", method, METHODS)
    if method in ("cells", "sweep"):
        return None
    return game_tree(game) if method == "enumerate" else handy_tree(game)


def on_tree(tree: GameTree, policy: Policy | PolicyFunction) -> Reals:
    """A policy's probabilities in the order of a tree's information sets. float64[A]"""
    if isinstance(policy, Policy):
        return aligned(tree, policy)
    return evaluate_function(tree.game, policy, tree.infosets.views, np.diff(tree.infosets.offset))


def _on_positions(game: Game, policy: Policy | PolicyFunction, method: str | None) -> Measurement:
    from qdts.solving.perfect.value_iteration import position_measure, position_policy

    if method is not None:
        raise InputError(
            f"{game.spec} has perfect information and is measured on its positions, expected no method '{method}'"
        )
    table = policy if isinstance(policy, Policy) else position_policy(game, policy)
    values, gained = position_measure(table)
    return Measurement(tuple(values.tolist()), tuple(gained.tolist()), "positions", views=len(table))


def is_measurable_by_cells(game: Game) -> bool:
    """Whether a game can be measured cell by cell."""
    if not game.by_cells:
        return False
    from qdts.solving.cells.patterns import MOST_CELLS

    return game.num_actions <= MOST_CELLS


def _by_cells(
    game: Game, policy: Policy | PolicyFunction, threads: int | None, report: SweepReport | None
) -> Measurement:
    if not is_measurable_by_cells(game):
        raise InputError(
            f"{game.spec} can't be measured cell by cell: expected hidden stones on a small board, with views of a "
            "player's own tries alone (phantom_ttt, dark_hex(gameversion=adh))"
        )
    from qdts.solving.cells.cell_measure import measure_by_cells

    responses = measure_by_cells(game, policy, threads=threads, report=report)
    return Measurement(
        tuple(each.value for each in responses),
        tuple(each.best - each.value for each in responses),
        "cells",
        views=sum(each.views for each in responses),
        memory=max(each.bytes for each in responses),
    )


def _swept(game: Game, policy: Policy | PolicyFunction, memory: int, report: SweepReport | None) -> Measurement:
    if not is_sweepable(game):
        raise InputError(
            f"{game.spec} can't be swept: expected a game with hidden information and perfect recall; "
            "method 'enumerate' measures any other"
        )
    from qdts.solving.sweep.view_sweep import sweep

    responses = [sweep(game, policy, player, memory=memory, report=report) for player in range(game.players)]
    return Measurement(
        tuple(each.value for each in responses),
        tuple(each.best - each.value for each in responses),
        "sweep",
        max(each.histories for each in responses),
        sum(each.views for each in responses),
        max(each.largest for each in responses),
        max(each.bytes for each in responses),
    )

"""Where a search may begin: views that their players can have at their turns; and how many visits it may make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import boolean, int64

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL, KernelsType, RulesType
from qdts.hashing import find_rows
from qdts.kernels import Ints, kernel
from qdts.pointers import element
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.enumeration import TooLargeError
from qdts.solving.tree.recent import game_tree

MOST_VISITS = 2_000_000_000
"""Counts have 32 bits."""


def verify_visits(visits: int) -> None:
    """Raise an InputError unless a search can make so many visits."""
    if not 1 <= visits <= MOST_VISITS:
        raise InputError(
            f"visits={visits} is not possible for a search, expected at least 1 and at most {MOST_VISITS:,}"
        )


def verified_roots(
    game: Game, views: Sequence[Ints], players: Sequence[int], seeds: Sequence[int], threads: int = 1
) -> tuple[Ints, Ints]:
    """Views and players as arrays.

    Raises an InputError unless each view has a seed and shows what its player may know, at their turn.
    """
    if threads < 1:
        raise InputError(f"threads={threads} is not possible for a search, expected at least 1")
    if not len(views) == len(players) == len(seeds):
        raise InputError(f"{len(views)} views, {len(players)} players, {len(seeds)} seeds: expected as many of each")
    seats = np.array(players, np.int64)
    if not _are_roots(game, views, seats):
        for view, player in zip(views, players, strict=True):
            verify_root(game, view, player)
    return np.array(views, np.int64).reshape(-1, game.world_size), seats


def _are_roots(game: Game, views: Sequence[Ints], players: Ints) -> bool:
    """Whether all views are in order; if one is not, `verify_root` says which and why."""
    try:
        rows = np.array(views)
    except ValueError:
        return False
    if rows.dtype != np.int64 or rows.shape[1:] != (game.world_size,) or not game.layout.holds(rows):
        return False
    if players.min() < 0 or players.max() >= game.players:
        return False
    return bool(are_views(game.kernels, game.rules, rows, players, np.zeros(game.world_size, np.int64)))


@kernel(boolean(KernelsType, RulesType, int64[:, ::1], int64[::1], int64[::1]))
def are_views(game: Any, rules: Ints, views: Ints, players: Ints, scratch: Ints) -> bool:
    """Whether each vector shows what its player may know, and that player is to move."""
    correct = True
    for s in range(len(players)):
        for i in range(len(scratch)):
            scratch[i] = views[s, i]
        game.redact(element(rules, 0), element(scratch, 0), players[s])
        correct &= game.mover(element(rules, 0), element(views, s * len(scratch))) == players[s]
        for i in range(len(scratch)):
            correct &= scratch[i] == views[s, i]
    return correct


def verify_root(game: Game, view: Ints, player: int) -> None:
    """Raise an InputError unless a vector shows what the player may know, at their turn.

    Whether play can lead to it is left to `verify_view`.
    """
    game.verify_player(player)
    if not np.array_equal(game.view(view, player), view):
        shown = game.layout.write(view)
        raise InputError(f"{game.spec}: {shown} is not a view of player {player}: it shows what they can't know")
    if game.mover(view) != player:
        raise InputError(f"{game.spec}: player {player} is not to move at {game.layout.write(view)}")


def verify_view(game: Game, view: Ints, player: int) -> None:
    """Raise an InputError unless play can lead to this view with the player to move."""
    game.verify_player(player)
    game.verify_vector(view)
    where = game.layout.write(view)
    unreachable = InputError(
        f"{game.spec}: no play leads player {player} to {where}, expected a view that they can have"
    )
    if game.replay is None:
        try:
            known = game_tree(game).infosets
        except TooLargeError as error:
            raise InputError(
                f"{game.spec}: whether play leads to {where} is unknown, since the game is too large to enumerate; "
                "give the moves from the start instead"
            ) from error
        found = int(find_rows(known.views, view[None])[0])
        if found == NONE:
            raise unreachable
        mover = int(known.owner[found])
    else:
        world = first_completion(game, view)
        if world is None or not _replays(game, world) or not np.array_equal(game.view(world, player), view):
            raise unreachable
        mover = game.mover(world)
    if mover != player:
        whose = {CHANCE: "chance moves", TERMINAL: "the game is over"}.get(mover, f"it is player {mover}'s turn")
        raise InputError(f"{game.spec}: {whose} at {where}, expected a view at player {player}'s turn")


def first_completion(game: Game, view: Ints) -> Ints | None:
    """The view with every hole filled by the first of its values, or None where a hole has none."""
    world = view.copy()
    while (hole := game.hole(world)) != NO_HOLE:
        values = game.values(world, hole)
        if not values:
            return None
        world = game.fill(world, hole, values[0][0])
    return world


def _replays(game: Game, world: Ints) -> bool:
    """Whether the moves that `replay` gives for a world are possible and lead to it."""
    assert game.replay is not None
    try:
        moves = game.replay(world)
        at = game.initial()
        for move in moves:
            at = game.step(at, move)
    except (InputError, IndexError, ValueError):
        return False
    return np.array_equal(at, world)

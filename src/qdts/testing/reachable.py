"""The laws of completions and of weights: what a view may hide is exactly what can be, as likely as chance says.

Where all positions are known, the completions of every view are compared with the worlds that have that view. Where
they are not, the true worlds must be among the completions, and completions sampled at random must be worlds that the
game can reach, with the same view and, if memory is perfect, with the same past of its owner.
"""

from __future__ import annotations

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints, Reals
from qdts.testing.completions import Completions, complete, follow, sample
from qdts.testing.faults import ConformanceError, Law, require, written
from qdts.testing.laws import Seat, spread
from qdts.testing.positions import TOLERANCE, Positions
from qdts.testing.rows import find

Story = list[tuple[bytes, int]]
"""Every view that a player had, one after the other, and what they did at the last of each (or NOTHING)."""

NOTHING = -1
OTHER_VIEW = "{0}, a completion of player {1}'s view, has another view of theirs"
"""What is wrong where `hole` and `values` took one player's view for another's."""
VIEWS_A_SAMPLE = 10
"""How many views are filled for each sampled game."""


def check_all_completions(game: Game, positions: Positions, seat: Seat) -> Completions:
    """The completions of every view of a player are exactly the worlds with that view."""
    _, first = distinct_rows(positions.worlds)
    worlds, view_of = positions.worlds[first], seat.number[first]
    seen = seat.views[seat.first]
    found = complete(game, seen, len(worlds) + 1)
    at, where = find(worlds, found.worlds), seen[found.origin]
    reached = at < len(worlds)
    require(Law.COMPLETIONS, game, reached, where, "the game can't reach {0}, a completion of the view", found.worlds)
    own = view_of[at] == found.origin
    require(Law.COMPLETIONS, game, own, where, OTHER_VIEW.format("{0}", seat.player), found.worlds)
    times = np.bincount(at, minlength=len(worlds))
    what = "the world is found {0} times among the completions of its view, expected once"
    require(Law.COMPLETIONS, game, times == 1, worlds, what, times)
    return found


def check_weights(game: Game, positions: Positions, seat: Seat, found: Completions) -> None:
    """The product of the weights is the probability of the world given the view, under chance alone."""
    number, first = distinct_rows(positions.worlds)
    reach: Reals = np.bincount(number, positions.reach, minlength=len(first)).astype(np.float64)
    reach = reach[find(positions.worlds[first], found.worlds)]
    share = reach / np.bincount(found.origin, reach)[found.origin]
    what = "the completion {0} has weight {1}, by chance it has {2}"
    right = np.abs(found.weight - share) < TOLERANCE
    where = seat.views[seat.first][found.origin]
    require(Law.WEIGHTS, game, right, where, what, found.worlds, found.weight, share)


def check_replay(game: Game, worlds: Ints) -> None:
    """Where a game gives `replay`, its actions lead to the world."""
    if game.replay is not None:
        for world in spread(worlds):
            replayed(game, world, world)


def check_some_completions(
    game: Game, positions: Positions, seat: Seat, samples: int, rng: np.random.Generator
) -> Completions:
    """True worlds are among the completions of their views, and sampled completions can be reached."""
    chosen = np.sort(rng.permutation(len(positions.worlds))[: VIEWS_A_SAMPLE * samples])
    worlds, seen = positions.worlds[chosen], seat.views[chosen]
    true = follow(game, seen, worlds)
    same = (true.worlds == worlds[true.origin]).all(axis=1)
    what = "filling the view with the values of the true world {0} gives {1}"
    require(Law.COMPLETIONS, game, same, seen[true.origin], what, worlds[true.origin], true.worlds)
    found = sample(game, seen, rng)
    back = batch.views(game, found.worlds, seat.player)
    own = (back == seen[found.origin]).all(axis=1)
    require(Law.COMPLETIONS, game, own, seen[found.origin], OTHER_VIEW.format("{0}", seat.player), found.worlds)
    if game.hidden:
        for i in rng.choice(len(found.worlds), min(len(found.worlds), samples), replace=False):
            _check_past(game, positions, seat, int(chosen[found.origin[i]]), found.worlds[i])
    return found


def _check_past(game: Game, positions: Positions, seat: Seat, position: int, completion: Ints) -> None:
    """A completion can be reached, and the owner of the view has the same past there, if views remember it."""
    view = seat.views[position]
    actions = replayed(game, completion, view)
    if game.memory != "perfect":
        return
    true = story(game, _actions(positions, position), seat.player)
    if story(game, actions, seat.player) != true:
        what = f"the view of player {seat.player} forgets: the completion {written(game, completion)} has another past"
        raise ConformanceError(Law.MEMORY, game, f"{what} than the world {written(game, positions.worlds[position])}")


def replayed(game: Game, world: Ints, view: Ints) -> list[int]:
    """The actions and outcomes that lead to a completion of a view, which must do so."""
    if game.replay is None:
        raise InputError(
            f"{game.spec} has too many positions to check them all, and random games can't be checked without "
            "Game(replay=...), a function from a world to the actions and outcomes that lead to it"
        )
    actions = game.replay(world)
    reached = game.initial()
    unreachable = f"the game can't reach {written(game, world)}, a completion of {written(game, view)}: replaying"
    try:
        for action in actions:
            reached = game.step(reached, action)
    except InputError as error:
        raise ConformanceError(Law.COMPLETIONS, game, f"{unreachable} {actions} fails: {error}") from error
    if not np.array_equal(reached, world):
        raise ConformanceError(Law.COMPLETIONS, game, f"{unreachable} {actions} gives {written(game, reached)}")
    return actions


def story(game: Game, actions: list[int], player: int) -> Story:
    """What a player saw and did along a history."""
    world = game.initial()
    past = [(game.view(world, player).tobytes(), NOTHING)]
    for action in actions:
        if game.mover(world) == player:
            past[-1] = (past[-1][0], action)
        world = game.step(world, action)
        view = game.view(world, player).tobytes()
        if view != past[-1][0]:
            past.append((view, NOTHING))
    return past


def _actions(positions: Positions, position: int) -> list[int]:
    """The actions and outcomes that led to a position of a sampled game, where one move leads to each but the first."""
    first = positions.level[1]
    actions = []
    while position >= first:
        move = position - first
        actions.append(int(positions.action[move]))
        position = int(positions.source[move])
    return actions[::-1]

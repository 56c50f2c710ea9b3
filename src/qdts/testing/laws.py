"""The laws that every game must keep: one function each, which raises a ConformanceError where a game breaks it.

`Law` says what each requires. The laws of completions and weights are in `reachable`, golden files and the guard have
modules of their own. Rules depend on the world alone, so `positions` may hold each world of a depth once.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from qdts.errors import InputError
from qdts.games import batch
from qdts.games.game import Game
from qdts.games.interface import CHANCE, NO_HOLE, OTHERS, TERMINAL, UNKNOWN
from qdts.hashing import distinct_rows
from qdts.kernels import Ints
from qdts.testing.faults import ConformanceError, Law, Named, require, written
from qdts.testing.positions import TOLERANCE, Positions
from qdts.testing.rows import fingerprint

BLOCK = 1 << 15
"""How many vectors' features are held at once."""
SPREAD = 2_000
"""How many vectors are checked where Python checks them one by one."""


class Seat(NamedTuple):
    """What one player sees of the positions."""

    player: int
    views: Ints  # [N, W]
    number: Ints  # [N] which of their distinct views it is
    first: Ints  # [their distinct views] the first position of each


def take_seat(game: Game, positions: Positions, player: int) -> Seat:
    """A player's view of every position."""
    seen = batch.views(game, positions.worlds, player)
    return Seat(player, seen, *distinct_rows(seen))


def spread(vectors: Ints) -> Ints:
    """Evenly spaced vectors, and for every component one vector with each value that it takes."""
    evenly = np.linspace(0, len(vectors) - 1, min(len(vectors), SPREAD)).astype(np.int64)
    of_values = [np.unique(column, return_index=True)[1][:SPREAD] for column in vectors.T]
    chosen: Ints = vectors[np.unique(np.concatenate([evenly, *of_values]))]
    return chosen


def check_basics(game: Game, positions: Positions) -> None:
    """Returns are finite and within their bounds; the rest of the law is checked in `positions`, while walking."""
    ends = positions.worlds[positions.mover == TERMINAL]
    utility = batch.returns(game, ends)
    what = f"returns are {{0}}, expected {game.min_return} to {game.max_return} for each player"
    inside = (utility >= game.min_return - TOLERANCE) & (utility <= game.max_return + TOLERANCE)
    require(Law.BASICS, game, inside.all(axis=1), ends, what, [str(u) for u in utility.tolist()])
    total = utility.sum(axis=1)
    if game.zero_sum:
        require(Law.BASICS, game, np.abs(total) < TOLERANCE, ends, "returns sum to {0}, expected 0", total)
    before = positions.worlds[positions.mover == TERMINAL]
    require(Law.BASICS, game, (ends == before).all(axis=1), before, "reading the returns changes the world")


def check_views(game: Game, positions: Positions, seat: Seat) -> None:
    """A view hides and does nothing else, and its owner knows whether they are to move, and their legal actions."""
    worlds, seen, player = positions.worlds, seat.views, seat.player
    who = f"player {player}"
    only_hides = ((seen == worlds) | (seen == UNKNOWN)).all(axis=1)
    require(Law.VIEWS, game, only_hides, worlds, f"redacting for {who} gives {{0}}: a component is changed", seen)
    again = batch.views(game, seen, player)
    require(Law.VIEWS, game, (again == seen).all(axis=1), seen, f"redacting twice for {who} gives {{0}}", again)
    mover, shown = positions.mover, batch.movers(game, seen)
    agrees = (shown == mover) | ((shown == OTHERS) & (mover != player))
    what = f"the view of {who} says that {{0}} moves, in the world {{1}} it is {{2}}"
    require(Law.VIEWS, game, agrees, seen, what, shown, worlds, mover)
    own = np.where(mover == player, mover, TERMINAL)
    true, known = (batch.choices(game, vectors, own) for vectors in (worlds, seen))
    same = true.counts == known.counts
    what = f"the legal actions of {who} differ between their view and the world {{0}}"
    require(Law.VIEWS, game, same, seen, what, worlds)
    same = true.number == known.number
    require(Law.VIEWS, game, same, seen[true.source], what, worlds[true.source])


def check_hidden(game: Game, seats: list[Seat]) -> None:
    """A game that hides nothing has no hole in any view; one that hides has some."""
    if game.hidden:
        found = any((batch.holes(game, s.views[s.first]) != NO_HOLE).any() for s in seats)
        if not found:
            raise ConformanceError(Law.HIDDEN, game, "no view has a hole, though the game declares hidden=True")
        return
    for seat in seats:
        seen = seat.views[seat.first]
        known = (seen != UNKNOWN).all(axis=1) & (batch.holes(game, seen) == NO_HOLE)
        what = f"the view of player {seat.player} has a hole, though the game declares hidden=False"
        require(Law.HIDDEN, game, known, seen, what)


def check_memory(game: Game, positions: Positions, seat: Seat) -> None:
    """A view determines which other view came before it, and what its owner did then if it was their turn."""
    number, width = seat.number, game.max_branching + 1
    source, target = positions.source, positions.target
    own = positions.mover[source] == seat.player
    changed = number[source] != number[target]
    action = positions.action
    what = f"player {seat.player} does not see their own action '{{0}}': their view stays the same"
    require(Law.MEMORY, game, ~own | changed, positions.worlds[source], what, Named(action, game.action_name))
    past = np.full(len(positions.worlds), -1)
    via = np.where(changed, number[source] * width + np.where(own, action + 1, 0), -1)
    for moves in _by_level(positions):
        via[moves] = np.where(changed[moves], via[moves], past[source[moves]])
        past[target[moves]] = via[moves]
    past_of = np.empty(len(seat.first), np.int64)
    past_of[number[target[::-1]]] = via[::-1]
    past_of[number[0]] = -1
    same = past_of[number[target]] == via
    if not same.all():
        edge = int(np.argmin(same))
        pasts = (_past(game, seat, int(key), width) for key in (past_of[number[target[edge]]], via[edge]))
        what = f"the view of player {seat.player} forgets: it follows {' and it follows '.join(pasts)}"
        raise ConformanceError(Law.MEMORY, game, f"{what}, at {written(game, seat.views[target[edge]])}")


def _by_level(positions: Positions) -> list[slice]:
    """The moves from each depth."""
    at = np.searchsorted(positions.source, positions.level)
    return [slice(a, b) for a, b in itertools.pairwise(at)]


def _past(game: Game, seat: Seat, key: int, width: int) -> str:
    """What a view follows, in words."""
    if key < 0:
        return "nothing"
    view, action = divmod(key, width)
    by = f" by '{game.action_name(action - 1)}'" if action else ""
    return f"[{written(game, seat.views[seat.first[view]])}]{by}"


def check_midway(game: Game, positions: Positions, seats: list[Seat]) -> None:
    """After a sub-action the same mover continues, and to the others all sub-actions look the same."""
    worlds, mover = positions.worlds, positions.mover
    flag = batch.midway(game, worlds)
    require(Law.MIDWAY, game, (flag == 0) | (flag == 1), worlds, "midway is {0}, expected 0 or 1", flag)
    begun = np.flatnonzero(flag[positions.target] == 1)
    before, after = positions.source[begun], positions.target[begun]
    continues = mover[before] == mover[after]
    what = "{0} has begun a split action, but {1} moves next"
    require(Law.MIDWAY, game, continues, worlds[after], what, *(Named(m, _who) for m in (mover[before], mover[after])))
    parents = np.unique(before)
    choices = batch.choices(game, worlds[parents], mover[parents])
    children = batch.stepped(game, worlds[parents][choices.source], choices.number)
    split = batch.midway(game, children) == 1
    children, source = children[split], choices.source[split]
    for seat in seats:
        seen = batch.views(game, children, seat.player)
        _, sibling, family = np.unique(source, return_index=True, return_inverse=True)
        same = (seen == seen[sibling[family]]).all(axis=1) | (mover[parents][source] == seat.player)
        what = f"player {seat.player} can tell this sub-action from the one that leads to {{0}}"
        require(Law.MIDWAY, game, same, children, what, children[sibling[family]])


def _who(mover: int) -> str:
    return "chance" if mover == CHANCE else "nobody" if mover == TERMINAL else f"player {mover}"


def check_features(game: Game, player: int, vectors: Ints) -> None:
    """Features are finite, all written, the same for the same vector, and different for different ones."""
    vectors = vectors[distinct_rows(vectors)[1]]
    marks = [_fingerprints(game, player, vectors[at : at + BLOCK]) for at in range(0, len(vectors), BLOCK)]
    number, first = distinct_rows(np.concatenate(marks))
    later = np.flatnonzero(first[number] != np.arange(len(number)))
    one, other = vectors[later], vectors[first[number[later]]]
    differ = (batch.features(game, one, player) != batch.features(game, other, player)).any(axis=1)
    require(Law.FEATURES, game, differ, one, f"the features for player {player} are also those of {{0}}", other)


def _fingerprints(game: Game, player: int, vectors: Ints) -> Ints:
    before = vectors.copy()
    once, again = batch.features(game, vectors, player, np.nan), batch.features(game, vectors, player)
    unchanged = (vectors == before).all(axis=1)
    require(Law.FEATURES, game, unchanged, before, f"reading the features for player {player} changes the vector")
    what = f"a feature for player {player} is not written, or not finite"
    require(Law.FEATURES, game, np.isfinite(once).all(axis=1), vectors, what)
    what = f"the features for player {player} differ when they are read twice"
    require(Law.FEATURES, game, (once == again).all(axis=1), vectors, what)
    padded = np.zeros((len(once), 2 * ((once.shape[1] + 1) // 2)), np.float32)
    padded[:, : once.shape[1]] = once + np.float32(0.0)
    marks = np.empty((len(once), 2), np.int64)
    fingerprint(padded.view(np.int64), marks)
    return marks


def check_text(game: Game, vectors: Ints) -> None:
    """Worlds and views are read back from their texts."""
    for vector in vectors:
        text = written(game, vector)
        try:
            back = game.layout.read(text)
        except InputError as error:
            raise ConformanceError(Law.TEXT, game, f"'{text}' can't be read back: {error}") from error
        if not np.array_equal(back, vector):
            raise ConformanceError(Law.TEXT, game, f"{vector.tolist()} is read back as {back.tolist()} from '{text}'")


def check_names(game: Game, positions: Positions, seat: Seat) -> None:
    """Actions are read back from their names; outcomes, and the views at which a player moves, have names."""
    for action in range(game.num_actions):
        name = game.action_name(action)
        if game.parse_action(name) != action:
            raise ConformanceError(Law.TEXT, game, f"action {action} is read back as {game.parse_action(name)}")
    for outcome in range(game.num_outcomes):
        if not _is_text(name := game.outcome_name(outcome)):
            raise ConformanceError(Law.TEXT, game, f"outcome_name({outcome}) is {name!r}, expected some words")
    views = seat.views[seat.first[positions.mover[seat.first] == seat.player]]
    for view in spread(views) if len(views) else ():
        if not _is_text(title := game.describe(view)):
            raise ConformanceError(Law.TEXT, game, f"title is {title!r}, expected some words at {written(game, view)}")


def _is_text(words: object) -> bool:
    return isinstance(words, str) and bool(words.strip())

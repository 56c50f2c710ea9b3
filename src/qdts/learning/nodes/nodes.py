"""Nodes of search trees outside of a search: those on the path of a played game, and all children of some nodes.

`docs/search.md` (Nodes) defines nodes and their children. The axes of arrays:

    axis  counts
    N     nodes
    W     components of a vector
    B     choices of a node, at most
    E     edges of all nodes, those of one node in a row
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games import batch, defaults
from qdts.games.game import Game
from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.games.interface import NO_HOLE
from qdts.games.interface import TERMINAL as OVER
from qdts.hashing import distinct_rows
from qdts.kernels import Ints
from qdts.search.evaluation.batches import empty_queries
from qdts.search.evaluation.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, TERMINAL, Queries

Flags = NDArray[np.bool_]
FEW = 64
"""Moves from which the number of SAMPLE nodes after a move is estimated."""


class Nodes(NamedTuple):
    """Many nodes, as columns."""

    kind: Ints  # [N]
    vector: Ints  # [N, W]
    player: Ints  # [N] the owner; with perfect information the mover (CHANCE and TERMINAL: 0)
    pending: Ints  # [N]
    hole: Ints  # [N]

    def take(self, which: Ints | Flags) -> Nodes:
        """Some of them."""
        return Nodes._make(column[which] for column in self)


def joined(parts: list[Nodes]) -> Nodes:
    """The nodes of all parts, in order."""
    return Nodes._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def distinct(nodes: Nodes) -> tuple[Nodes, Ints]:
    """Every different node once, and for each given node which of these it is."""
    keys = np.column_stack([nodes.kind, nodes.player, nodes.pending, nodes.hole, nodes.vector])
    which, first = distinct_rows(keys)
    return nodes.take(first), which


def arrive(game: Game, worlds: Ints, owner: Ints) -> Nodes:
    """The nodes of worlds in their owners' trees; with perfect information the owner does not matter."""
    mover = batch.movers(game, worlds)
    kind = np.full(len(worlds), OPPONENT if game.hidden else ACT, np.int64)
    kind[mover == CHANCE_MOVES] = CHANCE
    kind[mover == OVER] = TERMINAL
    if not game.hidden:
        owner = np.maximum(mover, 0)
    vector = worlds
    if game.hidden:
        own = mover == owner
        kind[own] = ACT
        vector = worlds.copy()
        vector[own] = views_of(game, worlds[own], owner[own])
    nothing = np.full(len(worlds), NOTHING, np.int64)
    return Nodes(kind, vector, owner.astype(np.int64), nothing, np.full(len(worlds), NO_HOLE, np.int64))


def views_of(game: Game, worlds: Ints, players: Ints) -> Ints:
    """The view of each world by a player of its own. int64[N, W]"""
    seen = np.empty_like(worlds)
    for player in range(game.players):
        own = players == player
        seen[own] = batch.views(game, worlds[own], player)
    return seen


def has_split_actions(game: Game) -> bool:
    """Whether some actions of the game are made in several steps."""
    return game.kernels.midway.dispatcher is not defaults.midway


def splits_action(game: Game, views: Ints, actions: Ints) -> Flags:
    """Where an action is only a part of a split action, so that the hidden state does not matter yet."""
    if not has_split_actions(game):
        return np.zeros(len(views), np.bool_)
    return batch.midway(game, batch.stepped(game, completed(game, views), actions)) != 0


def completed(game: Game, vectors: Ints) -> Ints:
    """The vectors with every hole filled by the first of its values."""
    worlds = vectors.copy()
    left = np.arange(len(worlds))
    while len(left):
        hole = batch.holes(game, worlds[left])
        left, hole = left[hole != NO_HOLE], hole[hole != NO_HOLE]
        if len(left):
            offered = batch.values(game, worlds[left], hole)
            first = offered.number[np.cumsum(offered.counts) - offered.counts]
            worlds[left] = batch.filled(game, worlds[left], hole, first)
    return worlds


def sample_chain(game: Game, views: Ints, worlds: Ints, players: Ints, actions: Ints) -> tuple[Nodes, Ints, Ints]:
    """The SAMPLE nodes between players' views and the true worlds, with their actions pending.

    Returns:
        The nodes, the index of the view that each belongs to, and the true value of its hole.
    """
    parts: list[Nodes] = []
    source: list[Ints] = []
    true: list[Ints] = []
    vectors, at = views, np.arange(len(views))
    while len(at):
        hole = batch.holes(game, vectors)
        has = hole != NO_HOLE
        vectors, at, hole = vectors[has], at[has], hole[has]
        if not len(at):
            break
        value = batch.true_values(game, vectors, hole, worlds[at])
        assert (value >= 0).all(), "exactly one value of each hole is true"
        parts.append(Nodes(np.full(len(at), SAMPLE, np.int64), vectors, players[at], actions[at], hole))
        source.append(at)
        true.append(value)
        vectors = batch.filled(game, vectors, hole, value)
    if not parts:
        none = np.zeros(0, np.int64)
        return Nodes(none, views[:0], none, none, none), none, none
    return joined(parts), np.concatenate(source), np.concatenate(true)


def chain_after(game: Game, worlds: Ints, players: Ints, actions: Ints) -> tuple[Nodes, Ints, Ints]:
    """The SAMPLE nodes after moves of players in some worlds, as `sample_chain` gives them.

    There are none after a part of a split action.
    """
    vectors = arrive(game, worlds, players).vector
    whole = np.flatnonzero((batch.holes(game, vectors) != NO_HOLE) & ~splits_action(game, vectors, actions))
    chain, at, true = sample_chain(game, vectors[whole], worlds[whole], players[whole], actions[whole])
    return chain, whole[at], true


def mean_chain(game: Game, worlds: Ints, players: Ints, actions: Ints) -> float:
    """The mean number of SAMPLE nodes after some moves, at least 1; estimated from a few of them."""
    some = few_of(len(worlds))
    nodes, _, _ = chain_after(game, worlds[some], players[some], actions[some])
    return max(1.0, len(nodes.kind) / len(some))


def few_of(count: int) -> Ints:
    """The numbers of FEW of so many things, or of all, evenly spread."""
    return np.unique(np.linspace(0, count - 1, FEW).astype(np.int64))


def queries_of(game: Game, nodes: Nodes) -> Queries:
    """The evaluator's queries for some nodes, none of them TERMINAL."""
    queries = empty_queries(game, len(nodes.kind))
    for name in Nodes._fields:
        getattr(queries, name)[:] = getattr(nodes, name)
    sample = nodes.kind == SAMPLE
    mover = np.where(nodes.kind == CHANCE, CHANCE_MOVES, 0)
    table = batch.Table(queries.degree, queries.choices, queries.weights)
    for tabulate, what, of in ((batch.tabulate_values, nodes.hole, sample), (batch.tabulate_choices, mover, ~sample)):
        if of.all():
            tabulate(game, queries.vector, what, np.arange(len(of)), table)
        elif of.any():
            which = np.flatnonzero(of)
            tabulate(game, queries.vector[which], what[which], which, table)
    return queries


class Children(NamedTuple):
    """The children of some nodes, edge by edge."""

    nodes: Nodes  # [E]
    source: Ints  # [E] the index of the parent
    column: Ints  # [E] which of its choices leads there


def children(game: Game, queries: Queries) -> Children:
    """All children of the queries' nodes."""
    there = np.arange(queries.choices.shape[1]) < queries.degree[:, None]
    source, column = np.nonzero(there)
    choice = queries.choices[there]
    kind, player, pending = queries.kind[source], queries.player[source], queries.pending[source]
    hole, vector = queries.hole[source], queries.vector[source]
    out = Nodes(*(c.copy() for c in (kind, vector, player, pending, hole)))
    steps = np.ones(len(source), np.bool_)  # where the child is a world after a step
    move = choice.copy()
    if game.hidden:
        acting = np.flatnonzero(kind == ACT)
        first = batch.holes(game, vector[acting])
        begins = (first != NO_HOLE) & ~splits_action(game, vector[acting], choice[acting])
        begin = acting[begins]
        out.kind[begin], out.pending[begin], out.hole[begin] = SAMPLE, choice[begin], first[begins]
        steps[begin] = False
        vector[acting[~begins]] = completed(game, vector[acting[~begins]])
        filling = np.flatnonzero(kind == SAMPLE)
        vector[filling] = batch.filled(game, vector[filling], hole[filling], choice[filling])
        then = batch.holes(game, vector[filling])
        more = filling[then != NO_HOLE]
        out.vector[more], out.hole[more] = vector[more], then[then != NO_HOLE]
        steps[more] = False
        move[filling] = pending[filling]
    after = arrive(game, batch.stepped(game, vector[steps], move[steps]), player[steps])
    for name in Nodes._fields:
        getattr(out, name)[steps] = getattr(after, name)
    return Children(out, source.astype(np.int64), column.astype(np.int64))

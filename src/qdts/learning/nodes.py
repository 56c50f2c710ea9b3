"""Nodes of search trees outside of a search: those on the path of a played game, and all children of some nodes.

What a node is and which child an edge leads to is said in `docs/search.md` (Nodes). The axes of arrays:

    axis  counts
    N     nodes
    W     slots of a vector
    B     choices of a node, at most
    E     edges of all nodes, those of one node being neighbours
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
from qdts.kernels import Ints
from qdts.search.evaluation.batches import empty_queries
from qdts.search.evaluation.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, TERMINAL, Queries

Flags = NDArray[np.bool_]


class Nodes(NamedTuple):
    """Some nodes, a row each."""

    kind: Ints  # [N]
    vector: Ints  # [N, W]
    player: Ints  # [N] the owner; in an open game the mover (CHANCE and TERMINAL: 0)
    pending: Ints  # [N]
    hole: Ints  # [N]

    def take(self, which: Ints | Flags) -> Nodes:
        """Some of them."""
        return Nodes._make(column[which] for column in self)


def joined(parts: list[Nodes]) -> Nodes:
    """All of several groups of nodes."""
    return Nodes._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def distinct(nodes: Nodes) -> tuple[Nodes, Ints]:
    """Every node once, and for each of those given which of these it is. The order is that of their numbers."""
    keys = np.column_stack([nodes.kind, nodes.player, nodes.pending, nodes.hole, nodes.vector])
    first, which = different(keys)
    return nodes.take(first), which


def different(rows: Ints) -> tuple[Ints, Ints]:
    """Where each different row stands first, and for every row which of these it is; in the order of their bytes.

    Small numbers keep that order as one byte each, −1 being the last; eight of them are sorted as one number.
    """
    narrow = bool(((rows >= -1) & (rows < 255)).all())
    columns = -(-rows.shape[1] // 8) * 8 if narrow else rows.shape[1]
    packed = np.zeros((len(rows), columns), np.uint8 if narrow else np.int64)
    packed[:, : rows.shape[1]] = rows.astype(packed.dtype)
    keys = packed.view(">u8").astype(np.uint64)
    order = np.lexsort(keys.T[::-1])
    new = np.ones(len(rows), np.bool_)
    new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return order[new].astype(np.int64), which


def arrive(game: Game, worlds: Ints, owner: Ints) -> Nodes:
    """The nodes of worlds in trees of their owners; in an open game the owner does not matter."""
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
        vector[own] = views(game, worlds[own], owner[own])
    nothing = np.full(len(worlds), NOTHING, np.int64)
    return Nodes(kind, vector, owner.astype(np.int64), nothing, np.full(len(worlds), NO_HOLE, np.int64))


def views(game: Game, worlds: Ints, players: Ints) -> Ints:
    """What each player knows of the world beside him."""
    seen = np.empty_like(worlds)
    for player in range(game.players):
        his = players == player
        seen[his] = batch.views(game, worlds[his], player)
    return seen


def has_pieces(game: Game) -> bool:
    """Whether the game has actions in pieces."""
    return game.kernels.midway.dispatcher is not defaults.midway


def reveals_nothing(game: Game, views_: Ints, actions: Ints) -> Flags:
    """Where the owner's action is but a piece of one, so that what is hidden does not matter yet."""
    if not has_pieces(game):
        return np.zeros(len(views_), np.bool_)
    return batch.midway(game, batch.stepped(game, completed(game, views_), actions)) != 0


def completed(game: Game, vectors: Ints) -> Ints:
    """Every hole filled with the first of its values."""
    worlds = vectors.copy()
    open_ = np.arange(len(worlds))
    while len(open_):
        hole = batch.holes(game, worlds[open_])
        open_, hole = open_[hole != NO_HOLE], hole[hole != NO_HOLE]
        if len(open_):
            offered = batch.values(game, worlds[open_], hole)
            first = offered.number[np.cumsum(offered.counts) - offered.counts]
            worlds[open_] = batch.filled(game, worlds[open_], hole, first)
    return worlds


def sample_chain(game: Game, views_: Ints, worlds: Ints, players: Ints, actions: Ints) -> tuple[Nodes, Ints, Ints]:
    """The SAMPLE nodes between the players' views and the true worlds, when they have decided on these actions.

    Returns the nodes, the row of the view that each belongs to, and the true value of its hole.
    """
    parts: list[Nodes] = []
    rows: list[Ints] = []
    true: list[Ints] = []
    vectors, at = views_, np.arange(len(views_))
    while len(at):
        hole = batch.holes(game, vectors)
        has = hole != NO_HOLE
        vectors, at, hole = vectors[has], at[has], hole[has]
        if not len(at):
            break
        value = batch.true_values(game, vectors, hole, worlds[at])
        assert (value >= 0).all(), "one value of each hole is the true one"
        parts.append(Nodes(np.full(len(at), SAMPLE, np.int64), vectors, players[at], actions[at], hole))
        rows.append(at)
        true.append(value)
        vectors = batch.filled(game, vectors, hole, value)
    if not parts:
        none = np.zeros(0, np.int64)
        return Nodes(none, views_[:0], none, none, none), none, none
    return joined(parts), np.concatenate(rows), np.concatenate(true)


def queries_of(game: Game, nodes: Nodes) -> Queries:
    """What an evaluator is asked about some nodes, none of them TERMINAL."""
    queries = empty_queries(game, len(nodes.kind))
    for name in Nodes._fields:
        getattr(queries, name)[:] = getattr(nodes, name)
    sample = nodes.kind == SAMPLE
    mover = np.where(nodes.kind == CHANCE, CHANCE_MOVES, 0)
    for offered, what, of in ((batch.values, nodes.hole, sample), (batch.choices, mover, ~sample)):
        which = np.flatnonzero(of)
        if not len(which):
            continue
        found = offered(game, nodes.vector[which], what[which])
        row = which[found.source]
        column = np.arange(len(row)) - np.repeat(np.cumsum(found.counts) - found.counts, found.counts)
        queries.degree[which] = found.counts
        queries.choices[row, column] = found.number
        queries.weights[row, column] = np.where(
            (nodes.kind[row] == SAMPLE) | (nodes.kind[row] == CHANCE), found.chance, 1.0 / queries.degree[row]
        )
    return queries


class Children(NamedTuple):
    """The children of some nodes, edge by edge."""

    nodes: Nodes  # [E]
    source: Ints  # [E] the row of the parent
    column: Ints  # [E] which of its choices leads there


def children(game: Game, queries: Queries) -> Children:
    """All children of the nodes that queries ask about."""
    there = np.arange(queries.choices.shape[1]) < queries.degree[:, None]
    source, column = np.nonzero(there)
    choice = queries.choices[there]
    kind, player, pending = queries.kind[source], queries.player[source], queries.pending[source]
    hole, vector = queries.hole[source], queries.vector[source]
    out = Nodes(*(c.copy() for c in (kind, vector, player, pending, hole)))
    steps = np.ones(len(source), np.bool_)  # whose child comes of a step
    move = choice.copy()
    if game.hidden:
        acting = np.flatnonzero(kind == ACT)
        first = batch.holes(game, vector[acting])
        begins = (first != NO_HOLE) & ~reveals_nothing(game, vector[acting], choice[acting])
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

"""The targets of V and V_c in sampled games: û, the estimates of what P is worth (`estimates.py`).

    node                    V                          V_c of a choice that a game took
    ACT                     the view's mean            the mean of û after it
    OPPONENT, CHANCE        û of the history           û after it
    SAMPLE                  û after the move           the same, for the true value of the hole

Players' own views are what V is most needed for: they are half of all examples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.evaluation import act_nodes
from qdts.learning.nodes.nodes import Nodes, arrive, chain_after, joined, mean_chain, queries_of
from qdts.learning.selfplay.sampling import Level, moves_of
from qdts.learning.targets.estimates import Estimates, Views
from qdts.nets.encoding import offered
from qdts.nets.examples import ValueExamples, choose
from qdts.search.evaluation.evaluator import Queries

OWN, OTHERS, HOLES = 0.5, 0.25, 0.25
"""The shares of examples at ACT nodes, at OPPONENT and CHANCE nodes, and at SAMPLE nodes."""


class Places(NamedTuple):
    """Histories in some levels; M counts them."""

    level: Ints  # [M]
    row: Ints  # [M]
    player: Ints  # [M] whose values are meant
    column: Ints  # [M] a choice, or 0
    times: Ints  # [M] how many games are meant

    def take(self, which: Ints) -> Places:
        """Some of them."""
        return Places._make(column[which] for column in self)


class _Children(NamedTuple):
    """The targets of V_c at some nodes."""

    value: Reals  # [N, B]
    known: Reals  # [N, B]
    prior: Reals  # [N, B] P or the rules'; 0 where it is not known


class _Part(NamedTuple):
    """Nodes with their targets."""

    nodes: Nodes
    target: Reals  # [N]
    weight: Reals  # [N]
    children: Callable[[Queries], _Children]
    """From the queries of the nodes."""


def value_examples_of(
    game: Game, levels: Sequence[Level], estimates: Sequence[Estimates], views: Views, *,
    most: int, power: float, stream: np.random.Generator,
) -> ValueExamples:  # fmt: skip
    """At most so many examples of V and V_c; a node that n games met has weight n to the `power`."""
    shares = (OWN, OTHERS, HOLES)
    own, others, holes = (max(1, round(share * most)) for share in shares)
    parts = [
        _own(views, own, power, stream),
        _others(game, levels, estimates, others, power, stream),
        _holes(game, levels, estimates, holes, power, stream),
    ]
    weight = [share * part.weight / max(part.weight.sum(), 1e-300) for share, part in zip(shares, parts, strict=True)]
    nodes, target = joined([part.nodes for part in parts]), np.concatenate([part.target for part in parts])
    queries = queries_of(game, nodes)
    children = _Children(*np.zeros((3, *queries.choices.shape)))
    at = 0
    for part in parts:
        rows = slice(at, at + len(part.target))
        for out, given in zip(children, part.children(Queries._make(x[rows] for x in queries)), strict=True):
            out[rows, : given.shape[1]] = given
        at = rows.stop
    return ValueExamples(
        queries, target[:, None], np.ones((len(target), 1)), children.value[..., None], children.known,
        np.concatenate(weight), children.prior,
    )  # fmt: skip


def _own(views: Views, most: int, power: float, stream: np.random.Generator) -> _Part:
    rows, weight = choose(views.times**power, most, stream)
    chosen = views.take(rows)
    nodes = act_nodes(chosen.view, chosen.player)
    return _Part(nodes, chosen.value, weight, lambda _: _Children(chosen.child, chosen.took, chosen.policy))


def _others(
    game: Game, levels: Sequence[Level], estimates: Sequence[Estimates], most: int, power: float,
    stream: np.random.Generator,
) -> _Part:  # fmt: skip
    """Histories at which somebody else moves, or chance."""
    found = []
    for number, level in enumerate(levels):
        for player in range(game.players):
            rows = np.flatnonzero((level.mover != player) & (level.mover != TERMINAL))
            found.append(_places(number, rows, player, np.zeros(len(rows), np.int64), level.times[rows]))
    places = _joined(found)
    which, weight = choose(places.times.astype(np.float64) ** power, most, stream)
    places = places.take(which)
    nodes = arrive(game, _worlds(levels, places), places.player)
    value = _gathered([e.value for e in estimates], places)[np.arange(len(which)), places.player]
    child = _gathered([e.child for e in estimates], places)[np.arange(len(which)), :, places.player]
    took = (_gathered([x.taken for x in levels], places) > 0).astype(np.float64)
    policy = _gathered([x.policy for x in levels], places)
    return _Part(nodes, value, weight, lambda _: _Children(child, took, policy))


def _holes(
    game: Game, levels: Sequence[Level], estimates: Sequence[Estimates], most: int, power: float,
    stream: np.random.Generator,
) -> _Part:  # fmt: skip
    """The SAMPLE nodes after players' moves."""
    places = _moves(levels)
    which, weight = choose(places.times.astype(np.float64) ** power, most, stream)
    places, rows = places.take(which), np.arange(len(which))
    worlds, action = _worlds(levels, places), _gathered([x.choice for x in levels], places)[rows, places.column]
    few = slice(0, max(1, round(most / mean_chain(game, worlds, places.player, action))))
    order = stream.permutation(len(which))[few]
    worlds, action, places, weight = worlds[order], action[order], places.take(order), weight[order]
    value = _gathered([e.child for e in estimates], places)[np.arange(len(order)), places.column, places.player]
    nodes, at, true = chain_after(game, worlds, places.player, action)

    def children(queries: Queries) -> _Children:
        known = (offered(queries) & (queries.choices == true[:, None])).astype(np.float64)
        return _Children(value[at][:, None] * known, known, np.zeros_like(known))

    return _Part(nodes, value[at], weight[at], children)


def _moves(levels: Sequence[Level]) -> Places:
    """The moves of players: every choice of theirs that a game took."""
    found = []
    for number, rows, columns in moves_of(levels):
        level = levels[number]
        found.append(_places(number, rows, level.mover[rows], columns, level.taken[rows, columns]))
    return _joined(found)


def _places(level: int, rows: Ints, player: int | Ints, column: Ints, times: Ints) -> Places:
    return Places(np.full(len(rows), level), rows, np.broadcast_to(player, rows.shape), column, times)


def _joined(parts: list[Places]) -> Places:
    return Places._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _worlds(levels: Sequence[Level], places: Places) -> Ints:
    return np.asarray(_gathered([level.world for level in levels], places), np.int64)


def _gathered(columns: Sequence[NDArray[Any]], places: Places) -> NDArray[Any]:
    """The rows of a column of all levels at some places."""
    out = np.zeros((len(places.row), *columns[0].shape[1:]), columns[0].dtype)
    for number, column in enumerate(columns):
        at = np.flatnonzero(places.level == number)
        out[at] = column[places.row[at]]
    return out

"""The targets of V and V_c in sampled games: û, the estimates of what P is worth (`estimates.py`).

    node                    V                          V_c of a choice that a game took
    ACT                     the view's mean            the mean of û after it
    OPPONENT, CHANCE        û of the history           û after it
    SAMPLE                  û after the move           the same, for the true value of the hole

Players' own views are what V is most needed for: they are half of all examples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Reals
from qdts.learning.nodes.evaluation import act_nodes
from qdts.learning.nodes.nodes import Nodes, arrive, chain_after, joined, mean_chain, queries_of
from qdts.learning.selfplay.places import actions_at, places_in, players_moves, rows_at, worlds_at
from qdts.learning.selfplay.places import joined as joined_places
from qdts.learning.selfplay.sampling import Level
from qdts.learning.targets.estimates import Estimates, Views
from qdts.nets.encoding import offered
from qdts.nets.examples import ValueExamples, choose
from qdts.search.evaluation.evaluator import Queries

OWN, OTHERS, HOLES = 0.5, 0.25, 0.25
"""The shares of examples at ACT nodes, at OPPONENT and CHANCE nodes, and at SAMPLE nodes."""


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
            found.append(places_in(number, rows, player, np.zeros(len(rows), np.int64), level.times[rows]))
    places = joined_places(found)
    which, weight = choose(places.times.astype(np.float64) ** power, most, stream)
    places = places.take(which)
    nodes = arrive(game, worlds_at(levels, places), places.player)
    value = rows_at([e.value for e in estimates], places)[np.arange(len(which)), places.player]
    child = rows_at([e.child for e in estimates], places)[np.arange(len(which)), :, places.player]
    took = (rows_at([x.taken for x in levels], places) > 0).astype(np.float64)
    policy = rows_at([x.policy for x in levels], places)
    return _Part(nodes, value, weight, lambda _: _Children(child, took, policy))


def _holes(
    game: Game, levels: Sequence[Level], estimates: Sequence[Estimates], most: int, power: float,
    stream: np.random.Generator,
) -> _Part:  # fmt: skip
    """The SAMPLE nodes after players' moves."""
    places = players_moves(levels)
    which, weight = choose(places.times.astype(np.float64) ** power, most, stream)
    places = places.take(which)
    worlds, action = worlds_at(levels, places), actions_at(levels, places)
    few = slice(0, max(1, round(most / mean_chain(game, worlds, places.player, action))))
    order = stream.permutation(len(which))[few]
    worlds, action, places, weight = worlds[order], action[order], places.take(order), weight[order]
    value = rows_at([e.child for e in estimates], places)[np.arange(len(order)), places.column, places.player]
    nodes, at, true = chain_after(game, worlds, places.player, action)

    def children(queries: Queries) -> _Children:
        known = (offered(queries) & (queries.choices == true[:, None])).astype(np.float64)
        return _Children(value[at][:, None] * known, known, np.zeros_like(known))

    return _Part(nodes, value[at], weight[at], children)

"""Nodes outside of a search are those that a search makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from qdts import load_game
from qdts.games import Game, batch
from qdts.games.interface import CHANCE as CHANCE_MOVES
from qdts.games.interface import NO_HOLE, TERMINAL, UNKNOWN
from qdts.kernels import Ints
from qdts.learning.nodes.nodes import Nodes, children, distinct, queries_of, sample_chain
from qdts.search.evaluation.builtin import Uniform
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE
from qdts.search.forest.lanes.lane import NODES, NONE
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named

KINDS = {
    "kuhn_poker": {ACT, SAMPLE, OPPONENT},
    "kuhn_poker(players=3)": {ACT, SAMPLE, OPPONENT},
    "leduc_poker": {ACT, SAMPLE, OPPONENT, CHANCE},
    "liars_dice(numdice=2,dice_sides=3)": {ACT, SAMPLE, OPPONENT},
    "liars_dice(split=true)": {ACT, SAMPLE, OPPONENT},
    "goofspiel(num_cards=3)": {ACT, SAMPLE, OPPONENT, CHANCE},
    "phantom_ttt": {ACT, SAMPLE, OPPONENT},
    "pig(winscore=20)": {ACT, CHANCE},
    "tic_tac_toe": {ACT},
}
"""The kinds of node with children that searches meet."""
SEARCHES, VISITS = 12, 60


def turns(game: Game, count: int, seed: int = 3) -> tuple[list[Ints], list[int]]:
    """Worlds at players' turns after a few random moves."""
    numbers = np.random.default_rng(seed)
    worlds: list[Ints] = []
    players: list[int] = []
    while len(worlds) < count:
        world = game.initial()
        for _ in range(int(numbers.integers(1, 7))):
            if (mover := game.mover(world)) != TERMINAL:
                moves = [c for c, _ in game.chance(world)] if mover == CHANCE_MOVES else game.legal(world)
                world = game.step(world, int(numbers.choice(moves)))
        if (player := game.mover(world)) >= 0:
            worlds.append(world)
            players.append(player)
    return worlds, players


class Grown(NamedTuple):
    """The nodes of some trees that have edges, their edges, and the nodes that these lead to."""

    parents: Nodes
    degree: Ints
    choice: list[NDArray[np.int32]]
    weight: list[list[float]]
    """H and the rules' probabilities, as `Uniform` gives them."""
    below: list[list[int]]
    """Which of `nodes` a child is, NONE where it was never made."""
    nodes: Nodes


def grown(game: Game) -> Grown:
    worlds, players = turns(game, SEARCHES)
    views = [game.view(w, p) for w, p in zip(worlds, players, strict=True)]
    searcher = Searcher(game, views, players, named("qdts"), Uniform(game))
    searcher.run(VISITS)
    f = searcher.forest
    every = [(s, node) for s in range(SEARCHES) for node in range(int(f.registers[s, NODES]))]
    place = {at: i for i, at in enumerate(every)}
    rows = [at for at in every if f.evaluated[at] and f.degree[at] > 0]
    edges = [(s, slice(int(f.first[s, n]), int(f.first[s, n] + f.degree[s, n]))) for s, n in rows]

    def nodes(which: list[tuple[int, int]]) -> Nodes:
        s, n = np.array(which).T
        player = f.owner[s, n] if game.hidden else np.maximum(f.actor[s, n], 0)
        columns = (f.kind[s, n], f.vector[s, n], player, f.pending[s, n], f.hole[s, n])
        return Nodes(*(np.ascontiguousarray(c, np.int64) for c in columns))

    return Grown(
        parents=nodes(rows),
        degree=np.array([f.degree[at] for at in rows]),
        choice=[f.choice[e] for e in edges],
        weight=[f.prior[e].tolist() for e in edges],
        below=[[NONE if c == NONE else place[e[0], int(c)] for c in f.child[e]] for e in edges],
        nodes=nodes(every),
    )


@pytest.mark.parametrize("spec", KINDS)
def test_children_are_those_of_a_search(spec: str) -> None:
    game = load_game(spec)
    tree = grown(game)
    assert set(tree.parents.kind.tolist()) == KINDS[spec]
    queries = queries_of(game, tree.parents)
    np.testing.assert_array_equal(queries.degree, tree.degree)
    for row, choice in enumerate(tree.choice):
        np.testing.assert_array_equal(queries.choices[row, : len(choice)], choice)
        if tree.parents.kind[row] != OPPONENT:  # which has no prior of its own
            np.testing.assert_allclose(queries.weights[row, : len(choice)], tree.weight[row], atol=1e-12)

    found, compared = children(game, queries), 0
    assert len(found.source) == tree.degree.sum()
    for edge, (row, column) in enumerate(zip(found.source, found.column, strict=True)):
        if (node := tree.below[row][column]) != NONE:
            told, made = found.nodes.take(np.array([edge])), tree.nodes.take(np.array([node]))
            for name in Nodes._fields:
                np.testing.assert_array_equal(getattr(told, name), getattr(made, name), f"{name} of edge {edge}")
            compared += 1
    assert compared > len(tree.choice) // 2


def table_of(game: Game, rows: int, width: int) -> batch.Table:
    return batch.Table(np.zeros(rows, np.int64), np.zeros((rows, width), np.int64), np.zeros((rows, width)))


@pytest.mark.parametrize("width", [2, 9])
@pytest.mark.parametrize("spec", ["leduc_poker", "liars_dice(numdice=2,dice_sides=2)"])
def test_a_table_holds_what_is_listed(spec: str, width: int) -> None:
    """In the rows that are named, in any order; what a row has no room for is left out."""
    game, room = load_game(spec), np.random.default_rng(1)
    found, players = turns(game, 20)
    worlds, mover = np.array([game.initial(), *found]), np.array([CHANCE_MOVES, *players])
    views = np.array([game.view(w, p) for w, p in zip(found, players, strict=True)])
    holes = np.array([game.hole(v) for v in views])
    assert (holes != NO_HOLE).all()
    rows, out = room.permutation(30)[:21], table_of(game, 30, width)
    batch.tabulate_choices(game, worlds, mover, rows, out)
    for row, world, player in zip(rows, worlds, mover, strict=True):
        legal = [] if player == CHANCE_MOVES else [(a, 1.0 / len(game.legal(world))) for a in game.legal(world)]
        listed = (game.chance(world) if player == CHANCE_MOVES else legal)[:width]
        numbers, chances = zip(*listed, *[(0, 0.0)] * (width - len(listed)), strict=True)
        assert (out.counts[row], *out.number[row]) == (len(listed), *numbers)
        np.testing.assert_allclose(out.chance[row], chances)
    assert out.counts[np.setdiff1d(np.arange(30), rows)].sum() == 0

    out = table_of(game, 20, width)
    batch.tabulate_values(game, views, holes, np.arange(20), out)
    for row, (view, hole) in enumerate(zip(views, holes, strict=True)):
        listed = game.values(view, int(hole))[:width]
        assert out.number[row, : out.counts[row]].tolist() == [x for x, _ in listed]
        np.testing.assert_allclose(out.chance[row, : out.counts[row]], [w for _, w in listed])


@pytest.mark.parametrize("spec", [spec for spec in KINDS if load_game(spec).hidden])
def test_a_chain_ends_in_the_true_world(spec: str) -> None:
    """Each of its nodes is the child of the one before by the true value, and filling the last hole gives the world."""
    game = load_game(spec)
    worlds, players = turns(game, 40)
    views = np.array([game.view(w, p) for w, p in zip(worlds, players, strict=True)])
    actions = np.array([game.legal(v)[-1] for v in views])
    nodes, at, true = sample_chain(game, views, np.array(worlds), np.array(players), actions)
    vectors, filled = views.copy(), np.zeros(len(views), np.int64)
    for n, (row, value) in enumerate(zip(at, true, strict=True)):
        assert nodes.kind[n] == SAMPLE
        assert (nodes.player[n], nodes.pending[n]) == (players[row], actions[row])
        np.testing.assert_array_equal(nodes.vector[n], vectors[row])
        assert nodes.hole[n] == game.hole(vectors[row])
        assert value in [x for x, _ in game.values(vectors[row], int(nodes.hole[n]))]
        vectors[row] = game.fill(vectors[row], int(nodes.hole[n]), int(value))
        filled[row] += 1
    np.testing.assert_array_equal(vectors, worlds)
    assert (filled > 0).any()
    assert all(game.hole(v) == NO_HOLE for v in vectors)


def test_every_node_once() -> None:
    game = load_game("leduc_poker")
    nodes = grown(game).nodes
    least, which = distinct(nodes)

    def rows(of: Nodes) -> list[tuple[int, ...]]:
        columns = np.column_stack([of.kind, of.player, of.pending, of.hole, of.vector])
        return [tuple(row) for row in columns.tolist()]

    assert sorted(rows(least)) == sorted(set(rows(nodes)))
    assert rows(least.take(which)) == rows(nodes)


def test_the_true_value_is_the_one_that_fits() -> None:
    game = load_game("leduc_poker")
    worlds, players = (np.array(x) for x in turns(game, 20))
    views = np.array([game.view(w, p) for w, p in zip(worlds, players, strict=True)])
    holes = np.array([game.hole(v) for v in views])
    values = batch.true_values(game, views, holes, worlds)
    for view, hole, world, value in zip(views, holes, worlds, values, strict=True):
        fits = [
            x
            for x, _ in game.values(view, int(hole))
            if all(a in (UNKNOWN, b) for a, b in zip(game.fill(view, int(hole), x), world, strict=True))
        ]
        assert fits == [value]
    wrong = worlds.copy()
    wrong[views != UNKNOWN] = UNKNOWN
    assert (batch.true_values(game, views, holes, wrong) == -1).all()

"""Matches in which searches continue from move to move."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.kernels import Ints
from qdts.play.match import play_match
from qdts.play.seats import Random, SearchSeat
from qdts.play.trees import Trees
from qdts.search.evaluation.builtin import Uniform
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named


def test_a_tree_continues_by_the_moves_made() -> None:
    """Two games side by side, each as one searcher that follows its moves."""
    game, options = load_game("tic_tac_toe"), named("puct")
    trees = Trees(game, options, 30, Uniform(game), most=3)
    worlds = {"x": game.initial(), "y": game.step(game.initial(), 4)}
    moves: dict[str, list[int]] = {"x": [], "y": [4]}
    twins = {
        name: Searcher(game, [world], [game.mover(world)], options, Uniform(game), seeds=[seed])
        for seed, (name, world) in enumerate(worlds.items())
    }
    for since in (0, 2):
        names = list(worlds)
        views = [worlds[name] for name in names]
        found = trees.decide(names, [moves[n] for n in names], views, [game.mover(v) for v in views], [0, 1])
        for name, move in zip(names, found, strict=True):
            if since:
                twins[name].follow(0, moves[name][-2:])
            twins[name].run(30)
            np.testing.assert_array_equal(move, twins[name].result(0).move)
            for _ in range(2):
                action = game.legal(worlds[name])[0]
                worlds[name] = game.step(worlds[name], action)
                moves[name].append(action)


def test_with_something_hidden_it_continues_at_the_view() -> None:
    game, options = load_game("leduc_poker"), named("qdts")
    world = _dealt(game.initial(), 2)
    trees, twin = Trees(game, options, 40, Uniform(game), most=1), None
    for _ in range(2):
        view = game.view(world, 0)
        [move] = trees.decide([0], [[]], [view], [0], [3])
        if twin is None:
            twin = Searcher(game, [view], [0], options, Uniform(game), seeds=[3])
        else:
            assert twin.keep(0, view)
        twin.run(40)
        np.testing.assert_array_equal(move, twin.result(0).move)
        world = game.step(game.step(world, 1), 2)  # call, raise: it is player 0's turn again


def _dealt(world: Ints, cards: int) -> Ints:
    game = load_game("leduc_poker")
    for _ in range(cards):
        world = game.step(world, game.chance(world)[0][0])
    return world


@pytest.mark.parametrize("spec", ["tic_tac_toe", "leduc_poker", "kuhn_poker(players=3)"])
def test_matches_are_played_with_trees(spec: str) -> None:
    """And a game does not depend on the others beside it."""
    game = load_game(spec)
    name = "qdts" if game.hidden else "puct"
    seat = SearchSeat(game, named(name), 12, Uniform(game))
    assert isinstance(seat.continued(1), Trees)
    few, many = (play_match(game, seat, Random(game), games, seed=2).returns for games in (game.players, 30))
    np.testing.assert_array_equal(few[0], many[0])


def test_playouts_have_no_trees_to_continue() -> None:
    game = load_game("tic_tac_toe")
    assert SearchSeat(game, named("uct"), 10).continued(4) is None

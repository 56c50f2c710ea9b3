"""The belief at the root: what it makes of a bet, against the twin, where H stays, and what does not change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.games import Game
from qdts.kernels import Ints, Reals
from qdts.search.beliefs.root import MOST
from qdts.search.evaluation.builtin import Table
from qdts.search.evaluation.evaluator import SAMPLE, Evaluator
from qdts.search.forest.lanes.lane import NODES, ROOT
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.options.variants import RootBelief, Select
from qdts.solving.uniform import uniform_policy
from search.comparison import assert_same, both
from search.naive_beliefs import all_completions
from search.naive_evaluators import Hashed
from search.samples import first_view

RESPONSES = named("qdts-descent", root_belief="responses", response_visits=12)
PLAIN = replace(RESPONSES, root_belief=RootBelief.MODEL)


def searched(
    game: Game, view: Ints, player: int, evaluator: Evaluator, options: Options = RESPONSES, seed: int = 3
) -> Searcher:
    searcher = Searcher(game, [view], [player], options, evaluator, seeds=[seed])
    searcher.run(30)
    return searcher


def beliefs_at_the_root(searcher: Searcher, s: int = 0) -> list[Reals]:
    """H of the SAMPLE nodes right below the root."""
    f = searcher.forest
    found = []
    for edge in range(int(f.first[s, ROOT]), int(f.first[s, ROOT] + f.degree[s, ROOT])):
        node = int(f.child[s, edge])
        assert f.kind[s, node] == SAMPLE
        found.append(f.prior[s, f.first[s, node] : f.first[s, node] + f.degree[s, node]].copy())
    return found


def view_after(game: Game, moves: list[int]) -> tuple[Ints, int]:
    world = game.initial()
    for move in moves:
        world = game.step(world, move)
    return game.view(world, game.mover(world)), game.mover(world)


def test_a_bet_is_believed_to_be_one_that_pays() -> None:
    """Everybody plays uniformly, so H knows nothing of a bet; but to bet a king pays, and to bet a jack does not."""
    game = load_game("kuhn_poker")
    view, player = view_after(game, [0, 1, 1])
    assert (view[game.hole(view)], player) == (-1, 1)
    table = Table(uniform_policy(game))
    for h in beliefs_at_the_root(searched(game, view, player, table, PLAIN)):
        assert h == pytest.approx([0.5, 0.5])
    for h in beliefs_at_the_root(searched(game, view, player, table)):
        assert h[1] > 0.6


def test_h_at_the_root_is_by_the_weights_of_completions() -> None:
    """And is another one than the evaluator's; that the weights are right is for the twin to say."""
    game = load_game("leduc_poker")
    evaluator = Hashed(game, 5)
    view, player = first_view(game, 6)
    searcher = searched(game, view, player, evaluator)
    worlds, weights, start = searcher._beliefs
    assert start.tolist() == [0, len(worlds)]
    assert worlds.tolist() == [w.tolist() for w in all_completions(game, view)]
    for h in beliefs_at_the_root(searcher):
        assert h == pytest.approx(weights / weights.sum())
    plain = beliefs_at_the_root(searched(game, view, player, evaluator, PLAIN))
    assert all(np.abs(h - weights / weights.sum()).max() > 0.01 for h in plain)


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "liars_dice(numdice=2,dice_sides=3)", "phantom_ttt"])
def test_several_holes_equal_the_twin(spec: str) -> None:
    game = load_game(spec)
    assert min(both(game, RESPONSES, Hashed(game, seed), seed, 30).nodes for seed in (1, 2, 3, 7)) > 1


@pytest.mark.parametrize("spec", ["leduc_poker", "phantom_ttt", "goofspiel(num_cards=4,imp_info=true)"])
def test_neighbours_and_threads_do_not_matter(spec: str) -> None:
    game = load_game(spec)
    evaluator = Hashed(game, 1)
    views, players = zip(*(first_view(game, seed) for seed in (3, 6, 7, 2)), strict=True)
    alone = Searcher(game, views[:1], players[:1], RESPONSES, evaluator, seeds=[9])
    beside = Searcher(game, views, players, RESPONSES, evaluator, seeds=[9, 1, 2, 3], threads=2)
    for searcher in (alone, beside):
        searcher.run(40)
    assert alone.forest.registers[0, NODES] > 10
    assert_same(alone, beside)


def assert_h_stays(game: Game, view: Ints, player: int) -> None:
    one, other = (searched(game, view, player, Hashed(game, 1), options) for options in (RESPONSES, PLAIN))
    assert_same(one, other)


def test_h_stays_before_anybody_has_moved() -> None:
    game = load_game("leduc_poker")
    view, player = view_after(game, [0, 2])
    assert_h_stays(game, view, player)


def test_h_stays_where_nothing_tells_what_has_happened() -> None:
    game = replace(load_game("leduc_poker"), replay=None)
    view, player = first_view(game, 7)
    assert_h_stays(game, view, player)


def test_h_stays_where_there_are_too_many_completions() -> None:
    game = load_game("liars_dice(numdice=5,dice_sides=8)")
    view, player = view_after(game, [0] * 10 + [3])
    assert len(all_completions(game, view)) > MOST
    assert_h_stays(game, view, player)


def test_h_stays_where_actions_are_split() -> None:
    game = load_game("liars_dice(split=true)")
    view, player = view_after(game, [0, 1, 0, 2])
    assert player == 1
    assert_h_stays(game, view, player)


def test_going_on_without_a_belief_of_its_own_keeps_what_was_found() -> None:
    game = replace(load_game("leduc_poker"), replay=None)
    first, player = view_after(game, [0, 2])
    later, _ = view_after(game, [0, 2, 1, 2])
    assert searched(game, first, player, Hashed(game, 4)).keep(0, later)


def test_the_small_searches_explore_as_if_there_were_no_noise() -> None:
    game = load_game("leduc_poker")
    view, player = first_view(game, 7)
    for options in (RESPONSES, replace(RESPONSES, root_select=Select.PUCT)):
        noisy = replace(options, noise=0.5, prior_temperature=2.0)
        one, other = (searched(game, view, player, Hashed(game, 2), o) for o in (options, noisy))
        assert len(one._beliefs.weights) > 1
        assert one._beliefs.weights.tolist() == other._beliefs.weights.tolist()


def test_going_on_begins_anew_with_a_belief_of_its_own() -> None:
    game = load_game("leduc_poker")
    evaluator = Hashed(game, 4)
    first, player = view_after(game, [0, 2])
    later, _ = view_after(game, [0, 2, 1, 2])
    roots = [first_view(game, 7), (first, player), first_view(game, 6)]
    searcher = Searcher(game, [v for v, _ in roots], [p for _, p in roots], RESPONSES, evaluator, seeds=[1, 3, 2])
    searcher.run(30)
    before = [beliefs_at_the_root(searcher, s) for s in range(3)]
    assert not searcher.keep(1, later)
    searcher.run(30)
    after = [beliefs_at_the_root(searcher, s) for s in range(3)]
    fresh = beliefs_at_the_root(searched(game, later, player, evaluator, seed=3))
    assert np.array_equal(after[1], fresh)
    assert not np.array_equal(before[1], fresh)
    for s in (0, 2):
        assert np.array_equal(after[s], before[s])


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("root_belief", "response", "responses"),
        ("response_visits", 0, "from 1 to"),
        ("response_visits", 1.5, "a whole number"),
    ],
)
def test_bad_options(option: str, value: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        named("qdts", **{option: value})

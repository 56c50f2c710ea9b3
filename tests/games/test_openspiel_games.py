"""Our games and OpenSpiel's, walked side by side."""

from __future__ import annotations

import functools
import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.comparison import Comparison, Pair, check_whole, choices, histories, load_theirs, playout, positions, spec_of
from qdts.games.game import Game
from qdts.games.interface import CHANCE, TERMINAL
from qdts.games.registry import load_game
from qdts.kernels import Ints, Reals

pyspiel = pytest.importorskip("pyspiel")


SMALL = [
    Pair("kuhn_poker", 58, 30, 12),
    Pair("kuhn_poker(players=3)", 617, 312, 48),
    Pair("leduc_poker(suit_isomorphism=true)", 1_939, 1_116, 288),
    Pair("liars_dice(dice_sides=3)", 1_147, 567, 192),
    Pair("liars_dice(dice_sides=3,bidding_rule=reset-quantity)", 1_147, 567, 192),
    Pair("matrix_game", 13, 9, 2, "matrix_rps"),
    Pair("matrix_game(payoffs=matching_pennies)", 7, 4, 2, "matrix_mp"),
]
LARGER = [
    Pair("kuhn_poker(players=4)", 7_886, 3_960, 160),
    Pair("leduc_poker", 9_457, 5_520, 936),
    Pair("leduc_poker(starting_player=1)", 9_457, 5_520, 936),
    Pair("leduc_poker(action_mapping=true)", 44_527, 29_820, 936),
    Pair("leduc_poker(action_mapping=true,suit_isomorphism=true)", 8_992, 5_982, 288),
    Pair("liars_dice(dice_sides=4)", 8_181, 4_080, 1_024),
    Pair("liars_dice(dice_sides=5)", 51_181, 25_575, 5_120),
    Pair("liars_dice(numdice=2,dice_sides=2)", 8_191, 4_080, 768),
    Pair("liars_dice(numdice=2,dice_sides=2,bidding_rule=reset-quantity)", 8_191, 4_080, 768),
]
LARGE = [
    Pair("liars_dice", 294_883, 147_420, 24_576),
    Pair("liars_dice(numdice=2,dice_sides=3)", 663_511, 331_695, 24_576),
    Pair("leduc_poker(players=3,suit_isomorphism=true)", 223_881, 126_996, 7_428),
]
SAMPLED = [
    "kuhn_poker(players=10)",
    "leduc_poker(players=3)",
    "leduc_poker(players=5,starting_player=3)",
    "leduc_poker(players=4,action_mapping=true,suit_isomorphism=true,starting_player=2)",
    "leduc_poker(players=10)",
    "liars_dice",
    "liars_dice(numdice=2,dice_sides=3)",
    "liars_dice(numdice=3,dice_sides=4,bidding_rule=reset-quantity)",
    "liars_dice(numdice=5,dice_sides=6)",
    "liars_dice(numdice=10,dice_sides=6,bidding_rule=reset-quantity)",
]


@pytest.mark.parametrize("pair", SMALL + LARGER, ids=spec_of)
def test_every_history_agrees(pair: Pair) -> None:
    check_whole(pair)


@pytest.mark.slow
@pytest.mark.parametrize("pair", LARGE, ids=spec_of)
def test_every_history_of_a_large_game_agrees(pair: Pair) -> None:
    check_whole(pair)


def test_every_position_of_tic_tac_toe_agrees() -> None:
    game = load_game("tic_tac_toe")
    comparison = Comparison(game)
    for world, state in positions(game, load_theirs("tic_tac_toe").new_initial_state()):
        comparison.check(world, state)
    assert (comparison.histories, len(comparison.theirs)) == (5_478, 4_520)


@pytest.mark.parametrize("spec", SAMPLED)
def test_random_games_agree(spec: str) -> None:
    game = load_game(spec)
    start = load_theirs(spec).new_initial_state()
    comparison = Comparison(game)
    for seed in range(100):
        for world, state in playout(game, start, random.Random(seed)):
            comparison.check(world, state)


@pytest.mark.parametrize("pair", [*SMALL, *LARGER, *(Pair(spec, 0, 0, 0) for spec in SAMPLED)], ids=spec_of)
def test_declared_sizes_are_theirs(pair: Pair) -> None:
    game, other = load_game(pair.ours), pair.start().get_game()
    assert game.players == other.num_players()
    assert game.num_actions == other.num_distinct_actions()
    assert game.num_outcomes == other.max_chance_outcomes()
    assert (game.min_return, game.max_return) == (other.min_utility(), other.max_utility())


class Node(NamedTuple):
    """A history of a cached tree: a key where a player chooses, probabilities where chance does, or returns."""

    children: tuple[Node, ...]
    key: tuple[int, bytes] | None = None
    chance: tuple[float, ...] = ()
    returns: tuple[float, ...] = ()


def our_tree(game: Game, world: Ints) -> Node:
    mover = game.mover(world)
    if mover == TERMINAL:
        return Node((), returns=tuple(game.returns(world)))
    children = tuple(our_tree(game, game.step(world, a)) for a in choices(game, world))
    if mover == CHANCE:
        return Node(children, chance=tuple(p for _, p in game.chance(world)))
    return Node(children, key=(mover, game.view(world, mover).tobytes()))


def their_tree(state: Any, views: dict[tuple[int, str], bytes]) -> Node:
    if state.is_terminal():
        return Node((), returns=tuple(state.returns()))
    children = tuple(their_tree(state.child(a), views) for a in state.legal_actions())
    if state.is_chance_node():
        return Node(children, chance=tuple(p for _, p in state.chance_outcomes()))
    mover = state.current_player()
    return Node(children, key=(mover, views[mover, state.information_state_string(mover)]))


@functools.cache
def trees(pair: Pair) -> tuple[Node, Node]:
    """Both games as trees with our views as keys."""
    game, start = load_game(pair.ours), pair.start()
    comparison = Comparison(game)
    for world, state in histories(game, start):
        comparison.check(world, state)
    return our_tree(game, game.initial()), their_tree(start, comparison.ours)


Policy = dict[tuple[int, bytes], Reals]


def expected(node: Node, policy: Policy, rng: np.random.Generator) -> Reals:
    """Every player's expected return; a choice that the policy lacks is drawn and added to it."""
    if node.returns:
        return np.array(node.returns)
    probabilities: Any = node.chance
    if node.key is not None:
        if node.key not in policy:
            policy[node.key] = rng.dirichlet(np.ones(len(node.children)))
        probabilities = policy[node.key]
    total: Reals = np.zeros(())
    for p, child in zip(probabilities, node.children, strict=True):
        total = total + p * expected(child, policy, rng)
    return total


@pytest.mark.parametrize("pair", SMALL, ids=spec_of)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_policies_are_worth_the_same(pair: Pair, seed: int) -> None:
    ours, theirs = trees(pair)
    policy: Policy = {}
    value = expected(ours, policy, np.random.default_rng(seed))
    known = len(policy)
    assert expected(theirs, policy, np.random.default_rng(seed)) == pytest.approx(value)
    assert len(policy) == known


def whole_bids(split: Game, world: Ints) -> dict[str, Ints]:
    """What a player may do in a game with split bids, by the names of whole actions, and what comes of it."""
    ends: dict[str, Ints] = {}
    for first in split.legal(world):
        between = split.step(world, first)
        if split.action_name(first) == "Liar":
            ends["Liar"] = between
            continue
        mover, quantity = split.mover(world), split.action_name(first).removeprefix("quantity ")
        assert split.midway(between)
        assert split.mover(between) == mover
        seen = [split.layout.write(split.view(between, p)).split()[-1] for p in range(2)]
        assert seen[mover] == f"quantity={quantity}"
        assert seen[1 - mover] == "quantity=?"
        for second in split.legal(between):
            face = split.action_name(second).removeprefix("face ")
            ends[f"{quantity}-{face}"] = split.step(between, second)
    return ends


@pytest.mark.parametrize("rule", ["reset-face", "reset-quantity"])
@pytest.mark.parametrize(("dice", "sides"), [(1, 2), (1, 3), (2, 2)])
def test_split_bids_are_the_same_game(dice: int, sides: int, rule: str) -> None:
    parameters = {"numdice": dice, "dice_sides": sides, "bidding_rule": rule}
    game, split = load_game("liars_dice", **parameters), load_game("liars_dice", split=True, **parameters)
    views: dict[tuple[int, bytes], bytes] = {}
    ahead = [(game.initial(), split.initial())]
    while ahead:
        world, pieces = ahead.pop()
        mover = game.mover(world)
        assert split.mover(pieces) == mover
        assert not split.midway(pieces)
        if mover == TERMINAL:
            assert split.returns(pieces).tolist() == game.returns(world).tolist()
        elif mover == CHANCE:
            assert split.chance(pieces) == game.chance(world)
            ahead += [(game.step(world, o), split.step(pieces, o)) for o, _ in game.chance(world)]
        else:
            view = split.view(pieces, mover).tobytes()
            assert views.setdefault((mover, game.view(world, mover).tobytes()), view) == view
            ends = whole_bids(split, pieces)
            assert {*ends} == {game.action_name(a) for a in game.legal(world)}
            ahead += [(game.step(world, a), ends[game.action_name(a)]) for a in game.legal(world)]
    assert len({*views.values()}) == len({view for _, view in views})

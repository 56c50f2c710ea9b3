"""The enumerator: counts from the literature, its recursive twin, and its refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qdts import InputError, load_game
from qdts.games.interface import CHANCE, SIGNATURES, TERMINAL, FunctionPointer, rule
from qdts.hashing import find_rows
from qdts.kernels import Ints, Reals, compiled
from qdts.solving.exact.belief import tree_views, tree_worlds
from qdts.solving.tree import enumeration
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.enumeration import Progress, enumerate_game
from qdts.solving.tree.size import estimated_histories, surely_exceeds
from solving import naive

SMALL = ["kuhn_poker", "kuhn_poker(players=3)", "liars_dice(dice_sides=3)", "matrix_game", "tree_game"]


@pytest.mark.parametrize(
    ("spec", "chance", "decisions", "terminals", "infosets"),
    [
        ("kuhn_poker", 4, 24, 30, 12),
        ("leduc_poker", 157, 3780, 5520, 936),
        ("liars_dice", 7, 147456, 147420, 24576),
        ("tic_tac_toe", 0, 294778, 255168, 4520),
        ("matrix_game", 0, 4, 9, 2),
        ("tree_game", 0, 4, 9, 4),
    ],
)
def test_counts(spec: str, chance: int, decisions: int, terminals: int, infosets: int) -> None:
    tree = enumerate_game(load_game(spec))
    mover = tree.histories.mover
    assert (mover == CHANCE).sum() == chance
    assert (mover >= 0).sum() == decisions
    assert (mover == TERMINAL).sum() == tree.num_terminals == terminals
    assert tree.num_infosets == infosets


@pytest.mark.parametrize("spec", SMALL)
def test_equals_the_recursive_twin(spec: str) -> None:
    game = load_game(spec)
    tree = enumerate_game(game)
    worlds = tree_worlds(tree)
    numbers = {tuple(tree.path(h)): h for h in range(tree.num_histories)}
    twin = dict(naive.histories(game))
    assert numbers.keys() == twin.keys()
    for path, world in twin.items():
        h = numbers[path]
        mover = game.mover(world)
        assert (worlds[h] == world).all()
        assert tree.histories.mover[h] == mover
        for player in range(game.players):
            assert (tree_views(tree, player)[h] == game.view(world, player)).all()
        if mover == TERMINAL:
            assert (tree.histories.utility[h] == game.returns(world)).all()
            continue
        children = range(tree.histories.first[h], tree.histories.first[h] + tree.histories.children[h])
        below = [(int(tree.histories.action[c]), float(tree.histories.probability[c])) for c in children]
        assert below == naive.branches(game, world)
        if mover >= 0:
            i = tree.histories.infoset[h]
            assert tree.infosets.owner[i] == mover
            assert (tree.infosets.views[i] == game.view(world, mover)).all()
            entries = list(range(tree.infosets.offset[i], tree.infosets.offset[i + 1]))
            assert [int(tree.histories.entry[c]) for c in children] == entries
            assert tree.infosets.action[entries].tolist() == game.legal(world)


@pytest.mark.parametrize("spec", SMALL)
def test_parents_come_first_and_views_are_distinct(spec: str) -> None:
    tree = enumerate_game(load_game(spec))
    parent = tree.histories.parent
    assert parent[0] == NONE
    assert (parent[1:] < np.arange(1, len(parent))).all()
    assert len(np.unique(tree.infosets.views, axis=0)) == tree.num_infosets


def test_find_views() -> None:
    tree = enumerate_game(load_game("leduc_poker"))
    views = tree.infosets.views
    order = np.random.default_rng(0).permutation(len(views))
    assert (find_rows(views, views[order]) == order).all()
    assert (find_rows(views, views + 1) == NONE).all()


@pytest.mark.parametrize(
    ("spec", "histories"),
    [("kuhn_poker", 58), ("leduc_poker", 9_457), ("tic_tac_toe", 549_946), ("phantom_ttt", 19_934_533_171)],
)
def test_random_games_tell_how_many_histories_there_are(spec: str, histories: int) -> None:
    game = load_game(spec)
    assert histories / 4 < estimated_histories(game) < histories * 4
    assert not surely_exceeds(game, histories)
    assert surely_exceeds(game, histories // 100)


def test_reports_progress_and_stops_at_the_limit() -> None:
    seen: list[Progress] = []
    tree = enumerate_game(load_game("kuhn_poker(players=5)"), report=seen.append)
    assert len(seen) > 1
    assert seen[-1] == Progress(tree.num_histories, tree.num_infosets)
    assert [p.histories for p in seen] == sorted(p.histories for p in seen)
    with pytest.raises(InputError, match=r"liars_dice has more than 100,000 histories .* so far"):
        enumerate_game(load_game("liars_dice"), limit=100_000)


def test_stops_at_a_depth() -> None:
    whole = enumerate_game(load_game("kuhn_poker"))
    cut = enumerate_game(load_game("kuhn_poker"), max_depth=3)
    assert cut.num_histories == sum(len(whole.path(h)) <= 3 for h in range(whole.num_histories))


@rule
def chance(rules: Ints, world: Ints, outcomes: Ints, probabilities: Reals) -> int:
    """Two cards of three, and not even their probabilities are right."""
    outcomes[0], outcomes[1] = 0, 1
    probabilities[0], probabilities[1] = 0.5, 0.4
    return 2


@rule
def legal(rules: Ints, world: Ints, actions: Ints) -> int:
    """Nothing is allowed."""
    return 0


def test_broken_rules_are_named() -> None:
    game = load_game("kuhn_poker")
    lame = replace(game, kernels=game.kernels._replace(chance=FunctionPointer(chance, SIGNATURES["chance"])))
    with pytest.raises(InputError, match=r"chance distribution at turn=0 .* sums to 0.9, expected 1"):
        enumerate_game(lame)
    stuck = replace(game, kernels=game.kernels._replace(legal=FunctionPointer(legal, SIGNATURES["legal"])))
    with pytest.raises(InputError, match="nothing to choose from"):
        enumerate_game(stuck)
    with pytest.raises(InputError, match="longer than max_depth=3"):
        enumerate_game(replace(game, max_depth=3))


def leaking(rules: Ints, world: Ints, actions: Ints) -> int:
    """Who faces the jack may not pass."""
    actions[0], actions[1] = 1, 1
    if world[2] == 1 or world[3] == 1:
        return 1
    actions[0] = 0
    return 2


def test_legal_actions_that_give_a_hidden_card_away() -> None:
    game = load_game("kuhn_poker")
    leaky = replace(game, kernels=game.kernels._replace(legal=FunctionPointer(compiled(leaking), SIGNATURES["legal"])))
    with pytest.raises(InputError, match=r"the legal actions at .* differ from those of another world"):
        enumerate_game(leaky)


def test_stops_before_views_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "MOST_VIEW_BYTES", 16 << 20)
    with pytest.raises(InputError, match=r"hearts has more than 16 MiB of views \([\d,]+ histories and"):
        enumerate_game(load_game("hearts"))


def test_arrays_never_grow_beyond_the_limit() -> None:
    with pytest.raises(InputError, match=r"more than 50,000 histories \(50,\d+ histories and"):
        enumerate_game(load_game("liars_dice"), limit=50_000)
    exactly = enumerate_game(load_game("liars_dice"), limit=294_883)
    assert exactly.num_histories == 294_883

"""Min-max and alpha-beta: the document's example, tic-tac-toe, and random trees."""

from __future__ import annotations

import time
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdts import InputError, load_game, nash_conv, solve
from qdts.solving.perfect import minmax, value_iteration
from qdts.solving.perfect.minmax import alpha_beta, min_max

Tree = Any  # a number, or a list of trees


def naive_value(tree: Tree, maximise: bool = True) -> float:
    if not isinstance(tree, list):
        return float(tree)
    values = [naive_value(t, not maximise) for t in tree]
    return max(values) if maximise else min(values)


def leaf(tree: Tree, line: tuple[int, ...]) -> float:
    for action in line:
        tree = tree[action]
    assert not isinstance(tree, list)
    return float(tree)


def count_leaves(tree: Tree) -> int:
    return sum(count_leaves(t) for t in tree) if isinstance(tree, list) else 1


leaves = st.integers(-9, 9)
trees = st.lists(
    st.recursive(leaves, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=40), min_size=1, max_size=4
)


def test_the_documents_example() -> None:
    game = load_game("tree_game")
    full, pruned = min_max(game), alpha_beta(game, ordering=False, table=0)
    assert full.value == pruned.value == -1
    assert full.line == pruned.line == (2, 2)  # C, and the reply to it is F
    assert (full.leaves, pruned.leaves) == (9, 7)
    assert alpha_beta(game).value == -1


def test_tic_tac_toe_is_a_draw() -> None:
    game = load_game("tic_tac_toe")
    full = min_max(game)
    assert (full.value, full.leaves) == (0, 255168)
    plain, ordered, remembered = (
        alpha_beta(game, ordering=o, table=t) for o, t in ((False, 0), (True, 0), (True, 1 << 16))
    )
    assert plain.value == ordered.value == remembered.value == 0
    assert full.leaves > plain.leaves > ordered.leaves > remembered.leaves
    assert full.line == remembered.line


@settings(max_examples=150, deadline=None)
@given(trees)
def test_random_trees(tree: Tree) -> None:
    game = load_game("tree_game", tree=tree)
    full = min_max(game)
    assert full.value == naive_value(tree)
    assert full.leaves == count_leaves(tree)
    assert leaf(tree, full.line) == full.value
    for ordering in (False, True):
        for table in (0, 4, 1 << 10):
            pruned = alpha_beta(game, ordering=ordering, table=table)
            assert pruned.value == full.value
            assert pruned.leaves <= full.leaves
            assert leaf(tree, pruned.line) == full.value


def test_solving_gives_a_policy_that_cannot_be_exploited() -> None:
    for spec, value in (("tic_tac_toe", 0), ("tree_game", -1)):
        game = load_game(spec)
        for algorithm in ("min-max", "alpha-beta"):
            solved = solve(game, algorithm)
            assert solved.value == value
            assert nash_conv(game, solved.policy) == solved.nash_conv == 0


def test_refusals() -> None:
    with pytest.raises(InputError, match="of perfect information, kuhn_poker is not one"):
        min_max(load_game("kuhn_poker"))
    with pytest.raises(InputError, match="table=3, expected a power of two"):
        alpha_beta(load_game("tree_game"), table=3)


def test_a_game_deeper_than_it_says_is_refused() -> None:
    game = replace(load_game("tree_game"), max_depth=1)
    for search in (min_max, alpha_beta):
        with pytest.raises(InputError, match="a history is longer than max_depth=1"):
            search(game)


@pytest.mark.parametrize(
    ("algorithm", "module"), [("min-max", minmax), ("alpha-beta", minmax), ("value-iteration", value_iteration)]
)
def test_the_clock_leaves_compiling_out(algorithm: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def compile_now(*kernels: Any) -> None:
        time.sleep(0.5)
        made.extend(kernel.__name__ for kernel in kernels)

    monkeypatch.setattr(module, "compile_now", compile_now)
    assert solve(load_game("tree_game"), algorithm).seconds < 0.5
    assert made == [{"min-max": "_min_max", "alpha-beta": "_alpha_beta", "value-iteration": "_iterate"}[algorithm]]

"""Imported tables against a slow, obvious twin: OpenSpiel's histories, told apart by what each player saw and did."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from qdts.games.interface import CHANCE, OTHERS, TERMINAL
from qdts.games.openspiel.classes import examples, tell_apart, tell_the_past
from qdts.games.openspiel.importer import _Walk, find_openspiel
from qdts.games.openspiel.table_game import NO_TENSOR, _follow, _gather

SPECS = [
    "kuhn_poker(players=3)",
    "liars_dice(dice_sides=2)",
    "goofspiel(num_cards=3,imp_info=true)",
    "dark_hex(board_size=2)",
    "matching_pennies_3p",
    "nim(pile_sizes=2;2)",
]


class Twin(NamedTuple):
    """A history of OpenSpiel."""

    state: Any
    parent: int
    action: int
    probability: float
    reach: float


def twins(spec: str) -> list[Twin]:
    found = [Twin(find_openspiel(spec).new_initial_state(), -1, -1, 1.0, 1.0)]
    for n, twin in enumerate(found):
        state = twin.state
        chances = dict(state.chance_outcomes()) if state.is_chance_node() else {}
        for action in state.legal_actions():
            p = chances.get(action, 1.0)
            found.append(Twin(state.child(action), n, action, p, twin.reach * p))
    return found


def mover(state: Any) -> int:
    return TERMINAL if state.is_terminal() else CHANCE if state.is_chance_node() else int(state.current_player())


def path(found: list[Twin], n: int) -> list[int]:
    return [] if n < 0 else [*path(found, found[n].parent), n]


def own_past(found: list[Twin], n: int, player: int) -> list[tuple[str, int]]:
    """What a player saw at their own turns before a history, and what they did there."""
    line = path(found, n)
    return [
        (found[a].state.information_state_string(player), found[b].action)
        for a, b in pairwise(line)
        if mover(found[a].state) == player
    ]


def told_apart(found: list[Twin], player: int, between: bool) -> list[str]:
    """A history's class by what is in it; without what the player sees between their turns, or with that."""
    texts: list[str] = []
    for n, twin in enumerate(found):
        who = mover(twin.state)
        if who == TERMINAL:
            did = twin.action if mover(found[twin.parent].state) == player else None
            texts.append(f"over: {texts[twin.parent]}, {did}, {twin.state.returns()[player]:.9f}")
            continue
        sees = twin.state.information_state_string(player) if between or who == player else ""
        texts.append(repr((own_past(found, n, player), who == player, sees)))
    return texts


def is_told(found: list[Twin], classes: Sequence[object]) -> bool:
    """Whether each class tells all different ones before it, in order."""
    before: dict[object, list[object]] = {}
    for n in range(len(found)):
        line = [classes[k] for k in path(found, n)]
        past = [c for c, after in pairwise(line) if c != after]
        if before.setdefault(line[-1], past) != past:
            return False
    return True


def same_partition(one: Sequence[object], other: Sequence[object]) -> bool:
    return len({*zip(one, other, strict=True)}) == len({*one}) == len({*other})


@pytest.mark.parametrize("spec", SPECS)
def test_a_table_is_every_history_level_by_level(spec: str) -> None:
    found, table = twins(spec), _Walk(spec, find_openspiel(spec), 10_000, None).table
    assert table.parent.tolist() == [t.parent for t in found]
    assert table.action.tolist() == [t.action for t in found]
    assert table.probability.tolist() == [t.probability for t in found]
    assert table.mover.tolist() == [mover(t.state) for t in found]
    for n, twin in enumerate(found):
        children = [k for k, t in enumerate(found) if t.parent == n]
        assert list(range(table.first[n], table.first[n] + table.count[n])) == children
        assert table.path(n) == twin.state.history()
        returns = twin.state.returns() if twin.state.is_terminal() else [0.0] * twin.state.num_players()
        assert table.utility[n].tolist() == returns


@pytest.mark.parametrize("spec", SPECS)
def test_classes_are_what_a_player_saw_and_did(spec: str) -> None:
    found, table = twins(spec), _Walk(spec, find_openspiel(spec), 10_000, None).table
    for player, classes in enumerate(table.classes.tolist()):
        wanted = told_apart(found, player, between=True)
        if not is_told(found, wanted):
            wanted = told_apart(found, player, between=False)
        if spec.startswith("nim"):  # which hides nothing
            wanted = [str(n) for n in range(len(found))]
        assert same_partition(classes, wanted)
        assert [classes[n] for n in examples(table.classes[player])] == list(range(max(classes) + 1))


def test_what_is_told_apart_may_be_forgotten() -> None:
    """A tree in which a player sees a coin, and then no longer; both ways to see it lead to one class again."""
    parent, action = np.array([-1, 0, 0, 1, 2]), np.array([-1, 0, 1, 0, 0])
    mover = np.array([CHANCE, CHANCE, CHANCE, 0, 0])
    classes = tell_apart(parent, action, mover, np.array([0, 1, 2, 3, 3]), 0)
    assert classes.tolist() == [0, 1, 2, 3, 3]
    assert not tell_the_past(parent, classes)
    assert tell_the_past(parent, tell_apart(parent, action, mover, np.array([0, 1, 2, 3, 4]), 0))


@pytest.mark.parametrize("seed", range(3))
def test_the_sections_of_a_player(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = np.r_[0, 1, 2, rng.integers(0, 3, 20)]
    mover, reach = rng.integers(-2, 0, 23), rng.random(23)
    mover[classes == 1] = 1
    start, members, mass, who = _gather(classes, mover, reach)
    for c in range(3):
        nodes = [n for n in range(23) if classes[n] == c]
        assert members[start[c] : start[c + 1]].tolist() == nodes
        assert mass[start[c + 1]] - mass[start[c]] == pytest.approx(sum(reach[n] for n in nodes))
        movers = {int(mover[n]) for n in nodes}
        assert who[c] == (movers.pop() if len(movers) == 1 else OTHERS)


def test_chance_and_depth_along_the_way() -> None:
    found = twins("liars_dice(dice_sides=2)")
    reach, depth = _follow(np.array([t.parent for t in found]), np.array([t.probability for t in found]))
    assert reach == pytest.approx([t.reach for t in found])
    assert depth == max(len(t.state.history()) for t in found)


def test_what_is_seen_differently_between_turns_has_no_tensor() -> None:
    """A class has a tensor if its player sees the same at all of its histories."""
    described = _Walk._described(np.array([0, 1, 1, 2, 2, 3]), np.array([5, 6, 6, 7, 8, NO_TENSOR]))
    assert described.tolist() == [5, 6, NO_TENSOR, NO_TENSOR]

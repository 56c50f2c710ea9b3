"""Policies to and from OpenSpiel, for games that both have under the same name, and for imported ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.games.openspiel import find_openspiel
from qdts.solving.policy import Policy, aligned, game_tree, policy_on
from qdts.solving.tree import GameTree


def to_openspiel(policy: Policy) -> Any:
    """The same policy as `open_spiel.python.policy.TabularPolicy`."""
    theirs = find_openspiel(policy.game.spec)
    from open_spiel.python.policy import TabularPolicy

    tree = game_tree(policy.game)
    probability, sets = aligned(tree, policy), tree.infosets
    table = TabularPolicy(theirs)
    for infoset, state in _decisions(tree, theirs):
        row = table.policy_for_key(state.information_state_string())
        row[:] = 0.0
        of = slice(sets.offset[infoset], sets.offset[infoset + 1])
        row[sets.action[of]] = probability[of]
    return table


def from_openspiel(game: Game, policy: Any) -> Policy:
    """Any OpenSpiel policy (an object with `action_probabilities(state)`) as a table for our game."""
    tree = game_tree(game)
    sets = tree.infosets
    probability = np.zeros(len(sets.action))
    seen: set[int] = set()
    for infoset, state in _decisions(tree, find_openspiel(game.spec)):
        if infoset in seen:
            continue
        seen.add(infoset)
        given = policy.action_probabilities(state)
        for s in range(sets.offset[infoset], sets.offset[infoset + 1]):
            probability[s] = given.get(int(sets.action[s]), 0.0)
    return policy_on(tree, probability, source="OpenSpiel")


def _decisions(tree: GameTree, theirs: Any) -> Iterator[tuple[int, Any]]:
    """Every history at which a player moves: its information set, and its state in OpenSpiel.

    All of them, since OpenSpiel may tell histories apart that share a view of ours.
    """
    histories = tree.histories
    stack = [(0, theirs.new_initial_state())]
    while stack:
        h, state = stack.pop()
        if histories.mover[h] == TERMINAL:
            continue
        infoset = int(histories.infoset[h])
        if infoset >= 0:
            yield infoset, state
        first = int(histories.first[h])
        stack.extend(
            (c, state.child(int(histories.action[c]))) for c in range(first, first + int(histories.children[h]))
        )

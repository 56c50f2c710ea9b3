"""Policies to and from OpenSpiel, for games that both libraries have by the same name, and for imported games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.games.openspiel import find_openspiel
from qdts.solving.policy.table import Policy, aligned, policy_on
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.recent import game_tree


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
    """Any OpenSpiel policy (an object with `action_probabilities(state)`) as a table for a game of ours."""
    tree = game_tree(game)
    sets = tree.infosets
    probability = np.zeros(len(sets.action))
    visited: set[int] = set()
    for infoset, state in _decisions(tree, find_openspiel(game.spec)):
        if infoset in visited:
            continue
        visited.add(infoset)
        given = policy.action_probabilities(state)
        for e in range(sets.offset[infoset], sets.offset[infoset + 1]):
            probability[e] = given.get(int(sets.action[e]), 0.0)
    return policy_on(tree, probability, source="OpenSpiel")


def _decisions(tree: GameTree, theirs: Any) -> Iterator[tuple[int, Any]]:
    """Every history at which a player moves: its information set, and its state in OpenSpiel.

    Every history is visited, since OpenSpiel may distinguish histories that share one of our views.
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

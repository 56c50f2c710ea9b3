"""A strategy as a table: the views that play reaches first, and the policy there.

A *situation* is the players' moves so far, whatever chance did. Situations are listed in the order in which play
reaches them, the likelier ones first. Views of one situation with the same policy share a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdts.solving.policy.table import Policy, aligned, policy_on
from qdts.solving.tree.arrays import NONE
from qdts.solving.tree.recent import game_tree, handy_tree

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from qdts.kernels import Ints, Reals
    from qdts.solving.tree.arrays import GameTree

MOST_ROWS = 12
MOST_COLUMNS = 4
"""With more actions than this, the likely ones stand in one column."""
RARE = 0.005
"""Actions below this probability are then left out."""


class Row(NamedTuple):
    """Views of one player with the same policy."""

    player: int
    views: list[str]
    plays: dict[str, float]
    """Probabilities by name of action."""


def first_rows(policy: Policy, most: int = MOST_ROWS) -> list[Row]:
    """The rows of the first situations, at most `most`; at least those of one situation."""
    tree = handy_tree(policy.game) if policy.game.hidden else None
    if tree is None:
        return _grouped(policy, list(range(min(most, len(policy)))))
    ordered = policy_on(tree, aligned(tree, policy))
    rows: list[Row] = []
    for infosets in _situations(tree, ordered.probability):
        more = _grouped(ordered, infosets.tolist())
        if rows and len(rows) + len(more) > most:
            break
        rows += more
    return rows[:most]


def show(screen: Console, policy: Policy, rest: str) -> None:
    """Print the first rows, how many views are left out, and where the rest is."""
    rows = first_rows(policy)
    screen.print("\nStrategy, at the views that play comes to first", style="bold")
    screen.print(_table(policy, rows))
    more = len(policy) - sum(len(row.views) for row in rows)
    if more:
        screen.print(f"[dim]{more:,} more views: {rest}.[/]")


def beside(policies: Mapping[str, Policy]) -> Table:
    """A table of all views of a game, situation by situation, with a column for each policy."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    first, *_ = policies.values()
    game, tree = first.game, game_tree(first.game)
    table = Table("player", "view", *map(escape, policies), box=SIMPLE_HEAD, pad_edge=False)
    for infosets in _situations(tree, aligned(tree, first)):
        for i in sorted(infosets.tolist(), key=lambda i: tuple(tree.infosets.views[i])):
            view = tree.infosets.views[i]
            cells = [
                "   ".join(f"{game.action_name(a)} {_cell(p)}" for a, p in policy(view).items())
                for policy in policies.values()
            ]
            table.add_row(str(game.mover(view)), escape(game.describe(view)), *map(escape, cells))
    return table


def _table(policy: Policy, rows: list[Row]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    names = sorted({name for row in rows for name in row.plays}, key=policy.game.parse_action)
    wide = len(names) <= MOST_COLUMNS
    table = Table("player", "view", box=SIMPLE_HEAD, pad_edge=False)
    for name in names if wide else ["plays"]:
        table.add_column(escape(name), justify="right" if wide else "left")
    for row in rows:
        cells = [_cell(row.plays.get(name)) for name in names] if wide else [_likely(row.plays)]
        table.add_row(str(row.player), escape(_joined(row.views)), *map(escape, cells))
    return table


def _situations(tree: GameTree, probability: Reals) -> list[NDArray[np.int32]]:
    """The information sets of each situation, level by level of the game."""
    histories = tree.histories
    level, situation, reach = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    situations: list[NDArray[np.int32]] = []
    new = np.ones(tree.num_infosets, bool)
    while len(level) and len(new) - np.count_nonzero(new) <= MOST_ROWS:
        moves = histories.infoset[level] != NONE
        weight = np.bincount(situation[moves], reach[moves])
        for s in sorted(np.unique(situation[moves]), key=lambda s: -weight[s]):
            infosets = np.unique(histories.infoset[level[moves & (situation == s)]])
            situations.append(infosets[new[infosets]])
            new[infosets] = False
        level, situation, reach = _next_level(tree, probability, level, situation, reach)
    return situations


def _next_level(
    tree: GameTree, probability: Reals, level: Ints, situation: Ints, reach: Reals
) -> tuple[Ints, Ints, Reals]:
    """All histories one step deeper, the number of each one's situation, and the probability of reaching it."""
    histories = tree.histories
    count = histories.children[level]
    start = np.repeat(np.cumsum(count) - count, count)
    deeper = np.repeat(histories.first[level], count) + np.arange(count.sum()) - start
    entry = histories.entry[deeper]
    chosen = entry != NONE
    edge = np.where(chosen, probability[entry], histories.probability[deeper])
    action = np.where(chosen, histories.action[deeper], NONE)
    pairs = np.stack([np.repeat(situation, count), action], 1)
    number = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    return deeper.astype(np.int64), number.astype(np.int64), np.repeat(reach, count) * edge


def _grouped(policy: Policy, numbers: list[int]) -> list[Row]:
    """The rows of some views; those that look the same share one."""
    game = policy.game
    rows: dict[tuple[object, ...], Row] = {}
    for i in sorted(numbers, key=lambda i: tuple(policy.views[i])):
        view, player = policy.views[i], game.mover(policy.views[i])
        plays = {game.action_name(a): p for a, p in policy(view).items()}
        key = (player, *((name, _cell(p)) for name, p in plays.items()))
        rows.setdefault(key, Row(player, [], plays)).views.append(game.describe(view))
    return list(rows.values())


def _joined(views: list[str]) -> str:
    """The views in one line, the words and signs that they share written once: J♠ and J♥ are J♠/♥, 13 and 23 13/23."""
    words = [re.findall(r"\w+|\W", view) for view in views]
    head = _shared(words)
    rest = [of_view[head:] for of_view in words]
    tail = _shared([of_view[::-1] for of_view in rest])
    parts = ["".join(of_view[: len(of_view) - tail]) for of_view in rest]
    if not all(parts):
        return "/".join(views)
    return "".join(words[0][:head]) + "/".join(parts) + "".join(rest[0][len(rest[0]) - tail :])


def _shared(words: list[list[str]]) -> int:
    """How many words all lists begin with."""
    return sum(1 for _ in takewhile(lambda same: len({*same}) == 1, zip(*words, strict=False)))


def _cell(probability: float | None) -> str:
    return "·" if probability is None else f"{probability:.2f}"


def _likely(plays: dict[str, float]) -> str:
    likely = sorted((p, name) for name, p in plays.items() if p >= RARE)
    return "   ".join(f"{name} {_cell(p)}" for p, name in reversed(likely))

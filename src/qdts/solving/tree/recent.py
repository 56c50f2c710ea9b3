"""The trees of the games used last, so that each is enumerated once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from qdts.games.game import Game
from qdts.solving.tree.arrays import GameTree
from qdts.solving.tree.enumeration import Report, TooLargeError, enumerate_game

FEW = 2_000_000
"""Up to so many histories a game is enumerated by default; above, a sweep over views is faster."""


def game_tree(game: Game, report: Report | None = None) -> GameTree:
    """The enumerated game; the last few stay in memory."""
    kept = _kept(game)
    if kept.tree is None:
        kept.tree = enumerate_game(game, report=report)
    return kept.tree


def handy_tree(game: Game) -> GameTree | None:
    """The enumerated game if it is in memory, has few histories, or can't be swept; None where a sweep is better."""
    if not is_sweepable(game):
        return game_tree(game)
    kept = _kept(game)
    if kept.tree is None and not kept.large:
        try:
            kept.tree = enumerate_game(game, limit=FEW)
        except TooLargeError:
            kept.large = True
    return kept.tree


def is_sweepable(game: Game) -> bool:
    """Whether each player's views form a tree: imperfect information and perfect recall."""
    return game.hidden and game.memory == "perfect"


@dataclass
class _Kept:
    """What is known of a game's tree."""

    tree: GameTree | None = None
    large: bool = False
    """It has more than FEW histories."""


@lru_cache(maxsize=4)
def _kept(game: Game) -> _Kept:
    return _Kept()

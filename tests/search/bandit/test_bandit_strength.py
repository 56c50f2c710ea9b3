"""`uct` at tic-tac-toe, against a player who makes no mistake and chooses at random between equally good moves."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints
from qdts.search.bandit.searcher import bandit_search
from qdts.search.options.named import named
from qdts.solving.perfect.value_iteration import Optimum, optimal_play


def perfect_move(optimum: Optimum, world: Ints, rng: np.random.Generator) -> int:
    game = optimum.game
    player = game.mover(world)
    values = {action: optimum.value(game.step(world, action))[player] for action in game.legal(world)}
    return int(rng.choice([action for action, value in values.items() if value == max(values.values())]))


def returns_of_uct(games: int, seat: int, visits: int, seed: int) -> list[float]:
    """What the search got in games against the perfect player, all played side by side."""
    game = load_game("tic_tac_toe")
    optimum, rng = optimal_play(game), np.random.default_rng(seed)
    worlds = [game.initial() for _ in range(games)]
    for ply in range(9):
        running = [g for g in range(games) if game.mover(worlds[g]) != TERMINAL]
        if ply % 2 == seat:
            views, seeds = [worlds[g] for g in running], rng.integers(1 << 60, size=len(running)).tolist()
            results = bandit_search(game, views, [seat] * len(running), named("uct"), visits, seeds)
            moves = [int(r.actions[rng.choice(len(r.move), p=r.move)]) for r in results]
        else:
            moves = [perfect_move(optimum, worlds[g], rng) for g in running]
        for g, move in zip(running, moves, strict=True):
            worlds[g] = game.step(worlds[g], move)
    return [float(game.returns(world)[seat]) for world in worlds]


@pytest.mark.parametrize(("games", "seat", "visits"), [(300, 0, 1_000), (50, 0, 20_000), (50, 1, 20_000)])
def test_uct_does_not_lose_at_tic_tac_toe(games: int, seat: int, visits: int) -> None:
    returns = returns_of_uct(games, seat, visits, seed=1)
    assert len(returns) == games
    assert set(returns) == {0.0}  # a perfect player does not lose either

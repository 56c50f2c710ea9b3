"""Random playouts: what they give on average is the value of uniform play, and a seed decides all of it."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import expected_values, load_game, uniform_policy
from qdts.games.playouts import play_randomly

GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3)", "tic_tac_toe", "tree_game"]


@pytest.mark.parametrize("spec", GAMES)
def test_mean_is_the_value_of_uniform_play(spec: str) -> None:
    game = load_game(spec)
    played = play_randomly(game, 200_000, seed=1)
    spread = max(abs(game.min_return), abs(game.max_return))
    assert played.returns == pytest.approx(expected_values(uniform_policy(game)), abs=5 * spread / np.sqrt(200_000))
    assert 0 < played.steps <= played.games * game.max_depth


def test_a_seed_decides_everything() -> None:
    game = load_game("leduc_poker")
    one, again, other = (play_randomly(game, 1000, seed=s) for s in (7, 7, 8))
    assert (one.steps, *one.returns) == (again.steps, *again.returns) != (other.steps, *other.returns)


def test_from_a_world() -> None:
    game = load_game("kuhn_poker")
    world = game.initial()
    for action in (0, 2, 1, 1):  # the jack bets, the king calls: it is over
        world = game.step(world, action)
    played = play_randomly(game, 10, world=world)
    assert played.steps == 0
    assert played.returns.tolist() == [-2, 2]

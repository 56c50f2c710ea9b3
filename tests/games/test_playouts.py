"""Random playouts: what they give on average is the value of uniform play, and a seed decides all of it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from qdts import expected_values, load_game, uniform_policy
from qdts.games.playouts import play_randomly
from qdts.games.registry import family_names
from qdts.testing import golden
from solving import naive

VALUED = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=3)", "tic_tac_toe", "tree_game"]
SPECS = [
    *golden.registered(),
    "kuhn_poker(players=10)",
    "leduc_poker(players=5,action_mapping=true,suit_isomorphism=true)",
    "liars_dice(numdice=3,bidding_rule=reset-quantity)",
    "liars_dice(numdice=2,split=true)",
    "goofspiel(players=4,num_cards=9,num_turns=4,imp_info=true,returns_type=total_points)",
    "goofspiel(num_cards=60)",
    "hearts(can_lead_any_club=true,jd_bonus=true,avoid_all_tricks_bonus=true)",
    "hearts(no_pts_on_first_trick=false,must_break_hearts=false)",
    "hearts(qs_breaks_hearts=false,can_lead_hearts_instead_of_qs=true)",
    "connect_four(rows=31,columns=2)",
    "dark_hex(num_rows=5,num_cols=12)",
    *(["openspiel:tiny_hanabi", "openspiel:leduc_poker"] if importlib.util.find_spec("pyspiel") else []),
]

PLAIN = """
import json, sys
from qdts.games.playouts import play_randomly
from qdts.games.registry import family_names, load_game
from qdts.testing.interpreted import Interpreted
played = {}
for name in family_names():
    game = load_game(name)
    steps, returns = play_randomly(game, 2, seed=5, world=Interpreted(game).initial())[1:]
    played[name] = [steps, returns.tolist()]
print(json.dumps(played))
"""


@pytest.mark.parametrize("spec", VALUED)
def test_mean_is_the_value_of_uniform_play(spec: str) -> None:
    game = load_game(spec)
    played = play_randomly(game, 200_000, seed=1)
    spread = max(abs(game.min_return), abs(game.max_return))
    assert played.returns == pytest.approx(
        expected_values(game, uniform_policy(game)), abs=5 * spread / np.sqrt(200_000)
    )
    assert 0 < played.steps <= played.games * game.max_depth


@pytest.mark.parametrize("spec", SPECS)
def test_every_choice_is_that_of_the_slow_twin(spec: str) -> None:
    game = load_game(spec)
    for seed in (0, 2**64 - 1):
        games = 4 + 4_000 // game.max_depth
        steps, returns = naive.random_games(game, min(games, 100), seed)
        played = play_randomly(game, min(games, 100), seed=seed)
        assert played.steps == steps
        assert played.returns.tolist() == pytest.approx(returns.tolist(), abs=1e-12)


def test_rules_play_in_the_interpreter() -> None:
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", PLAIN], env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    played = json.loads(done.stdout)
    assert sorted(played) == family_names()
    for name, (steps, returns) in played.items():
        compiled = play_randomly(load_game(name), 2, seed=5)
        assert (steps, returns) == (compiled.steps, pytest.approx(compiled.returns.tolist()))


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

"""What search makes of a table: exact values stay exact, errors shrink with visits, split actions change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game, solve
from qdts.games import Game
from qdts.kernels import Ints, Reals
from qdts.search.evaluation.builtin import Table
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from qdts.solving.measure import expected_values
from qdts.solving.tree.recent import game_tree
from search.samples import action_values, policy_for


def root_errors(table: Table, options: Options, visits: int, sets: Ints, seed: int = 0) -> Reals:
    """Errors of the middles of Q at the roots of searches, in units of S."""
    game, tree = table.game, game_tree(table.game)
    results = run_searches(
        game,
        [tree.infosets.views[i] for i in sets],
        [int(tree.infosets.owner[i]) for i in sets],
        options,
        visits,
        evaluator=table,
        seeds=range(seed, seed + len(sets)),
    )
    truth = action_values(table.policy, sets)
    scale = (game.max_return - game.min_return) / 2
    return np.concatenate([((r.q_lo + r.q_hi) / 2 - q) / scale for r, q in zip(results, truth, strict=True)])


def some_sets(game: Game, most: int) -> Ints:
    count = game_tree(game).num_infosets
    return np.random.default_rng(1).permutation(count)[:most]


@pytest.mark.parametrize(
    "spec",
    ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(numdice=2,dice_sides=3)",
     "liars_dice(dice_sides=3,split=true)", "goofspiel(num_cards=3,imp_info=true)"],
)  # fmt: skip
def test_exact_values_stay_exact(spec: str) -> None:
    game = load_game(spec)
    table = Table(policy_for(game, 3))
    for visits in (16, 100):
        error = root_errors(table, named("mmds"), visits, some_sets(game, 12))
        assert np.abs(error).max() < 1e-9


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
def test_errors_of_values_shrink_with_visits(spec: str) -> None:
    game = load_game(spec)
    sets = some_sets(game, 16)
    sizes = []
    for visits in (4, 64, 1024):
        errors = [
            root_errors(
                Table(policy_for(game, 3), value_noise=0.2, child_noise=0.2, seed=s), named("mmds"), visits, sets, s
            )
            for s in range(6)
        ]
        sizes.append(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    assert sizes[0] > 1.5 * sizes[1] > 1.5 * 1.5 * sizes[2]


def test_split_bids_are_the_same_game() -> None:
    whole, split = (load_game(f"liars_dice(dice_sides=3{more})") for more in ("", ",split=true"))
    one, other = (solve(game, "lp") for game in (whole, split))
    assert expected_values(whole, one.policy) == pytest.approx(expected_values(split, other.policy), abs=1e-9)
    sets = some_sets(split, 20)
    table = Table(other.policy)
    assert np.abs(root_errors(table, named("mmds"), 50, sets)).max() < 1e-9
    assert np.abs(root_errors(table, named("qdts"), 400, sets)).mean() < 0.1

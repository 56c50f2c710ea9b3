"""What a search plays, measured over seeds; and that `qdts-descent` leaves a policy less exploitable."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game, nash_conv
from qdts.search.evaluation.builtin import Table
from qdts.search.everywhere import searched_nash_conv, searched_policy
from qdts.search.options.named import named
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree
from search.samples import noisy_table


def test_the_average_over_seeds_and_its_error() -> None:
    game, options, seeds = load_game("kuhn_poker"), named("qdts"), [3, 5, 9]
    table = noisy_table(game, 1)
    heard: list[float] = []
    found = searched_nash_conv(
        game, options, 3, seeds, evaluator=table, report=lambda done, of: heard.append(done / of)
    )
    moves = [searched_policy(game, options, 3, evaluator=table, seed=seed).probability for seed in seeds]

    def distance(some: list[int]) -> float:
        return nash_conv(game, policy_on(game_tree(game), np.mean([moves[k] for k in some], 0)))

    assert found.nash_conv == pytest.approx(distance([0, 1, 2]))
    left = [distance([1, 2]), distance([0, 2]), distance([0, 1])]
    mean = sum(left) / 3
    assert found.error == pytest.approx((2 / 3 * sum((x - mean) ** 2 for x in left)) ** 0.5)
    assert (heard, heard[-1]) == (sorted(heard), 1.0)
    assert searched_nash_conv(game, options, 3, [3], evaluator=table).error is None


@pytest.mark.parametrize("spec", ["kuhn_poker", "liars_dice(dice_sides=3)"])
def test_it_lowers_what_a_policy_can_be_exploited_for(spec: str) -> None:
    """From random policies and with few visits, where V, V_c and H are exact."""
    game = load_game(spec)
    tree = game_tree(game)
    for seed in range(5):
        p = np.random.default_rng(seed).exponential(size=len(tree.infosets.action))
        p /= np.repeat(np.add.reduceat(p, tree.infosets.offset[:-1]), np.diff(tree.infosets.offset))
        policy = policy_on(tree, p)
        found = searched_nash_conv(game, named("qdts-descent"), 32, [0, 1], evaluator=Table(policy))
        assert found.nash_conv < nash_conv(game, policy), seed

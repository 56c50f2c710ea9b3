"""At an equilibrium search changes nothing; without intervals it collapses as soon as a model is slightly off."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game, nash_conv
from qdts.search.evaluation.builtin import Table
from qdts.search.options.named import named
from qdts.search.run import run_searches
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree
from search.equilibria import equilibrium
from search.rest import distances


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
def test_search_leaves_an_equilibrium_as_it_is(spec: str) -> None:
    policy = equilibrium(spec)
    assert nash_conv(policy.game, policy) < 1e-6
    table = Table(policy)
    options = named("qdts", eps_sample=0.1, eps_opponent=0.1)
    early = distances(policy, table, options, 100).mean()
    late = distances(policy, table, options, 10_000).mean()
    assert late < 0.02
    assert late < early


def test_raw_counts_of_simulated_players_move_it_away_even_with_exact_models() -> None:
    """Against what QDTS and NI claim of `a-ismcts`; with the Dirichlet estimate alone it is at rest."""
    policy = equilibrium("kuhn_poker")
    counts, dirichlet = (named("a-ismcts", estimate=estimate) for estimate in ("counts", "dirichlet"))
    assert distances(policy, Table(policy), counts, 10_000).mean() > 0.1
    assert distances(policy, Table(policy), dirichlet, 10_000).mean() < 0.002


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize("error", [0.02, 0.10])
def test_without_intervals_a_wrong_belief_makes_it_collapse(spec: str, error: float) -> None:
    policy = equilibrium(spec)
    table = Table(policy, belief_noise=error)
    every = 1 if spec == "kuhn_poker" else 8
    point = [distances(policy, table, named("a-ismcts"), visits, every).mean() for visits in (100, 1000, 10_000)]
    assert point[0] < point[1] < point[2]
    held = distances(policy, table, named("qdts", eps_sample=2 * error, eps_opponent=2 * error), 10_000).mean()
    assert held < 0.02
    assert held < point[2] / 5


@pytest.mark.parametrize("seat", [0, 1])
def test_rock_paper_scissors_with_a_wrong_opponent(seat: int) -> None:
    game = load_game("matrix_game")
    tree = game_tree(game)
    p = np.full(len(tree.infosets.action), 1 / 3)
    wrong = int(np.flatnonzero(tree.infosets.owner == 1 - seat)[0])
    p[tree.infosets.offset[wrong] : tree.infosets.offset[wrong + 1]] += [0.02, -0.01, -0.01]
    policy = policy_on(tree, p)
    own = int(np.flatnonzero(tree.infosets.owner == seat)[0])
    shares = {
        name: run_searches(game, [tree.infosets.views[own]], [seat], named(name), 10_000, evaluator=Table(policy))[
            0
        ].visits
        / 10_000
        for name in ("a-ismcts", "qdts")
    }
    assert shares["a-ismcts"].max() > 0.9
    assert np.abs(shares["qdts"] - 1 / 3).max() < 0.02

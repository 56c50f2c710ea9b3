"""Reading what a search has built, and what it believes."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game, uniform_policy
from qdts.play.state import read_state
from qdts.search.beliefs.holes import first_belief
from qdts.search.evaluation.builtin import Table, Uniform
from qdts.search.forest.reader import MOST_BRANCHES, Branch, read_tree
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.solving.policy.table import policy_on
from qdts.solving.tree.recent import game_tree


def all_of(branch: Branch) -> list[Branch]:
    below = [*branch.branches, *([branch.spawned] if branch.spawned else [])]
    return [branch, *(b for child in below for b in all_of(child))]


KINDS = {
    "kuhn_poker": {"act", "sample", "opponent", "terminal"},
    "leduc_poker": {"act", "sample", "opponent"},
    "tic_tac_toe": {"act"},
    "hearts": {"act", "sample"},
}
"""What is met three steps below the root."""


@pytest.mark.parametrize("spec", KINDS)
def test_the_top_of_the_trees(spec: str) -> None:
    game = load_game(spec)
    view, player = read_state(game)
    searcher = Searcher(game, [view] * 2, [player] * 2, named("qdts"), Uniform(game), seeds=[4, 5])
    searcher.run(30)
    for lane in (0, 1):
        result, top = searcher.result(lane), read_tree(searcher, 3, lane)
        assert (top.visits, top.kind, top.player) == (30, "act", player)
        found = {game.action_name(int(a)): i for i, a in enumerate(result.actions) if result.visits[i]}
        assert top.more == max(0, len(found) - MOST_BRANCHES)
        assert sum(b.visits for b in top.branches) == 30 or top.more
        for branch in top.branches:
            i = found[branch.choice]
            assert (branch.visits, branch.q_lo, branch.q_hi) == (result.visits[i], result.q_lo[i], result.q_hi[i])
        nodes = all_of(top)
        assert {b.kind for b in nodes} >= KINDS[spec]
        assert all(b.q_lo <= b.q_hi for b in nodes)
        assert all(b.spawned.player == b.player for b in nodes if b.spawned)
    assert all_of(read_tree(searcher, 0)) == [read_tree(searcher, 0)]


def test_belief_by_bayes() -> None:
    """If the first player bets a jack one time in three and a king always, a queen sees three kings for one jack."""
    game = load_game("kuhn_poker")
    tree = game_tree(game)
    p = uniform_policy(game).probability.copy()
    for i, view in enumerate(tree.infosets.views):
        for text, bet in (("turn=2 bettor=0 cards=J? bets=---", 1 / 3), ("turn=2 bettor=0 cards=K? bets=---", 1.0)):
            if game.layout.write(view) == text:
                p[tree.infosets.offset[i] : tree.infosets.offset[i + 1]] = [1 - bet, bet]
    view, player = read_state(game, "deal K deal Q Bet")
    belief = first_belief(game, Table(policy_on(tree, p)), view, player, 1)
    assert belief is not None
    assert belief.hole == "cards[0]"
    assert [name for name, _ in belief.values] == ["J", "K"]
    np.testing.assert_allclose([h for _, h in belief.values], [0.25, 0.75])
    uniform = first_belief(game, Uniform(game), view, player, 1)
    assert uniform is not None
    np.testing.assert_allclose([h for _, h in uniform.values], 0.5)
    without_holes = load_game("tic_tac_toe")
    assert first_belief(without_holes, Uniform(without_holes), *read_state(without_holes), 0) is None

"""The root's decision, on roots made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdts import load_game
from qdts.search.decision.root import RootDecision, decide
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from search.naive_evaluators import Hashed
from search.samples import first_view
from search.twin import Twin

VISITS = np.array([16, 4, 0, 80])
LOW = np.array([0.0, -0.5, -0.9, 0.1])
HIGH = np.array([0.2, -0.3, -0.9, 0.3])
PRIOR = np.array([0.2, 0.5, 0.1, 0.2])


def decided(decision: str, scale: float = 1.0, **changes: float | str) -> RootDecision:
    return decide(named("qdts", decision=decision, **changes), scale, VISITS, LOW, HIGH, PRIOR)


def test_lcb_drops_what_can_not_be_best() -> None:
    """σ = c / √N. With c = 0.4: 0.1, 0.2, ∞ and 0.0447; the largest lower end is 0.0553, the second ends at −0.1."""
    expected = [16 / 96, 0, 0, 80 / 96]
    for found in decided("lcb", c_lcb=0.4):
        assert found == pytest.approx(expected)
    # With c = 2 the second reaches from −1.5 to 0.7 and stays. What was never visited has no weight, but stays, too.
    assert decided("lcb", c_lcb=2.0).move == pytest.approx([0.16, 0.04, 0, 0.8])
    # c is in units of S.
    assert decided("lcb", scale=5.0, c_lcb=0.4).move == pytest.approx([0.16, 0.04, 0, 0.8])
    # With no σ at all the first still overlaps the last.
    assert decided("lcb", c_lcb=0.0).move == pytest.approx(expected)


def test_visits_and_most() -> None:
    counts = [0.16, 0.04, 0, 0.8]
    for found in (*decided("visits"), decided("most").target):
        assert found == pytest.approx(counts)
    assert decided("most").move.tolist() == [0, 0, 0, 1]
    tied = decide(named("qdts", decision="most"), 1.0, np.array([1, 3, 3]), LOW[:3], HIGH[:3], PRIOR[:3])
    assert tied.move.tolist() == [0, 1, 0]


def test_ucb() -> None:
    """M + c · S · √(ln ΣN / N); what has no visit counts as infinite."""
    assert decided("ucb", c=0.1).move.tolist() == [0, 0, 1, 0]
    visits, low, high, prior = VISITS[[0, 1, 3]], LOW[[0, 1, 3]], HIGH[[0, 1, 3]], PRIOR[[0, 1, 3]]
    for c, select, scale, chosen in (
        (0.0, "puct", 1.0, 2),  # 0.1, -0.4, 0.2
        (0.4, "puct", 1.0, 0),  # √(ln 100 / N) is 0.536, 1.073 and 0.240: 0.315, 0.029, 0.296
        (1.0, "puct", 1.0, 1),  # 0.636, 0.673, 0.440
        (1.0, "guided", 1.0, 2),  # P before the root: 0.207, 0.137, 0.248
        (1.0, "guided", 2.0, 1),  # 0.315, 0.673, 0.296
    ):
        options = named("qdts", decision="ucb", c=c, root_select=select)
        found = decide(options, scale, visits, low, high, prior)
        assert found.move.tolist() == np.eye(3)[chosen].tolist(), (c, select, scale)
        assert found.target == pytest.approx(visits / visits.sum())


def test_no_visits_at_all() -> None:
    none = np.zeros(4, np.int64)
    for decision in ("visits", "lcb"):
        assert decide(named("qdts", decision=decision), 1.0, none, LOW, HIGH, PRIOR).move.tolist() == [0.25] * 4
    for decision in ("most", "ucb"):
        found = decide(named("qdts", decision=decision), 1.0, none, LOW, HIGH, PRIOR)
        assert found.move.tolist() == [1, 0, 0, 0]
        assert found.target.tolist() == [0.25] * 4


def test_mirror() -> None:
    """π ∝ [P exp(η q)]^(1 / (1 + ηα)), q the middles divided by S."""
    weights = (PRIOR * np.exp(2.0 * (LOW + HIGH) / 2 / 4.0)) ** (1 / (1 + 2.0 * 0.3))
    for found in decided("mirror", scale=4.0, root_q="middle", root_step=2.0, root_temperature=0.3):
        assert found == pytest.approx(weights / weights.sum())


def test_mirror_leaves_alone_what_is_in_doubt() -> None:
    """P is worth 0.02 − 0.2 − 0.09 + 0.04 = −0.23: no interval holds it, and each counts by its nearest end."""
    nearest = np.array([0.0, -0.3, -0.9, 0.1])
    weights = PRIOR * np.exp(3.0 * nearest)
    assert decided("mirror", root_step=3.0).move == pytest.approx(weights / weights.sum())
    wide = decide(named("qdts"), 1.0, VISITS, LOW - 1.0, HIGH + 1.0, PRIOR)
    assert wide.move == pytest.approx(PRIOR)


def test_mirror_goes_no_further_than_it_may() -> None:
    """The same direction, cut to its length; a step that is short enough is left alone."""
    far = decided("mirror", root_step=3.0).move
    assert np.abs(far - PRIOR).sum() > 0.2
    near = decided("mirror", root_step=3.0, root_reach=0.1).move
    assert np.abs(near - PRIOR).sum() == pytest.approx(0.1)
    assert (near - PRIOR) / 0.1 == pytest.approx((far - PRIOR) / np.abs(far - PRIOR).sum())
    assert decided("mirror", root_step=3.0, root_reach=1.9).move == pytest.approx(far)


@pytest.mark.parametrize("unvisited", ["child", "fpu"])
@pytest.mark.parametrize("decision", ["lcb", "mirror", "middle", "doubt", "reach", "visits", "most", "ucb", "guided"])
@pytest.mark.parametrize("spec", ["liars_dice(numdice=2,dice_sides=3)", "connect_four"])
def test_it_is_the_twin_s(spec: str, decision: str, unvisited: str) -> None:
    """With a few visits, so that some actions have none; guided it has more, and all have some."""
    game = load_game(spec)
    visits = 60 if decision == "guided" else 4
    ways: dict[str, dict[str, Any]] = {
        "guided": {"decision": "ucb", "root_select": "guided"},
        "middle": {"decision": "mirror", "root_q": "middle"},
        "doubt": {"decision": "mirror", "doubt": 0.05, "root_doubt": 0.03, "c_doubt": 0.2},
        "reach": {"decision": "mirror", "root_reach": 0.02},
    }
    changes = ways.get(decision, {"decision": decision})
    options = named("qdts", unvisited=unvisited, fpu=0.3, root_step=2.0, root_temperature=0.1, **changes)
    for seed in range(3):
        view, player = first_view(game, seed)
        searcher = Searcher(game, [view], [player], options, Hashed(game, seed), seeds=[seed])
        searcher.run(visits)
        twin = Twin(game, options, Hashed(game, seed), seed)
        root = twin.search(view, player, visits)
        result = searcher.result(0)
        move, target = twin.decision()
        assert result.move == pytest.approx(move)
        assert result.target == pytest.approx(target)
        k = twin.mover_slot(root)
        ends = [twin.edge_q(root, e) for e in root.edges]
        assert result.q_lo == pytest.approx([lo[k] for lo, _ in ends])
        assert result.q_hi == pytest.approx([hi[k] for _, hi in ends])

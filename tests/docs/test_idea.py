"""What docs/idea.md proves of one decision, seen on the engine."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import sqrt

import numpy as np
import pytest

import qdts
from qdts import Policy

QUEEN_FACES_BET = "deal K, deal Q, Bet"
CALL = 1
C = 0.5
VISITS = (10, 99, 1000, 10_000)


@cache
def equilibrium() -> Policy:
    return qdts.solve(qdts.load_game("kuhn_poker"), "pcfr+", iterations=2000).policy


def with_jacks(share: float) -> Policy:
    """The equilibrium, but a player who opens with a bet holds the jack with this probability."""
    policy, game = equilibrium(), qdts.load_game("kuhn_poker")
    probability = policy.probability.copy()
    first = [game.view(game.step(game.step(game.initial(), card), (card + 1) % 3), 0) for card in range(3)]
    jack, _, king = (int(policy.offset[np.flatnonzero((policy.views == view).all(1))[0]]) for view in first)
    bluffs = probability[king + 1] * share / (1 - share)
    probability[jack : jack + 2] = [1 - bluffs, bluffs]
    return replace(policy, probability=probability)


def rock_too_often(by: float) -> Policy:
    uniform = qdts.uniform_policy(qdts.load_game("matrix_game"))
    rows = uniform.probability.reshape(-1, 3) + np.array([by, -by / 2, -by / 2])
    return replace(uniform, probability=rows.reshape(-1))


@pytest.mark.parametrize("visits", VISITS)
def test_proposition_1_a_gap_leaves_others_a_vanishing_share(visits: int) -> None:
    policy = rock_too_often(0.02)
    found = qdts.decide(policy.game, "Rock", "a-ismcts", visits=visits, policy=policy)
    rock, _, scissors = found.visits
    assert rock <= C * found.prior[0] * sqrt(visits) / 0.03
    assert scissors <= C * found.prior[2] * sqrt(visits) / 0.06


@pytest.mark.parametrize("visits", VISITS)
def test_proposition_4_exact_points_follow_the_prior_within_two_visits(visits: int) -> None:
    policy = with_jacks(0.25)
    found = qdts.decide(policy.game, QUEEN_FACES_BET, "a-ismcts", visits=visits, policy=policy)
    assert found.q_lo == pytest.approx([-1.0, -1.0], abs=1e-6)
    assert np.abs(found.visits - visits * found.prior).max() <= 2


def test_proposition_6_a_wrong_belief_collapses_points_and_not_intervals() -> None:
    policy, visits = with_jacks(0.28), 10_000
    point = qdts.decide(policy.game, QUEEN_FACES_BET, "a-ismcts", visits=visits, policy=policy)
    interval = qdts.decide(policy.game, QUEEN_FACES_BET, "qdts", visits=visits, policy=policy)
    assert interval.q_lo[CALL] == pytest.approx(-1.08, abs=1e-3)
    assert interval.q_hi[CALL] == pytest.approx(-0.68, abs=1e-3)
    assert point.visits[CALL] / visits > 0.9
    assert abs(interval.visits[CALL] / visits - 1 / 3) < 0.02


def test_what_the_doubt_does_not_cover_is_acted_on() -> None:
    policy, visits = with_jacks(0.40), 1000
    found = qdts.decide(policy.game, QUEEN_FACES_BET, "qdts", visits=visits, policy=policy)
    assert found.q_lo[CALL] > -1.0
    assert found.visits[CALL] / visits > 0.9

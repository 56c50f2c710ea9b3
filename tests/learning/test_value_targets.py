"""Targets of V: equal to a slow twin that walks each game by itself."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from learning.naive_nodes import Key, chain, key, keys
from learning.samples import HIDDEN, PERFECT, SPECS, sample
from qdts.games.interface import NO_HOLE
from qdts.kernels import Reals
from qdts.learning.selfplay.record import Record
from qdts.learning.targets.value import (
    OUTCOME,
    ValueRule,
    following,
    luck_of_chance,
    residual_variance,
    value_targets,
)
from qdts.nets.model import Size
from qdts.nets.networks import Networks
from qdts.rng import seeded
from qdts.search.evaluation.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, Query

TARGETS = [ValueRule(mix, deblunder) for mix in (0.0, 0.5, 1.0) for deblunder in (True, False)]


def own_value(record: Record, t: int) -> float:
    """S(t)"""
    of = slice(int(record.offset[record.search[t]]), int(record.offset[record.search[t] + 1]))
    middle = (record.q_lo[of].astype(float) + record.q_hi[of].astype(float)) / 2
    return float(sum(p * q for p, q in zip(record.move[of], middle, strict=True)))


def follows(record: Record, g: int, t: int, player: int, rule: ValueRule, luck: Reals | None = None) -> float | None:
    """F(t) of a player in game g; None where it is not known."""
    if t == record.first[g + 1]:
        return float(record.returns[g, player])
    later = follows(record, g, t + 1, player, rule, luck)
    if luck is not None and record.mover[t] == -1 and later is not None:
        later -= float(luck[t, player])
    if record.explored[t]:
        later = None
    if record.mover[t] != player:
        return later
    if later is None:
        return own_value(record, t) if rule.deblunder else None
    return rule.mix * later + (1 - rule.mix) * own_value(record, t)


@pytest.mark.parametrize("spec", SPECS)
def test_what_follows(spec: str) -> None:
    record = sample(spec, 20)
    for rule in TARGETS:
        for player in range(record.game.players):
            value, known = following(record, player, rule)
            for g in range(len(record)):
                for t in range(record.first[g], record.first[g + 1] + 1):
                    expected = follows(record, g, t, player, rule)
                    assert known[t + g] == (expected is not None)
                    if expected is not None:
                        assert value[t + g] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", ["leduc_poker", "goofspiel(num_cards=3)", "pig(players=3,winscore=10)"])
def test_the_luck_of_chance(spec: str) -> None:
    """L by its equation, node by node; what follows without it; and its mean over outcomes is zero."""
    record = sample(spec, 20)
    game = record.game
    network = Networks(game, Size(16, 1, "mlp"), seed=3).evaluator("model", "belief", batch=16, cache=0)
    luck = luck_of_chance(record, network)
    lucky = 0
    for t in range(len(record.action)):
        if record.mover[t] != -1:
            assert (luck[t] == 0.0).all()
            continue
        offered = game.chance(record.worlds[t])
        for player in range(game.players):
            query = Query(
                CHANCE, record.worlds[t], player if game.hidden else 0, NOTHING, NO_HOLE,
                np.array([o for o, _ in offered]), np.array([p for _, p in offered]),
            )  # fmt: skip
            children = network.evaluate(query, seeded(0)).child_values[:, 0 if game.hidden else player]
            mean = sum(p * x for (_, p), x in zip(offered, children, strict=True))
            taken = next(i for i, (o, _) in enumerate(offered) if o == record.action[t])
            assert luck[t, player] == pytest.approx(children[taken] - mean, abs=1e-6)
            assert sum(p * (x - mean) for (_, p), x in zip(offered, children, strict=True)) == pytest.approx(
                0, abs=1e-6
            )
            lucky += abs(luck[t, player]) > 1e-4
    assert lucky > 10
    for rule in (ValueRule(0.5, True), OUTCOME):
        for player in range(game.players):
            value, known = following(record, player, rule, luck)
            for g in range(len(record)):
                for t in range(record.first[g], record.first[g + 1] + 1):
                    expected = follows(record, g, t, player, rule, luck)
                    assert known[t + g] == (expected is not None)
                    if expected is not None:
                        assert value[t + g] == pytest.approx(expected, abs=1e-9)
    with_luck, without = (value_targets(record, OUTCOME, by) for by in (luck, None))
    assert not np.allclose(with_luck.target, without.target)


@pytest.mark.parametrize("spec", ["leduc_poker", "tic_tac_toe"])
def test_outcomes_alone(spec: str) -> None:
    """The return, wherever no later move explored."""
    record = sample(spec, 20)
    for player in range(record.game.players):
        value, known = following(record, player, OUTCOME)
        for g in range(len(record)):
            for t in range(record.first[g], record.first[g + 1] + 1):
                assert known[t + g] == (not record.explored[t : record.first[g + 1]].any())
                assert value[t + g] == record.returns[g, player]


def owned(record: Record, rule: ValueRule) -> dict[Key, list[float]]:
    """Of a game that hides something: the targets of every node of every owner's trees."""
    game, out = record.game, defaultdict[Key, list[float]](list)
    for g in range(len(record)):
        for player in range(game.players):
            begun = False
            for t in range(record.first[g], record.first[g + 1]):
                world, mover, action = record.worlds[t], int(record.mover[t]), int(record.action[t])
                begun |= mover == player
                target, after = (follows(record, g, s, player, rule) for s in (t, t + 1))
                view = game.view(world, player)
                if begun and target is not None:
                    kind = {player: ACT, -1: CHANCE}.get(mover, OPPONENT)
                    out[key(kind, player, view if kind == ACT else world)].append(target)
                if mover == player and not game.midway(game.step(world, action)) and after is not None:
                    for vector, hole, _ in chain(game, record.worlds[t], player):
                        out[key(SAMPLE, player, vector, action, hole)].append(after)
    return out


@pytest.mark.parametrize("spec", HIDDEN)
def test_targets_of_values(spec: str) -> None:
    """Every node on the paths of games, once, with the mean of its targets and their spread."""
    record = sample(spec, 30)
    for rule in (ValueRule(), ValueRule(1.0, False), ValueRule(0.0, False)):
        targets, expected = value_targets(record, rule), owned(record, rule)
        found = keys(targets.nodes)
        assert len(found) == len(set(found))
        assert set(found) == set(expected)
        assert (targets.known == 1).all()
        for n, at in enumerate(found):
            assert targets.target[n, 0] == pytest.approx(np.mean(expected[at]), abs=1e-9)
            assert targets.spread[n] == pytest.approx(np.var(expected[at]), abs=1e-9)
            assert targets.weight[n] == len(expected[at])
    kinds = {k[0] for k in expected}
    assert {ACT, SAMPLE, OPPONENT} <= kinds
    assert (CHANCE in kinds) == (spec in ("leduc_poker", "goofspiel(num_cards=3)"))


def test_where_the_owner_does_not_act_the_target_is_that_of_their_next_own_view() -> None:
    record = sample("leduc_poker", 30, 0.0)
    value, _ = following(record, 0, ValueRule())
    for g in range(len(record)):
        own = [t for t in range(record.first[g], record.first[g + 1]) if record.mover[t] == 0]
        for t in range(record.first[g], record.first[g + 1]):
            later = [u for u in own if u >= t]
            assert value[t + g] == (value[later[0] + g] if later else record.returns[g, 0])


@pytest.mark.parametrize("spec", PERFECT)
def test_targets_with_perfect_information(spec: str) -> None:
    """A value for each player, known or not each by itself."""
    record = sample(spec, 30)
    game = record.game
    for rule in (ValueRule(), ValueRule(0.5, False), OUTCOME):
        expected = defaultdict[Key, list[list[float | None]]](list)
        for g in range(len(record)):
            for t in range(record.first[g], record.first[g + 1]):
                target = [follows(record, g, t, player, rule) for player in range(game.players)]
                if target != [None] * game.players:
                    kind = CHANCE if record.mover[t] == -1 else ACT
                    expected[key(kind, max(0, int(record.mover[t])), record.worlds[t])].append(target)
        targets = value_targets(record, rule)
        found = keys(targets.nodes)
        assert set(found) == set(expected)
        for n, at in enumerate(found):
            spreads = []
            for k in range(game.players):
                known = [x[k] for x in expected[at] if x[k] is not None]
                assert targets.known[n, k] == bool(known)
                if known:
                    assert targets.target[n, k] == pytest.approx(np.mean(known), abs=1e-9)  # type: ignore[arg-type]
                    spreads.append(np.var(known))  # type: ignore[arg-type]
            assert targets.spread[n] == pytest.approx(np.mean(spreads), abs=1e-9)
            assert targets.weight[n] == len(expected[at])


def test_the_residual_is_the_mean_square_over_all_targets_before_they_are_merged() -> None:
    record, rule = sample("leduc_poker", 30), ValueRule()
    targets, expected = value_targets(record, rule), owned(record, rule)
    value_ = np.random.default_rng(0).normal(size=targets.target.shape)
    squares = [(x - value_[n, 0]) ** 2 for n, at in enumerate(keys(targets.nodes)) for x in expected[at]]
    assert residual_variance(targets, value_, 13.0) == pytest.approx(np.mean(squares) / 13.0**2)

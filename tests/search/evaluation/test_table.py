"""The table evaluator against `qdts.solving.exact.belief` and the twin's enumeration, at every kind of query."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from qdts import InputError, load_game
from qdts.games.interface import NO_HOLE
from qdts.kernels import Ints, Reals
from qdts.rng import seeded
from qdts.search.evaluation.builtin import Table
from qdts.search.evaluation.evaluator import ACT, OPPONENT, SAMPLE, Evaluation, Query
from qdts.solving.exact.belief import belief, node_value
from qdts.solving.exact.values import merged_values
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree
from search.naive_evaluators import Exact, mixed_strategy
from search.samples import places, policy_for, queries, query

GAMES = {
    "kuhn_poker": 1000,
    "kuhn_poker(players=3)": 1000,
    "leduc_poker": 24,
    "liars_dice(numdice=2,dice_sides=3)": 3,
    "liars_dice(numdice=3,dice_sides=2)": 3,
    "liars_dice(dice_sides=3,split=true)": 24,
    "goofspiel(num_cards=3,imp_info=true)": 50,
}
"""How many information sets, and worlds, are looked at."""


class Reference:
    """The same evaluations from the belief of `qdts.solving` and the values of histories."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.game = policy, policy.game
        tree = game_tree(policy.game)
        self.merged = [merged_values(tree, policy.probability, p) for p in range(policy.game.players)]

    def worth(self, world: Ints, player: int) -> float:
        """What a world is worth."""
        return float(self.merged[player][places(self.game)[world.tobytes()]])

    def after(self, vector: Ints, action: int, player: int) -> float:
        """What an action is worth under the belief at a vector."""
        worlds, probability = belief(self.policy, vector, player)
        values = [self.worth(self.game.step(w, action), player) for w in worlds]
        return float(probability @ values)

    def evaluate(self, q: Query) -> tuple[float, list[float], list[float] | None]:
        if q.kind == ACT:
            v = node_value(self.policy, q.vector, q.player)
            policy = self.policy(q.vector)
            return v, [self.after(q.vector, int(a), q.player) for a in q.choices], [policy[int(a)] for a in q.choices]
        if q.kind == SAMPLE:
            worlds, probability = belief(self.policy, q.vector, q.player)
            h, below = [], []
            for x in q.choices:
                filled = self.game.fill(q.vector, q.hole, int(x))
                fits = ((worlds == filled) | (filled < 0)).all(1)
                h.append(float(probability[fits].sum()))
                below.append(self.after(filled, q.pending, q.player))
            return self.after(q.vector, q.pending, q.player), below, h
        below = [self.worth(self.game.step(q.vector, int(a)), q.player) for a in q.choices]
        return self.worth(q.vector, q.player), below, None


def held(table: Table, q: Query) -> Evaluation:
    return table.evaluate(q, seeded(0))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("spec", GAMES)
def test_every_query(spec: str, zeros: bool) -> None:
    """With zeros many views and half-filled views are off the path: there chance alone weighs, as `belief` has it."""
    game = load_game(spec)
    policy = policy_for(game, 5, zeros)
    table, reference = Table(policy), Reference(policy)
    seen = set()
    for q in queries(game, GAMES[spec]):
        seen.add(q.kind)
        value, below, prior = reference.evaluate(q)
        evaluation = held(table, q)
        assert evaluation.value == pytest.approx([value], abs=1e-12)
        assert evaluation.child_values[:, 0] == pytest.approx(below, abs=1e-12)
        if prior is not None:
            assert evaluation.prior == pytest.approx(prior, abs=1e-12)
            assert evaluation.prior.sum() == pytest.approx(1)
    assert seen >= {ACT, SAMPLE, OPPONENT}


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true)"])
def test_the_twin_s_enumeration_says_the_same(spec: str) -> None:
    game = load_game(spec)
    strategy = mixed_strategy(game, 3)
    tree = game_tree(game)
    p = np.concatenate([list(strategy(view).values()) for view in tree.infosets.views])
    table, exact = Table(policy_on(tree, p)), Exact(game, strategy)
    every = list(queries(game, 1000))
    for i in np.random.default_rng(0).permutation(len(every))[:120]:
        q = every[i]
        evaluation, truth = held(table, q), exact.evaluate(q, seeded(0))
        assert evaluation.value == pytest.approx(truth.value, abs=1e-12)
        assert evaluation.child_values == pytest.approx(truth.child_values, abs=1e-12)
        if q.kind in (ACT, SAMPLE):
            assert evaluation.prior == pytest.approx(truth.prior, abs=1e-12)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("spec", ["liars_dice(numdice=2,dice_sides=3)", "liars_dice(numdice=3,dice_sides=2)"])
def test_the_product_of_the_pieces_of_h_is_the_joint_belief(spec: str, zeros: bool) -> None:
    game = load_game(spec)
    policy = policy_for(game, 2, zeros)
    table, tree = Table(policy), game_tree(game)
    for i in np.random.default_rng(3).permutation(tree.num_infosets)[:12]:
        view, player = tree.infosets.views[i], int(tree.infosets.owner[i])
        joint: dict[bytes, float] = {}

        def chain(vector: Ints, p: float, player: int = player, joint: dict[bytes, float] = joint) -> None:
            if game.hole(vector) == NO_HOLE:
                joint[vector.tobytes()] = joint.get(vector.tobytes(), 0.0) + p
                return
            q = query(game, SAMPLE, vector, player, game.legal(vector)[0])
            for x, h in zip(q.choices, held(table, q).prior, strict=True):
                chain(game.fill(vector, q.hole, int(x)), p * h)

        chain(view, 1.0)
        truth = belief(policy, view, player)
        assert len(joint) == len(truth.worlds)
        for world, p in zip(truth.worlds, truth.probability, strict=True):
            assert joint[world.tobytes()] == pytest.approx(p, abs=1e-12)


@cache
def asked_of_leduc() -> list[Query]:
    return list(queries(load_game("leduc_poker"), 120))


def errors(sd: tuple[float, float], seed: int) -> tuple[Reals, Reals]:
    """Errors of V and of V_c in units of S."""
    policy = policy_for(load_game("leduc_poker"), 5)
    exact, noisy = Table(policy), Table(policy, value_noise=sd[0], child_noise=sd[1], seed=seed)
    scale = (policy.game.max_return - policy.game.min_return) / 2
    v, vc = [], []
    for q in asked_of_leduc():
        a, b = held(exact, q), held(noisy, q)
        v.append((b.value - a.value) / scale)
        vc.append((b.child_values - a.child_values)[:, 0] / scale)
        assert (a.prior == b.prior).all()
    return np.concatenate(v), np.concatenate(vc)


def test_errors_of_values_are_normal_with_the_stated_deviation() -> None:
    v, vc = errors((0.1, 0.3), 4)
    for error, sd in ((v, 0.1), (vc, 0.3)):
        assert len(error) > 500
        assert error.std() == pytest.approx(sd, rel=0.1)
        assert abs(error.mean()) < 4 * sd / np.sqrt(len(error))
        assert kstest(error / sd, "norm").pvalue > 1e-3
        assert len(np.unique(error.round(12))) > 0.95 * len(error)
    again, other = errors((0.1, 0.3), 4), errors((0.1, 0.0), 5)
    assert (again[0] == v).all()
    assert (again[1] == vc).all()
    assert abs(np.corrcoef(other[0], v)[0, 1]) < 0.2
    assert (other[1] == 0).all()


@pytest.mark.parametrize("length", [0.02, 0.1, 0.5, 1.0, 2.0])
def test_h_is_off_by_the_stated_length(length: float) -> None:
    """As long as some choice leaves the others enough to give; else by as much as there is."""
    seen, differ = 0, 0
    for spec, most in (("leduc_poker", 60), ("liars_dice(numdice=2,dice_sides=3)", 8), ("kuhn_poker", 20)):
        game = load_game(spec)
        policy = policy_for(game, 5)
        exact, noisy, other = (
            Table(policy),
            Table(policy, belief_noise=length),
            Table(policy, belief_noise=length, seed=1),
        )
        for q in queries(game, most):
            a, b, c = held(exact, q), held(noisy, q), held(other, q)
            assert (a.value == b.value).all()
            if q.kind != SAMPLE:
                assert (a.prior == b.prior).all()
                continue
            if len(a.prior) > 1:
                possible = min(length, 2 * (1 - a.prior.min()))
                assert np.abs(a.prior - b.prior).sum() == pytest.approx(possible, abs=1e-12)
                seen += 1
            assert b.prior.sum() == pytest.approx(1)
            assert (b.prior >= 0).all()
            assert (held(noisy, q).prior == b.prior).all()
            differ += (b.prior != c.prior).any()
    assert seen > 80
    assert differ > 0.3 * seen or length > 0.5  # where it takes all there is, no choice is left to the seed


def test_what_play_never_reaches_is_refused() -> None:
    game = load_game("kuhn_poker")
    table = Table(policy_for(game, 1))
    view = game_tree(game).infosets.views[0].copy()
    q = query(game, ACT, view, 0)
    broken = view.copy()
    broken[-1] = 2
    with pytest.raises(InputError, match="play never gets to the act node"):
        held(table, q._replace(vector=broken))
    with pytest.raises(InputError, match="play never gets to the opponent node"):
        held(table, q._replace(kind=OPPONENT, vector=broken))
    for noise in (-0.1, 2.5, float("nan")):
        with pytest.raises(InputError, match="value_noise"):
            Table(policy_for(game, 1), value_noise=noise)

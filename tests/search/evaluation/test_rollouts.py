"""Playouts by a policy as an evaluator: against the twin's, and inside the machine as outside."""

from __future__ import annotations

import pytest

from qdts import load_game
from qdts.rng import seeded
from qdts.search.evaluation.builtin import Playouts
from qdts.search.evaluation.evaluator import NOTHING, SAMPLE
from qdts.search.options.named import named
from search.bandit_twin import BanditTwin
from search.comparison import both
from search.samples import known_views, policy_for, queries


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "leduc_poker", "liars_dice(numdice=2,dice_sides=3)"])
def test_a_playout_is_the_twin_s(spec: str) -> None:
    game = load_game(spec)
    policy = policy_for(game, 4, zeros=True)
    evaluator, seen = Playouts(game, policy), set()
    for seed, q in enumerate(queries(game, 5)):
        state = seeded(seed)
        evaluation = evaluator.evaluate(q, state)
        twin = BanditTwin(game, q.vector, q.player, named("ismcts"), seed, rollout=known_views(policy))
        world = twin.filled(q.vector, False)
        if q.pending != NOTHING:
            world = game.step(world, q.pending)
        value = game.returns(twin.played_out(twin.pass_chance(world)))[q.player]
        assert evaluation.value.tolist() == [value]
        assert (evaluation.child_values == value).all()
        assert (evaluation.prior == q.weights).all()
        assert int(state[0]) == twin.stream.state
        seen.add((q.kind == SAMPLE, value))
    assert len(seen) > 3


@pytest.mark.parametrize("spec", ["leduc_poker", "tic_tac_toe"])
def test_inside_the_machine_and_outside_are_the_same(spec: str) -> None:
    game = load_game(spec)
    both(game, named("qdts"), Playouts(game, policy_for(game, 1)), 3, 60)

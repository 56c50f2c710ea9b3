"""What takes the place of H, against Bayes' rule by enumeration and against the page as plainly as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from qdts import Game, InputError, load_game
from qdts.games.interface import CHANCE, NO_HOLE, TERMINAL
from qdts.kernels import Ints, Reals
from qdts.nets.evaluator import Network
from qdts.nets.model import Size
from qdts.nets.networks import Networks
from qdts.rng import State, seeded
from qdts.search.bandit.searcher import bandit_search
from qdts.search.beliefs import overrides as beliefs
from qdts.search.beliefs.completions import Completions, completions
from qdts.search.beliefs.overrides import BeliefOverride, with_belief
from qdts.search.evaluation.batches import as_queries, empty_evaluations
from qdts.search.evaluation.builtin import Playouts, Table, Uniform
from qdts.search.evaluation.evaluator import (
    ACT,
    SAMPLE,
    BatchEvaluator,
    Evaluation,
    Evaluations,
    Evaluator,
    Queries,
    Query,
)
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.variants import Belief
from qdts.search.run import run_searches
from qdts.solving.exact.belief import belief as solved
from qdts.solving.policy.table import Policy
from qdts.solving.uniform import uniform_policy
from search import naive_beliefs as naive
from search.naive_evaluators import Hashed
from search.samples import policy_for, queries, query, some_root

GAMES = {
    "kuhn_poker": 1000,
    "kuhn_poker(players=3)": 40,
    "leduc_poker": 40,
    "liars_dice(numdice=2,dice_sides=3)": 3,
    "liars_dice(dice_sides=3,split=true)": 12,
    "goofspiel(num_cards=3,imp_info=true)": 60,
}
"""How many information sets are looked at."""


def samples(spec: str) -> Iterator[Query]:
    return (q for q in queries(load_game(spec), GAMES[spec]) if q.kind == SAMPLE)


def held(evaluator: Evaluator, q: Query) -> Reals:
    return evaluator.evaluate(q, seeded(0)).prior


def truth(policy: Policy, q: Query) -> Reals:
    """H of a query by Bayes' rule over all histories."""
    worlds, p = solved(policy, q.vector, q.player)
    filled = [policy.game.fill(q.vector, q.hole, int(x)) for x in q.choices]
    return np.array([p[((worlds == f) | (f < 0)).all(1)].sum() for f in filled])


def view_of(game: Game, q: Query) -> Ints:
    return game.view(naive.all_completions(game, q.vector)[0], q.player)


def both(table: Table, belief: Belief, turns: int = 1) -> tuple[Evaluator, Evaluator]:
    """A table's belief as the machine looks it up, and the same through Python."""
    compiled = with_belief(table.game, table, belief, turns)
    assert isinstance(compiled, Table)
    return compiled, BeliefOverride(table.game, table, belief, turns)


@pytest.mark.parametrize("spec", GAMES)
def test_exact_is_bayes_rule(spec: str) -> None:
    """A noisy table's H is never used; and with an exact H, refining it changes nothing."""
    policy = policy_for(load_game(spec), 5)
    evaluators = [*both(Table(policy, belief_noise=0.4), Belief.EXACT), *both(Table(policy), Belief.BAYES)]
    for q in samples(spec):
        expected = truth(policy, q)
        for evaluator in evaluators:
            assert held(evaluator, q) == pytest.approx(expected, abs=1e-12)
        plain, wrapped = Table.evaluate(evaluators[2], q, seeded(0)), evaluators[3].evaluate(q, seeded(0))  # type: ignore[arg-type]
        assert plain.value == pytest.approx(wrapped.value, abs=1e-12)
        assert plain.child_values == pytest.approx(wrapped.child_values, abs=1e-12)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("spec", GAMES)
def test_beliefs_are_as_written(spec: str, zeros: bool) -> None:
    """With zeros, where every completion has the weight 0, the rules say what is in the holes."""
    game = load_game(spec)
    policy = policy_for(game, 3, zeros)
    table = Table(policy, belief_noise=0.3, seed=1)

    def h(vector: Ints) -> dict[int, float]:
        player = game.mover(vector)
        q = query(game, SAMPLE, vector, player, game.legal(vector)[0])
        return dict(zip(q.choices.tolist(), held(table, q).tolist(), strict=True))

    evaluators = {belief: both(table, belief) for belief in Belief if belief not in (Belief.MODEL, Belief.VISITS)}
    most = 150
    for q in list(samples(spec))[:most]:
        view = view_of(game, q)
        expected = {
            "rules": q.weights,
            "holes": np.full(len(q.choices), 1 / len(q.choices)),
            "completions": naive.of_hole(game, q.vector, [(w, 1.0) for w in naive.all_completions(game, view)]),
            "exact": naive.of_hole(game, q.vector, naive.exact(game, view, q.player, policy)),
            "bayes": naive.of_hole(game, q.vector, naive.bayes(game, view, q.player, policy, h)),
        }
        for belief, pair in evaluators.items():
            for evaluator in pair:
                assert held(evaluator, q) == pytest.approx(expected[belief], abs=1e-12), belief


@pytest.mark.parametrize("spec", ["leduc_poker", "liars_dice(dice_sides=2,split=true)"])
def test_bayes_begins_some_turns_ago(spec: str) -> None:
    """With one turn as ever, with more of them further back, and from the start like `exact`."""
    game = load_game(spec)
    policy = policy_for(game, 3)
    table = Table(policy, belief_noise=0.3, seed=1)

    def h(vector: Ints) -> dict[int, float]:
        q = query(game, SAMPLE, vector, game.mover(vector), game.legal(vector)[0])
        return dict(zip(q.choices.tolist(), held(table, q).tolist(), strict=True))

    late = [q for q in queries(game, 600) if q.kind == SAMPLE][-60:]
    differs = 0
    for turns in (1, 2, 100):
        evaluators = both(table, Belief.BAYES, turns)
        for q in late:
            expected = naive.of_hole(game, q.vector, naive.bayes(game, view_of(game, q), q.player, policy, h, turns))
            for evaluator in evaluators:
                assert held(evaluator, q) == pytest.approx(expected, abs=1e-12)
            if turns == 100:
                assert expected == pytest.approx(truth(policy, q), abs=1e-12), "no H is left"
            elif turns == 2:
                differs += not np.allclose(expected, held(both(table, Belief.BAYES)[0], q))
    assert differs > 5


def network_of(game: Game) -> Network:
    """One with weights that say something."""
    networks = Networks(game, Size(8, 1, "mlp"), seed=1)
    with torch.no_grad():
        for model in (networks.model, networks.belief):
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(2)) * 0.5)
    return networks.evaluator("model", "belief", batch=16, cache=0)


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("belief", [Belief.EXACT, Belief.BAYES])
def test_networks_are_evaluated_in_batches(belief: Belief, turns: int) -> None:
    """The same H and the same search as one by one, with a tenth of the calls."""
    game = load_game("leduc_poker")
    network = network_of(game)
    alone = BeliefOverride(game, Counting(network), belief, turns)
    together = with_belief(game, network, belief, turns)
    assert isinstance(together, BatchEvaluator)
    found = [q for q in queries(game, 300) if q.kind == SAMPLE]
    rows, evaluations = as_queries(game, found, seeded(0)), empty_evaluations(game, len(found))
    calls = 0
    evaluate_batch = network.evaluate_batch

    def counted(queries: Queries, evaluations: Evaluations) -> None:
        nonlocal calls
        calls += 1
        evaluate_batch(queries, evaluations)

    network.evaluate_batch = counted  # type: ignore[method-assign]
    together.evaluate_batch(rows, evaluations)
    network.evaluate_batch = evaluate_batch  # type: ignore[method-assign]
    for row, q in enumerate(found):
        expected = alone.evaluate(q, seeded(0))
        assert evaluations.prior[row, : len(q.choices)] == pytest.approx(expected.prior, abs=1e-5)
        assert evaluations.value[row] == pytest.approx(expected.value, abs=1e-4)
    assert calls <= 1 + len({(q.player, view_of(game, q).tobytes()) for q in found})
    view, player = some_root(game, 1)
    options = named("qdts", belief=belief, belief_turns=turns)
    one, other = (
        run_searches(game, [view], [player], options, 100, evaluator=e, seeds=[3])[0]
        for e in (network, Counting(network))
    )
    assert one.move == pytest.approx(other.move, abs=1e-4)


def errors(policy: Policy, noise: float, most: int) -> Reals:
    """How far H, and H refined, are from the truth. float64[n, 2]"""
    noisy = Table(policy, belief_noise=noise)
    refined = with_belief(policy.game, noisy, Belief.BAYES)
    sampled = (q for q in queries(policy.game, most) if q.kind == SAMPLE)
    return np.array([[np.abs(held(e, q) - truth(policy, q)).sum() for e in (noisy, refined)] for q in sampled])


@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_how_far_refining_an_h_with_errors_leads(noise: float) -> None:
    """On average in Kuhn poker, since first turns need no H. In Leduc what is left when a card shows weighs more."""
    plain, refined = errors(policy_for(load_game("kuhn_poker"), 5), noise, 1000).mean(0)
    assert refined < 0.8 * plain
    plain, refined = errors(uniform_policy(load_game("leduc_poker")), noise, 150).mean(0)
    assert 0 < refined < 1.1 * plain


def by_search(game: Game, view: Ints, player: int, inner: Evaluator) -> list[tuple[Ints, float]]:
    """The worlds where a player may be and their weights, from all plays with the same views at that player's turns."""
    way = naive.worlds_to(game, naive.all_completions(game, view)[0])
    seen = [(game.view(w, player), move) for w, move in way if game.mover(w) == player]
    found: list[tuple[Ints, float]] = []

    def go(world: Ints, turn: int, weight: float) -> None:
        mover = game.mover(world)
        if mover == TERMINAL or turn == len(seen):
            return
        if mover == player:
            if np.array_equal(game.view(world, player), seen[turn][0]):
                if turn == len(seen) - 1:
                    found.append((world, weight))
                else:
                    go(game.step(world, seen[turn][1]), turn + 1, weight)
            return
        if mover == CHANCE:
            choices = game.chance(world)
        else:
            q = query(game, ACT, game.view(world, mover), mover)
            choices = list(zip(q.choices.tolist(), held(inner, q).tolist(), strict=True))
        for move, p in choices:
            go(game.step(world, move), turn, weight * p)

    go(game.initial(), 0, 1.0)
    return found


def test_hidden_moves() -> None:
    """Views some moves into phantom tic-tac-toe, where what the other has tried is not known either."""
    game = load_game("phantom_ttt")
    seen = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        world = game.initial()
        for _ in range(6):
            after = game.step(world, int(rng.choice(game.legal(world))))
            if game.mover(after) == TERMINAL:
                break
            world = after
        player = game.mover(world)
        view, inner = game.view(world, player), Hashed(game, seed)
        truth = by_search(game, view, player, inner)
        assert {w.tobytes() for w, _ in truth} == {w.tobytes() for w in completions(game, view).worlds}
        refined = with_belief(game, inner, Belief.EXACT)
        vector = view
        while game.hole(vector) != NO_HOLE:
            q = query(game, SAMPLE, vector, player, game.legal(view)[0])
            if sum(p for w, p in truth if naive.agrees(w, vector)) > 0:
                assert held(refined, q) == pytest.approx(naive.of_hole(game, vector, truth), abs=1e-12)
                seen += len(q.choices) > 1
            vector = game.fill(vector, q.hole, int(rng.choice(q.choices)))
    assert seen > 5


def test_completions_are_listed_in_order() -> None:
    for spec in ("leduc_poker", "liars_dice(numdice=2,dice_sides=3)", "phantom_ttt", "kuhn_poker(players=3)"):
        game = load_game(spec)
        for seed in range(4):
            view, _ = some_root(game, seed)
            worlds, weights = completions(game, view)
            assert np.array_equal(worlds, naive.all_completions(game, view))
            assert weights == pytest.approx([naive.by_the_rules(game, view, w) for w in worlds])
            assert weights.sum() == pytest.approx(1)


class Counting:
    """An evaluator that keeps every query."""

    def __init__(self, inner: Evaluator) -> None:
        self.inner, self.queries = inner, list[tuple[int, bytes]]()

    def evaluate(self, q: Query, state: State) -> Evaluation:  # noqa: ARG002
        self.queries.append((q.kind, q.vector.tobytes()))
        return self.inner.evaluate(q, seeded(0))


def test_each_view_is_weighed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("leduc_poker")
    made: list[bytes] = []

    def noted(game: Game, view: Ints) -> Completions:
        made.append(view.tobytes())
        return completions(game, view)

    monkeypatch.setattr(beliefs, "completions", noted)
    view, player = some_root(game, 3)
    searcher = Searcher(game, [view], [player], named("qdts", belief="bayes"), Counting(Hashed(game, 1)))
    searcher.run(60)
    assert len(made) == len(set(made)) > 3
    monkeypatch.setattr(beliefs, "MOST_NUMBERS", 1)
    again = Searcher(game, [view], [player], named("qdts", belief="bayes"), Hashed(game, 1))
    again.run(60)
    assert np.array_equal(again.result(0).visits, searcher.result(0).visits)


@pytest.mark.parametrize("belief", [Belief.RULES, Belief.HOLES, Belief.COMPLETIONS, Belief.EXACT, Belief.BAYES])
def test_a_search_is_the_same_in_the_machine_and_through_python(belief: Belief) -> None:
    game = load_game("leduc_poker")
    table = Table(policy_for(game, 2), belief_noise=0.3)
    view, player = some_root(game, 1)
    results = []
    for evaluator in (table, Counting(table)):
        options = named("qdts", belief=belief)
        results += run_searches(game, [view], [player], options, 200, evaluator=evaluator, seeds=[3])
    assert np.array_equal(results[0].visits, results[1].visits)
    assert results[0].q_lo == pytest.approx(results[1].q_lo, abs=1e-9)


def test_evaluators_that_know_nothing() -> None:
    game = load_game("leduc_poker")
    view, player = some_root(game, 1)
    for evaluator in (Uniform(game), Playouts(game), Playouts(game, policy_for(game, 1))):
        q = query(game, SAMPLE, view, player, game.legal(view)[0])
        assert held(with_belief(game, evaluator, Belief.HOLES), q) == pytest.approx(1 / len(q.choices))
        assert (held(with_belief(game, evaluator, Belief.RULES), q) == q.weights).all()
        expected = truth(uniform_policy(game), q)
        for belief in (Belief.EXACT, Belief.BAYES):
            assert held(with_belief(game, evaluator, belief), q) == pytest.approx(expected)
        assert (held(evaluator, q) == q.weights).all()
    without_holes = load_game("tic_tac_toe")
    plain = Uniform(without_holes)
    assert with_belief(without_holes, plain, Belief.BAYES) is plain


def test_what_is_refused() -> None:
    game, hearts = load_game("kuhn_poker"), load_game("hearts")
    silent = replace(game, replay=None)
    view, player = some_root(game, 0)
    for belief in ("bayes", "exact"):
        with pytest.raises(InputError, match=rf"belief={belief} .* kuhn_poker have no `replay`"):
            run_searches(silent, [view], [player], named("qdts", belief=belief), 5, evaluator=Hashed(silent, 1))
    with pytest.raises(InputError, match=r"belief=visits .* `replay`"):
        bandit_search(silent, [view], [player], named("mt-ismcts", belief="visits"), 5, [1])
    dealt, mover = some_root(hearts, 0)
    with pytest.raises(InputError, match=r"more than 100,000 completions"):
        bandit_search(hearts, [dealt], [mover], named("mt-ismcts", belief="completions"), 5, [1])
    with pytest.raises(InputError, match=r"more than 100,000 completions"):
        run_searches(hearts, [dealt], [mover], named("qdts", belief="exact"), 5)
    with pytest.raises(InputError, match=r"belief=visits .* forest"):
        Searcher(game, [view], [player], named("qdts", belief="visits"), Uniform(game))
    with pytest.raises(InputError, match=r"bandit .* Table"):
        run_searches(game, [view], [player], named("ismcts"), 5, evaluator=Table(policy_for(game, 1)))

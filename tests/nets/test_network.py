"""Networks as evaluators: equal to a slow twin, whoever shares the batch."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from nets.positions import roots, trees
from qdts import load_game
from qdts.errors import InputError
from qdts.kernels import Reals
from qdts.nets.evaluator import Network
from qdts.nets.model import Belief, PolicyValue
from qdts.rng import State, seeded
from qdts.search.evaluation.batches import empty_evaluations, empty_queries
from qdts.search.evaluation.evaluator import ACT, CHANCE, NOTHING, OPPONENT, SAMPLE, Evaluation, Query
from qdts.search.forest.lanes.lane import NODES, NONE
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.run import run_searches

HIDDEN = ["kuhn_poker", "leduc_poker", "kuhn_poker(players=3)"]
PERFECT = ["connect_four", "tic_tac_toe", "pig(players=3,winscore=20)"]


@cache
def models(spec: str, child_values: bool = True, towers: int = 1) -> tuple[PolicyValue, Belief]:
    game = load_game(spec)
    found = (
        PolicyValue(game, width=16, layers=2, child_values=child_values, trunk="mlp", towers=towers),
        Belief(game, width=16, layers=1, trunk="mlp"),
    )
    torch.manual_seed(7)
    for layer in (layer for model in found for layer in model.modules() if isinstance(layer, torch.nn.Linear)):
        layer.reset_parameters()
        for p in layer.parameters():
            p.data *= 3.0  # so that some values meet their bounds
    return found


def network(spec: str, *, batch: int = 16, cache: int = 0, child_values: bool = True) -> Network:
    return Network(load_game(spec), *models(spec, child_values), batch=batch, cache=cache)


class Slow:
    """A network's evaluation as documented, one query and one choice at a time, in double precision."""

    def __init__(self, spec: str, child_values: bool = True) -> None:
        self.game = load_game(spec)
        self.model, self.belief = (
            [p.detach().double().numpy() for p in m.parameters()] for m in models(spec, child_values)
        )
        self.child_values = child_values

    @staticmethod
    def run(layers: list[Reals], row: Reals) -> Reals:
        for i in range(0, len(layers), 2):
            row = layers[i] @ row + layers[i + 1]
            if i + 2 < len(layers):
                row = np.maximum(row, 0.0)
        return row

    def returned(self, number: float) -> float:
        low, high = self.game.min_return, self.game.max_return
        return (high + low) / 2 + (high - low) / 2 * float(np.clip(number, -1.0, 1.0))

    def values(self, numbers: Reals, player: int) -> list[float]:
        """What the numbers of one node say of everyone whose value counts."""
        if self.game.hidden:
            return [self.returned(numbers[0])]
        if len(numbers) == 1:
            return [self.returned(numbers[0] if k == player else -numbers[0]) for k in range(2)]
        return [self.returned(numbers[(k - player) % self.game.players]) for k in range(self.game.players)]

    def evaluate(self, query: Query, state: State) -> Evaluation:  # noqa: ARG002
        game = self.game
        features = game.features(query.vector, query.player).ravel().astype(np.float64)
        row = features
        if game.hidden:
            kind, pending = np.zeros(4), np.zeros(game.num_actions)
            kind[query.kind] = 1.0
            if query.pending != NOTHING:
                pending[query.pending] = 1.0
            row = np.concatenate([features, kind, pending])
        out = self.run(self.model, row)
        size = 1 if game.hidden or (game.zero_sum and game.players == 2) else game.players
        logits, value, below = np.split(out, [game.num_actions, game.num_actions + size])
        skipped = {CHANCE: game.num_actions, SAMPLE: game.num_actions + game.num_outcomes}.get(query.kind, 0)
        own = self.values(value, query.player)
        children = [own] * len(query.choices)
        if self.child_values:
            heads = below.reshape(-1, size)
            children = [self.values(heads[skipped + int(c)], query.player) for c in query.choices]
        prior = query.weights.copy()
        if query.kind == ACT:
            prior = np.exp([logits[c] for c in query.choices])
        elif query.kind == SAMPLE:
            hole = np.zeros(game.world_size)
            hole[query.hole] = 1.0
            logits = self.run(self.belief, np.concatenate([features, hole]))
            prior = query.weights * np.exp([logits[c] for c in query.choices])
        return Evaluation(np.array(own), np.array(children), prior / prior.sum())


class Listening(Network):
    """A network that keeps the kinds of its queries, and compares each evaluation with the twin's."""

    def __init__(self, spec: str, child_values: bool) -> None:
        super().__init__(load_game(spec), *models(spec, child_values), batch=8)
        self.twin, self.kinds = Slow(spec, child_values), set[int]()

    def evaluate(self, query: Query, state: State) -> Evaluation:
        found, right = super().evaluate(query, state), self.twin.evaluate(query, state)
        self.kinds.add(query.kind)
        for a, b in zip(found, right, strict=True):
            np.testing.assert_allclose(a, b, atol=2e-5)
        return found


@pytest.mark.parametrize("child_values", [True, False])
@pytest.mark.parametrize("spec", HIDDEN + PERFECT)
def test_a_network_says_what_its_twin_says(spec: str, child_values: bool) -> None:
    game = load_game(spec)
    views, players = roots(game, 4)
    listening = Listening(spec, child_values)
    asked = type("OneAtATime", (), {"evaluate": listening.evaluate})()
    run_searches(game, views, players, named("qdts"), 40, evaluator=asked)
    if game.hidden:
        assert listening.kinds == {ACT, SAMPLE, OPPONENT, CHANCE} - ({CHANCE} if "kuhn" in spec else set())
    else:
        assert listening.kinds == ({ACT, CHANCE} if "pig" in spec else {ACT})


def searched(spec: str, evaluator: Network, which: list[int], *, threads: int = 1, visits: int = 30) -> Searcher:
    """Searches of some of 40 roots, each with its own seed."""
    game = load_game(spec)
    views, players = roots(game, 40)
    searcher = Searcher(
        game, [views[i] for i in which], [players[i] for i in which], named("qdts"), evaluator, seeds=which,
        threads=threads,
    )  # fmt: skip
    searcher.run(visits)
    return searcher


@pytest.mark.parametrize("spec", ["leduc_poker", "connect_four"])
def test_company_threads_and_cache_change_no_bit(spec: str) -> None:
    """One search alone, among 40 in another place, on two threads, and with a cache: the same trees."""
    alone = trees(searched(spec, network(spec), [11]), 0)
    everyone = [(i + 5) % 40 for i in range(40)]
    remembering = network(spec, cache=500)
    among = {
        "among 40": searched(spec, network(spec), everyone),
        "2 threads": searched(spec, network(spec), everyone, threads=2),
        "3 threads": searched(spec, network(spec), everyone, threads=3),
        "a cache": searched(spec, remembering, everyone),
        "a cache of 1": searched(spec, network(spec, cache=1), everyone),
    }
    for how, searcher in among.items():
        assert trees(searcher, everyone.index(11)) == alone, how
    for s in range(40):
        assert trees(among["2 threads"], s) == trees(among["among 40"], s) == trees(among["a cache"], s)
    assert 0 < remembering.hits < remembering.queries


@pytest.mark.parametrize("batch", [8, 64, 256])
@pytest.mark.parametrize(("trunk", "width"), [("mlp", 16), ("mlp", 64), ("conv", 16), ("conv", 32)])
def test_a_row_says_the_same_wherever_it_stands(batch: int, trunk: str, width: int) -> None:
    torch.manual_seed(1)
    model = PolicyValue(load_game("connect_four"), width=width, layers=2, trunk=trunk)
    rows = torch.rand((batch, model.shape.inputs))
    with torch.inference_mode():
        before = model(rows)
        order = torch.randperm(batch)
        assert torch.equal(model(rows[order]), before[order])
        rows[1:] = 0.0
        assert torch.equal(model(rows)[0], before[0])


@pytest.mark.parametrize("towers", [1, 2])
@pytest.mark.parametrize("spec", ["leduc_poker", "connect_four"])
def test_batches_that_are_not_padded_say_the_same(spec: str, towers: int) -> None:
    """Of 40 rows in batches of 16: two whole ones, and the rest."""
    game = load_game(spec)
    views, players = roots(game, 40)
    kinds = [SAMPLE if game.hidden and i % 3 == 0 else ACT for i in range(40)]
    queries = empty_queries(game, 40)
    for row, (kind, view, player) in enumerate(zip(kinds, views, players, strict=True)):
        queries.kind[row], queries.vector[row], queries.player[row] = kind, view, player
        queries.pending[row] = game.legal(view)[0] if kind == SAMPLE else NOTHING
        queries.hole[row] = game.hole(view) if kind == SAMPLE else NOTHING
        offered = game.values(view, game.hole(view)) if kind == SAMPLE else [(a, 1.0) for a in game.legal(view)]
        queries.degree[row] = len(offered)
        queries.choices[row, : len(offered)] = [x for x, _ in offered]
        queries.weights[row, : len(offered)] = [w for _, w in offered]
    found = []
    for padded in (True, False):
        evaluator = Network(game, *models(spec, True, towers), batch=16, padded=padded)
        found.append(empty_evaluations(game, 40))
        evaluator.evaluate_batch(queries, found[-1])
        evaluator.evaluate_batch(queries, found[-1])  # what was there before does not matter
        assert evaluator.queries == 80
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    assert (found[0].prior.sum(1) > 0.99).all()


def test_what_is_not_possible_has_no_probability() -> None:
    """P lies on legal actions, H on values that the hole may hold, and each sums to one."""
    game = load_game("leduc_poker")
    f = searched("leduc_poker", network("leduc_poker"), [0, 1, 2, 3]).forest
    seen = set()
    for s in range(4):
        for node in range(int(f.registers[s, NODES])):
            kind, first, count = int(f.kind[s, node]), int(f.first[s, node]), int(f.degree[s, node])
            if first == NONE or kind not in (ACT, SAMPLE) or not f.evaluated[s, node]:
                continue
            vector = f.vector[s, node].copy()
            possible = game.legal(vector) if kind == ACT else [x for x, _ in game.values(vector, int(f.hole[s, node]))]
            assert f.choice[s, first : first + count].tolist() == possible
            assert f.prior[s, first : first + count].sum() == pytest.approx(1.0)
            assert (f.prior[s, first : first + count] > 0).all()
            seen.add((kind, count))
    assert {(ACT, 2), (ACT, 3)} <= seen
    assert any(kind == SAMPLE and count < game.num_values for kind, count in seen)


def test_without_a_model_of_h_beliefs_are_the_rules_weights() -> None:
    game = load_game("kuhn_poker")
    model, _ = models("kuhn_poker")
    views, players = roots(game, 1)
    query = Query(
        SAMPLE, views[0], players[0], 1, game.hole(views[0]),
        *(np.array(x) for x in zip(*game.values(views[0], game.hole(views[0])), strict=True)),
    )  # fmt: skip
    evaluation = Network(game, model, batch=4).evaluate(query, seeded(0))
    np.testing.assert_allclose(evaluation.prior, query.weights)


def test_a_network_that_says_nothing_finite_is_an_error() -> None:
    game = load_game("kuhn_poker")
    model = PolicyValue(game, width=4, layers=1)
    for p in model.parameters():
        p.data[:] = np.nan
    views, players = roots(game, 2)
    searcher = Searcher(game, views, players, named("qdts"), Network(game, model, batch=4), threads=2)
    with pytest.raises(InputError, match="not finite"):
        searcher.run(5)


@pytest.mark.parametrize(("padded", "cache"), [(True, 64), (False, 64), (False, 0)])
def test_forgetting(padded: bool, cache: int) -> None:
    """After `forget` a changed model is evaluated anew, and not before."""
    game = load_game("tic_tac_toe")
    torch.manual_seed(2)
    model = PolicyValue(game, width=8, layers=1, trunk="mlp")
    net = Network(game, model, batch=4, padded=padded, cache=cache)
    query = Query(ACT, game.initial(), 0, NOTHING, -1, np.arange(9), np.full(9, 1 / 9))
    before = net.evaluate(query, seeded(0))
    for p in model.parameters():
        p.data *= 0.0
    np.testing.assert_array_equal(net.evaluate(query, seeded(0)).value, before.value)
    net.forget()
    np.testing.assert_array_equal(net.evaluate(query, seeded(0)).value, [0.0, 0.0])
    assert (net.queries, net.hits) == (3, 1 if cache else 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda game: PolicyValue(game, width=0), "expected at least 1"),
        (lambda game: Network(game, PolicyValue(game), batch=0), "batch=0"),
        (lambda game: Network(game, PolicyValue(game), cache=-1), "cache of -1"),
        (lambda game: Network(game, PolicyValue(load_game("leduc_poker"))), "leduc_poker"),
        (lambda game: Network(game, PolicyValue(game), Belief(load_game("leduc_poker"))), "leduc_poker"),
    ],
)
def test_what_is_not_possible_is_refused(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make(load_game("kuhn_poker"))  # type: ignore[operator]

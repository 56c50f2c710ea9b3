"""Networks while they learn: losses and averages as documented, and restored ones go on bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from learning.samples import sample
from qdts import InputError, load_game
from qdts.games import Game
from qdts.kernels import Ints, Reals
from qdts.learning.targets.belief import belief_examples, belief_targets, explorers_moves
from qdts.learning.targets.policy import policy_examples, policy_targets
from qdts.learning.targets.value import ValueRule, value_examples, value_targets
from qdts.nets.encoding import child_columns, in_seats
from qdts.nets.evaluator import Network
from qdts.nets.examples import PolicyExamples, ValueExamples, find_above, sample_examples
from qdts.nets.losses import (
    LOSSES,
    Batch,
    best_child_loss,
    child_loss,
    consistency_loss,
    cross_entropy,
    policy_tensors,
    value_loss,
    value_tensors,
)
from qdts.nets.model import Size
from qdts.nets.networks import Networks, Steps, run_fits, use_threads
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import ACT, CHANCE, OPPONENT, SAMPLE

SPECS = ["leduc_poker", "kuhn_poker(players=3)", "tic_tac_toe", "pig(players=3,winscore=10)"]
HIDDEN = SPECS[:2]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Models are so small that threads would only wait for each other."""
    before = torch.get_num_threads()
    use_threads(1)
    yield
    use_threads(before)


def networks_of(game: Game, seed: int = 0) -> Networks:
    """One with weights that say something."""
    networks = Networks(game, Size(8, 1, "mlp"), seed=seed)
    numbers = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for model in (networks.model, networks.belief):
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=numbers) * 0.3)
        networks.average.load_state_dict(networks.model.state_dict())
    return networks


def examples_of(spec: str, networks: Networks) -> tuple[PolicyExamples, ValueExamples]:
    record = sample(spec, 12)
    game = record.game
    network = Network(game, networks.model, networks.belief, batch=16)
    return (
        policy_examples(game, policy_targets(record)),
        value_examples(game, value_targets(record, ValueRule(0.5, False)), network),
    )


def out_of(networks: Networks, examples: PolicyExamples | ValueExamples, *, belief: bool = False) -> Tensor:
    """What the model says of every row."""
    inputs = networks.inputs(examples.queries, np.arange(len(examples.weight)), belief=belief)
    with torch.inference_mode():
        out: Tensor = networks.belief(inputs) if belief else networks.model(inputs)
    return out.clone()


def entropy_of(examples: PolicyExamples, out: Reals, rows: Ints, *, weighted: bool) -> float:
    """− Σ target(a) · log P(a), a mean over rows."""
    total = 0.0
    for row in rows:
        of = range(int(examples.queries.degree[row]))
        power = [np.exp(float(out[row, examples.queries.choices[row, i]])) for i in of]
        if weighted:
            power = [examples.queries.weights[row, i] * power[i] for i in of]
        total -= sum(examples.target[row, i] * np.log(power[i] / sum(power)) for i in of)
    return total / len(rows)


@pytest.mark.parametrize("spec", SPECS)
def test_the_loss_of_p(spec: str) -> None:
    networks = networks_of(load_game(spec))
    examples, _ = examples_of(spec, networks)
    rows, out = np.random.default_rng(0).integers(len(examples.weight), size=40), out_of(networks, examples)
    found = cross_entropy(out[rows], policy_tensors(examples, networks.device).take(rows))
    assert float(found) == pytest.approx(entropy_of(examples, out.double().numpy(), rows, weighted=False), rel=1e-5)


@pytest.mark.parametrize("spec", HIDDEN)
def test_the_loss_of_h(spec: str) -> None:
    """The rules' weights are part of H."""
    networks = networks_of(load_game(spec))
    examples = belief_examples(networks.game, belief_targets(networks.game, explorers_moves(sample(spec, 12))))
    np.testing.assert_allclose(examples.target.sum(1), 1.0)
    rows, out = np.arange(len(examples.weight)), out_of(networks, examples, belief=True)
    found = cross_entropy(out, policy_tensors(examples, networks.device, weighted=True).take(rows))
    assert float(found) == pytest.approx(entropy_of(examples, out.double().numpy(), rows, weighted=True), rel=1e-5)


def evaluated(networks: Networks, examples: ValueExamples) -> tuple[Reals, Reals]:
    """V and V_c of each row as an evaluator gives them: returns, not held to their bounds by these weights."""
    evaluations = empty_evaluations(networks.game, len(examples.weight))
    Network(networks.game, networks.model, networks.belief, batch=16).evaluate_batch(examples.queries, evaluations)
    return evaluations.value, evaluations.children


@pytest.mark.parametrize("spec", SPECS)
def test_the_losses_of_v_and_its_children(spec: str) -> None:
    """Mean squares, in units of the variance of targets, of what the evaluator says: so every column is the right one.

    With perfect information, two players and zero sum the model has the value of the query's player alone; with other
    games of perfect information all players' values count.
    """
    networks = networks_of(load_game(spec))
    with torch.no_grad():
        for p in networks.model.parameters():
            p.mul_(0.3)  # so that no value is held to its bounds
    game, scale = networks.game, networks.shape.scale
    _, examples = examples_of(spec, networks)
    numbers = np.random.default_rng(1)
    examples = examples._replace(children=numbers.uniform(-1, 1, examples.children.shape))
    examples = examples._replace(has_children=numbers.integers(0, 2, examples.queries.choices.shape).astype(float))
    rows = numbers.integers(len(examples.weight), size=60)
    value, children = evaluated(networks, examples)
    alone = not game.hidden and game.zero_sum and game.players == 2
    squares, below = list[float](), list[float]()
    for row in rows:
        seats = [int(examples.queries.player[row])] if alone else range(value.shape[1])
        for k in seats:
            if examples.known[row, k]:
                squares.append(float((value[row, k] - examples.target[row, k]) / scale) ** 2)
            for i in range(int(examples.queries.degree[row])):
                if examples.has_children[row, i]:
                    below.append(float((children[row, i, k] - examples.children[row, i, k]) / scale) ** 2)
    every, weights = list[float](), list[float]()
    for row in range(len(examples.weight)):
        for k in [int(examples.queries.player[row])] if alone else range(value.shape[1]):
            every.append(examples.target[row, k] / scale)
            weights.append(examples.weight[row] * examples.known[row, k])
    mean = np.average(every, weights=weights)
    variance = np.average((np.array(every) - mean) ** 2, weights=weights)
    tensors = value_tensors(examples, networks.shape, networks.device).take(rows)
    out = out_of(networks, examples)[rows]
    batch = Batch(tensors, out[:, networks.shape.actions :])
    v_loss, c_loss = value_loss(batch), child_loss(batch)
    assert float(v_loss) == pytest.approx(np.mean(squares) / variance, rel=1e-4)
    assert float(c_loss) == pytest.approx(np.mean(below) / variance, rel=1e-4)
    assert len(squares) > 5
    assert len(below) > 20


@pytest.mark.parametrize("spec", SPECS)
def test_the_losses_of_consistency(spec: str) -> None:
    """V against the mean of V_c wherever a distribution is known, and against the largest V_c at ACT nodes."""
    networks = networks_of(load_game(spec))
    with torch.no_grad():
        for p in networks.model.parameters():
            p.mul_(0.3)
    game, scale = networks.game, networks.shape.scale
    record = sample(spec, 12)
    policy = policy_examples(game, policy_targets(record))
    network = Network(game, networks.model, networks.belief, batch=16)
    examples = value_examples(game, value_targets(record, ValueRule(0.5, False)), network, priors=True)
    kinds = examples.queries.kind
    np.testing.assert_allclose(examples.prior.sum(1), kinds != OPPONENT)
    rows = np.random.default_rng(1).integers(len(examples.weight), size=60)
    value, children = evaluated(networks, examples)
    alone = not game.hidden and game.zero_sum and game.players == 2
    means, largest = list[float](), list[float]()
    for row in rows:
        of, own = range(int(examples.queries.degree[row])), int(examples.queries.player[row])
        if kinds[row] != OPPONENT:
            for k in [own] if alone else range(value.shape[1]):
                mean = sum(examples.prior[row, i] * children[row, i, k] for i in of)
                means.append(float((value[row, k] - mean) / scale) ** 2)
        if kinds[row] == ACT:
            k = 0 if game.hidden else own
            largest.append(float((value[row, k] - max(children[row, i, k] for i in of)) / scale) ** 2)
    tensors = value_tensors(examples, networks.shape, networks.device).take(rows)
    out = out_of(networks, examples)[rows]
    batch = Batch(tensors, out[:, networks.shape.actions :])
    assert float(consistency_loss(batch)) * tensors.variance == pytest.approx(np.mean(means), rel=1e-4)
    assert float(best_child_loss(batch)) * tensors.variance == pytest.approx(np.mean(largest), rel=1e-4)
    assert 5 < len(largest) < 60 or spec == "tic_tac_toe"
    steps = Steps(np.full(3, 3e-3), 16, np.random.default_rng(0))
    assert "consistency_loss" not in networks.fit(lambda: policy, lambda: examples, steps)
    assert networks.fit(lambda: policy, lambda: examples, steps, {"consistency_loss": 1.0})["consistency_loss"] > 0.0


def test_a_model_without_child_values() -> None:
    """It has no loss of V_c, its outputs are fewer, and V of a node stands for all of its children."""
    game = load_game("leduc_poker")
    networks = Networks(game, Size(8, 1, "mlp", child_values=False))
    assert networks.shape.outputs == game.num_actions + 1
    policy, value = examples_of("leduc_poker", networks_of(game))
    losses = networks.fit(
        lambda: policy, lambda: value, Steps(np.full(3, 3e-3), 16, np.random.default_rng(0)), {"consistency_loss": 1}
    )
    assert losses["child_loss"] == 0.0
    assert losses["value_loss"] > 0.0
    found, children = evaluated(networks, value)
    for row in range(len(value.weight)):
        assert (children[row, : value.queries.degree[row]] == found[row]).all()


def test_columns_of_child_values() -> None:
    """Those of actions, of outcomes and of values of holes follow each other, after V."""
    networks = networks_of(load_game("leduc_poker"))
    shape, (_, examples) = networks.shape, examples_of("leduc_poker", networks)
    columns = child_columns(shape, examples.queries)
    seen = {SAMPLE: set[int](), CHANCE: set[int](), -1: set[int]()}
    for row, kind in enumerate(examples.queries.kind):
        of = int(examples.queries.degree[row])
        seen[int(kind) if kind in seen else -1] |= set(columns[row, :of, 0].tolist())
    a, o, x = shape.actions, shape.outcomes, shape.values
    assert seen[-1] <= set(range(a + 1, 2 * a + 1))
    assert seen[CHANCE] <= set(range(2 * a + 1, 2 * a + 1 + o))
    assert seen[SAMPLE] <= set(range(2 * a + 1 + o, 2 * a + 1 + o + x))
    assert shape.outputs == 2 * a + 1 + o + x
    assert all(seen.values())


def test_values_begin_with_those_of_the_querys_player() -> None:
    """Their own first, the others after them in turn; of two with zero sum, theirs alone."""
    for spec, seats in (("pig(players=3,winscore=10)", 3), ("tic_tac_toe", 1)):
        networks = networks_of(load_game(spec))
        _, examples = examples_of(spec, networks)
        players = np.broadcast_to(np.arange(networks.game.players, dtype=float), examples.target.shape)
        found = in_seats(networks.shape, examples.queries, players)
        expected = (examples.queries.player[:, None] + np.arange(seats)) % networks.game.players
        np.testing.assert_array_equal(found, expected)
        assert len(set(examples.queries.player.tolist())) > 1


def fitted(networks: Networks, spec: str, times: int, seed: int = 0) -> list[float]:
    policy, value = examples_of(spec, networks_of(load_game(spec)))
    stream, out = np.random.default_rng(seed), list[float]()
    for _ in range(times):
        steps = Steps(np.full(3, 3e-3), 16, stream)
        out += networks.fit(lambda: policy, lambda: value, steps, {"child_loss": 0.5}).values()
        if networks.game.hidden:
            examples = belief_examples(networks.game, belief_targets(networks.game, explorers_moves(sample(spec, 12))))
            out += run_fits([networks.belief_fit(examples, steps)]).values()
    return out


@pytest.mark.parametrize("spec", SPECS)
def test_restored_networks_go_on_bit_for_bit(spec: str) -> None:
    game = load_game(spec)
    one = networks_of(game)
    fitted(one, spec, 2)
    kept = one.tensors()
    before = {name: tensor.clone() for name, tensor in kept.items()}
    other = networks_of(game, seed=9)
    other.restore(kept, "'x'")
    assert fitted(one, spec, 2, seed=1) == fitted(other, spec, 2, seed=1)
    a, b = one.tensors(), other.tensors()
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert all(torch.equal(kept[name], before[name]) for name in kept), "what was kept does not change"
    assert not any(torch.equal(a[name], before[name]) for name in a if name.endswith("step"))


def test_a_fit_lowers_all_losses() -> None:
    networks = networks_of(load_game("kuhn_poker(players=3)"))
    losses = fitted(networks, "kuhn_poker(players=3)", 60)
    first, last = np.array(losses[:16]).reshape(4, 4).mean(0), np.array(losses[-16:]).reshape(4, 4).mean(0)
    assert (last < first).all()


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "tic_tac_toe"])
def test_few_examples_are_learned_all_at_once(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss is their mean by weight then, and nothing is sampled; a step without length changes nothing."""
    networks = networks_of(load_game(spec))
    policy, value = examples_of(spec, networks)
    stream = np.random.default_rng(1)
    policy = policy._replace(weight=stream.random(len(policy.weight)))
    value = value._replace(weight=stream.random(len(value.weight)))
    sampled: list[object] = []
    monkeypatch.setattr("qdts.nets.networks.sample_examples", lambda *given: sampled.append(given))
    losses = networks.fit(lambda: policy, lambda: value, Steps(np.zeros(3), 10_000, stream))
    assert sampled == []
    out = out_of(networks, policy).double().numpy()
    each = [entropy_of(policy, out, np.array([row]), weighted=False) for row in range(len(out))]
    assert losses["policy_loss"] == pytest.approx(np.average(each, weights=policy.weight), rel=1e-4)
    often = np.repeat(np.arange(len(value.weight)), np.round(1000 * value.weight).astype(int))
    tensors = value_tensors(value, networks.shape, networks.device).take(often)
    values = out_of(networks, value)[often][:, networks.shape.actions :]
    for name in ("value_loss", "child_loss"):
        assert losses[name] == pytest.approx(float(LOSSES[name](Batch(tensors, values))), rel=0.02)


def without(name: str) -> Callable[[dict[str, Tensor]], None]:
    def change(tensors: dict[str, Tensor]) -> None:
        del tensors[name]

    return change


def put(name: str, tensor: Tensor) -> Callable[[dict[str, Tensor]], None]:
    return lambda tensors: tensors.update({name: tensor})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tensors: tensors.clear(), "lacks the tensor"),
        (put("model.other", torch.zeros(2)), "has a tensor 'other'"),
        (put("belief.other", torch.zeros(2)), "has a tensor 'other'"),
        (without("optimizer.updates"), "lacks 'optimizer.updates'"),
        (put("optimizer.updates", torch.zeros(2)), "does not fit"),
        (put("optimizer.updates", torch.tensor(-1)), "does not fit"),
        (put("optimizer.updates", torch.tensor(0.5)), "does not fit"),
        (without("optimizer.model.0.step"), "does not fit"),
        (put("optimizer.model.0.step", torch.zeros(3)), "does not fit"),
        (put("optimizer.model.0.exp_avg", torch.zeros(3)), "does not fit"),
        (put("optimizer.model.0.more", torch.zeros(3)), "does not fit"),
        (put("optimizer.model.999.step", torch.zeros(())), "does not fit"),
        (put("optimizer.other.0.step", torch.zeros(())), "does not fit"),
    ],
)
def test_other_tensors_are_refused(change: Callable[[dict[str, Tensor]], None], words: str) -> None:
    networks = networks_of(load_game("kuhn_poker(players=3)"))
    fitted(networks, "kuhn_poker(players=3)", 1)
    tensors = networks.tensors()
    change(tensors)
    with pytest.raises(InputError, match=words):
        networks.restore(tensors, "'x'")
    other = Networks(load_game("leduc_poker"), Size(8, 1, "mlp"))
    with pytest.raises(InputError):
        other.restore(tensors, "'x'")


def test_the_average_of_weights() -> None:
    """After t updates it moves by (γ + 1) / (t + γ): the first takes it all, and Σ of all shares is 1."""
    networks = Networks(load_game("kuhn_poker"), Size(4, 1), average=3.0)
    weight, slow = next(networks.model.parameters()), next(networks.average.parameters())
    expected, shares = 0.0, list[float]()
    for t in range(1, 20):
        with torch.no_grad():
            weight.fill_(float(t * t % 7))
        networks.update_average()
        share = 4.0 / (t + 3.0)
        expected += share * (t * t % 7 - expected)
        shares = [s * (1 - share) for s in shares] + [share]
        assert slow.flatten()[0].item() == pytest.approx(expected, rel=1e-5)
    assert networks.updates == 19
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares), "later weights count for more"


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_guide_finds_what_a_binary_search_finds(size: int) -> None:
    """With weights of 0, equal ones, and of very different sizes; at goals that are ends, too."""
    stream = np.random.default_rng(size)
    for power in (0.0, 1.0, 12.0):
        weight = stream.random(size) ** power * (stream.random(size) < 0.7)
        weight[stream.integers(size)] = 1e-3
        ends = np.cumsum(weight)
        goals = np.concatenate([stream.random(2000) * ends[-1], ends, np.nextafter(ends, 0.0), [0.0]])
        found = np.empty(len(goals), np.int64)
        find_above(ends, goals, np.empty(size, np.int64), found)
        assert found.tolist() == np.minimum(np.searchsorted(ends, goals, side="right"), size - 1).tolist()


def test_examples_are_sampled_by_their_weights() -> None:
    sampled = sample_examples(np.array([0.0, 3.0, 0.0, 1.0, 0.0]), 100, 200, np.random.default_rng(0))
    counts = np.bincount(sampled.reshape(-1), minlength=5)
    assert sampled.shape == (100, 200)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert counts[1] / counts.sum() == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("weight", [[0.0, 0.0], [1.0, np.nan], [np.inf, 1.0]])
def test_weights_without_a_sum_are_refused(weight: list[float]) -> None:
    with pytest.raises(InputError, match="expected a positive number"):
        sample_examples(np.array(weight), 2, 3, np.random.default_rng(0))

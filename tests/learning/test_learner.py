"""Models while they learn: losses and averages as the pages say, and one that was kept goes on bit for bit."""

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
from qdts.learning.beliefs import belief_rows, explorers_moves
from qdts.learning.lessons import belief_lesson, value_lesson
from qdts.learning.nodes import queries_of
from qdts.learning.targets import ValueTarget, policy_rows, value_rows
from qdts.nets.evaluator import Network
from qdts.nets.learner import Learner, _drawn, _Policy, _Value, use_threads
from qdts.nets.lessons import PolicyLesson, ValueLesson, child_columns, in_seats, padded
from qdts.search.evaluation.batches import empty_evaluations
from qdts.search.evaluation.evaluator import CHANCE, SAMPLE

SPECS = ["leduc_poker", "kuhn_poker(players=3)", "tic_tac_toe", "pig(players=3,winscore=10)"]
HIDDEN = SPECS[:2]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Models are so small that threads would only wait for each other."""
    before = torch.get_num_threads()
    use_threads(1)
    yield
    use_threads(before)


def learner_of(game: Game, seed: int = 0) -> Learner:
    """One with weights that say something."""
    learner = Learner(game, width=8, layers=1, trunk="mlp", seed=seed)
    numbers = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for model in (learner.model, learner.belief):
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=numbers) * 0.3)
        learner.average.load_state_dict(learner.model.state_dict())
    return learner


def lessons(spec: str, learner: Learner) -> tuple[PolicyLesson, ValueLesson]:
    record = sample(spec, 12)
    game = record.game
    rows = policy_rows(record)
    queries = queries_of(game, rows.nodes)
    network = Network(game, learner.model, learner.belief, batch=16)
    return (
        PolicyLesson(queries, padded(queries, rows.target), rows.weight),
        value_lesson(game, value_rows(record, ValueTarget(0.5, False)), network),
    )


def out_of(learner: Learner, lesson: PolicyLesson | ValueLesson, *, belief: bool = False) -> Tensor:
    """What the model says of every row."""
    count, shape = len(lesson.weight), learner.shape
    inputs, beliefs = torch.zeros((count, shape.inputs)), torch.zeros((count, shape.belief_inputs))
    learner._encode(lesson.queries, np.arange(count), inputs, beliefs)
    with torch.inference_mode():
        out: Tensor = learner.belief(beliefs) if belief else learner.model(inputs)
    return out.clone()


def cross_entropy(lesson: PolicyLesson, out: Reals, rows: Ints, *, weighted: bool) -> float:
    """− Σ target(a) · log P(a), a mean over rows."""
    total = 0.0
    for row in rows:
        of = range(int(lesson.queries.degree[row]))
        power = [np.exp(float(out[row, lesson.queries.choices[row, i]])) for i in of]
        if weighted:
            power = [lesson.queries.weights[row, i] * power[i] for i in of]
        total -= sum(lesson.target[row, i] * np.log(power[i] / sum(power)) for i in of)
    return total / len(rows)


@pytest.mark.parametrize("spec", SPECS)
def test_the_loss_of_p(spec: str) -> None:
    learner = learner_of(load_game(spec))
    lesson, _ = lessons(spec, learner)
    rows, out = np.random.default_rng(0).integers(len(lesson.weight), size=40), out_of(learner, lesson)
    found = _Policy(learner, lesson).loss(out[rows], rows)
    assert float(found) == pytest.approx(cross_entropy(lesson, out.double().numpy(), rows, weighted=False), rel=1e-5)


@pytest.mark.parametrize("spec", HIDDEN)
def test_the_loss_of_h(spec: str) -> None:
    """The rules' weights are part of H."""
    learner = learner_of(load_game(spec))
    lesson = belief_lesson(learner.game, belief_rows(learner.game, explorers_moves(sample(spec, 12))))
    np.testing.assert_allclose(lesson.target.sum(1), 1.0)
    rows, out = np.arange(len(lesson.weight)), out_of(learner, lesson, belief=True)
    found = _Policy(learner, lesson, weighted=True).loss(out, rows)
    assert float(found) == pytest.approx(cross_entropy(lesson, out.double().numpy(), rows, weighted=True), rel=1e-5)


def told(learner: Learner, lesson: ValueLesson) -> tuple[Reals, Reals]:
    """V and V_c of each row as an evaluator gives them: returns, not held to their bounds by these weights."""
    evaluations = empty_evaluations(learner.game, len(lesson.weight))
    Network(learner.game, learner.model, learner.belief, batch=16).evaluate_batch(lesson.queries, evaluations)
    return evaluations.value, evaluations.children


@pytest.mark.parametrize("spec", SPECS)
def test_the_losses_of_v_and_its_children(spec: str) -> None:
    """Mean squares, in units of the variance of targets, of what the evaluator says: so every column is the right one.

    In an open game of two players with zero sum the model has the value of the player who asks alone; else in an open
    game all players' values count.
    """
    learner = learner_of(load_game(spec))
    with torch.no_grad():
        for p in learner.model.parameters():
            p.mul_(0.3)  # so that no value is held to its bounds
    game, scale = learner.game, learner.shape.scale
    _, lesson = lessons(spec, learner)
    numbers = np.random.default_rng(1)
    lesson = lesson._replace(children=numbers.uniform(-1, 1, lesson.children.shape))
    lesson = lesson._replace(taught=numbers.integers(0, 2, len(lesson.weight)).astype(float))
    rows = numbers.integers(len(lesson.weight), size=60)
    value, children = told(learner, lesson)
    alone = not game.hidden and game.zero_sum and game.players == 2
    squares, below = list[float](), list[float]()
    for row in rows:
        seats = [int(lesson.queries.player[row])] if alone else range(value.shape[1])
        for k in seats:
            if lesson.known[row, k]:
                squares.append(float((value[row, k] - lesson.target[row, k]) / scale) ** 2)
            if lesson.taught[row]:
                for i in range(int(lesson.queries.degree[row])):
                    below.append(float((children[row, i, k] - lesson.children[row, i, k]) / scale) ** 2)
    every, weights = list[float](), list[float]()
    for row in range(len(lesson.weight)):
        for k in [int(lesson.queries.player[row])] if alone else range(value.shape[1]):
            every.append(lesson.target[row, k] / scale)
            weights.append(lesson.weight[row] * lesson.known[row, k])
    mean = np.average(every, weights=weights)
    variance = np.average((np.array(every) - mean) ** 2, weights=weights)
    v_loss, c_loss = _Value(learner, lesson).loss(out_of(learner, lesson)[rows, learner.shape.actions :], rows)
    assert float(v_loss) == pytest.approx(np.mean(squares) / variance, rel=1e-4)
    assert float(c_loss) == pytest.approx(np.mean(below) / variance, rel=1e-4)
    assert len(squares) > 5
    assert len(below) > 20


def test_columns_of_child_values() -> None:
    """Those of actions, of outcomes and of values of holes follow each other, after V."""
    learner = learner_of(load_game("leduc_poker"))
    shape, (_, lesson) = learner.shape, lessons("leduc_poker", learner)
    columns = child_columns(shape, lesson.queries)
    seen = {SAMPLE: set[int](), CHANCE: set[int](), -1: set[int]()}
    for row, kind in enumerate(lesson.queries.kind):
        of = int(lesson.queries.degree[row])
        seen[int(kind) if kind in seen else -1] |= set(columns[row, :of, 0].tolist())
    a, o, x = shape.actions, shape.outcomes, shape.values
    assert seen[-1] <= set(range(a + 1, 2 * a + 1))
    assert seen[CHANCE] <= set(range(2 * a + 1, 2 * a + 1 + o))
    assert seen[SAMPLE] <= set(range(2 * a + 1 + o, 2 * a + 1 + o + x))
    assert shape.outputs == 2 * a + 1 + o + x
    assert all(seen.values())


def test_values_are_told_to_the_player_who_asks() -> None:
    """His own first, the others after him in turn; of two with zero sum, his alone."""
    for spec, seats in (("pig(players=3,winscore=10)", 3), ("tic_tac_toe", 1)):
        learner = learner_of(load_game(spec))
        _, lesson = lessons(spec, learner)
        players = np.broadcast_to(np.arange(learner.game.players, dtype=float), lesson.target.shape)
        found = in_seats(learner.shape, lesson.queries, players)
        expected = (lesson.queries.player[:, None] + np.arange(seats)) % learner.game.players
        np.testing.assert_array_equal(found, expected)
        assert len(set(lesson.queries.player.tolist())) > 1


def fitted(learner: Learner, spec: str, times: int, seed: int = 0) -> list[float]:
    policy, value = lessons(spec, learner_of(load_game(spec)))
    stream, out = np.random.default_rng(seed), list[float]()
    for _ in range(times):
        out += learner.fit(
            policy, value, steps=3, rows=16, rate=3e-3, value_weight=1.0, child_weight=0.5, stream=stream
        )
        if learner.game.hidden:
            lesson = belief_lesson(learner.game, belief_rows(learner.game, explorers_moves(sample(spec, 12))))
            out.append(learner.fit_belief(lesson, steps=3, rows=16, rate=3e-3, stream=stream))
    return out


@pytest.mark.parametrize("spec", SPECS)
def test_a_restored_learner_goes_on_bit_for_bit(spec: str) -> None:
    game = load_game(spec)
    one = learner_of(game)
    fitted(one, spec, 2)
    kept = one.tensors()
    before = {name: tensor.clone() for name, tensor in kept.items()}
    other = learner_of(game, seed=9)
    other.restore(kept, "'x'")
    assert fitted(one, spec, 2, seed=1) == fitted(other, spec, 2, seed=1)
    a, b = one.tensors(), other.tensors()
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert all(torch.equal(kept[name], before[name]) for name in kept), "what was kept does not change"
    assert not any(torch.equal(a[name], before[name]) for name in a if name.endswith("step"))


def test_a_fit_learns_what_it_is_taught() -> None:
    learner = learner_of(load_game("kuhn_poker(players=3)"))
    losses = fitted(learner, "kuhn_poker(players=3)", 60)
    first, last = np.array(losses[:16]).reshape(4, 4).mean(0), np.array(losses[-16:]).reshape(4, 4).mean(0)
    assert (last < first).all()


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
def test_other_tensors_are_told(change: Callable[[dict[str, Tensor]], None], words: str) -> None:
    learner = learner_of(load_game("kuhn_poker(players=3)"))
    fitted(learner, "kuhn_poker(players=3)", 1)
    tensors = learner.tensors()
    change(tensors)
    with pytest.raises(InputError, match=words):
        learner.restore(tensors, "'x'")
    other = Learner(load_game("leduc_poker"), width=8, layers=1, trunk="mlp")
    with pytest.raises(InputError):
        other.restore(tensors, "'x'")


def test_the_average_of_weights() -> None:
    """After t updates it moves by (γ + 1) / (t + γ): the first takes it all, and Σ of all shares is 1."""
    learner = Learner(load_game("kuhn_poker"), width=4, layers=1, average=3.0)
    weight, slow = next(learner.model.parameters()), next(learner.average.parameters())
    expected, shares = 0.0, list[float]()
    for t in range(1, 20):
        with torch.no_grad():
            weight.fill_(float(t * t % 7))
        learner.update_average()
        share = 4.0 / (t + 3.0)
        expected += share * (t * t % 7 - expected)
        shares = [s * (1 - share) for s in shares] + [share]
        assert slow.flatten()[0].item() == pytest.approx(expected, rel=1e-5)
    assert learner.updates == 19
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares), "later weights count for more"


def test_rows_are_drawn_by_their_weights() -> None:
    drawn = _drawn(np.array([0.0, 3.0, 0.0, 1.0, 0.0]), 100, 200, np.random.default_rng(0))
    counts = np.bincount(drawn.reshape(-1), minlength=5)
    assert drawn.shape == (100, 200)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert counts[1] / counts.sum() == pytest.approx(0.75, abs=0.02)

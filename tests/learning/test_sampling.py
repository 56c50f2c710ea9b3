"""Games sampled in bulk: how many take each choice, and what P is worth in them, equal to a slow twin and unbiased."""

from __future__ import annotations

import numpy as np
import pytest

from learning import naive_estimates
from learning.samples import HIDDEN, made_up
from qdts import load_game
from qdts.games.game import Game
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints, Reals
from qdts.learning.config import SETTINGS
from qdts.learning.selfplay.sampling import Evaluate, Guess, Level, moves_of, sample_games
from qdts.learning.targets.estimates import BASELINES, Estimates, estimate, noise, residual, spread, views_of_movers
from qdts.learning.targets.policy import damped
from qdts.learning.targets.sampled_values import value_examples_of
from qdts.search.evaluation.evaluator import SAMPLE
from qdts.solving.exact.values import history_values, infoset_values
from qdts.solving.sampled_games import choose_actions
from qdts.solving.tree.recent import game_tree


def chosen(times: Ints, mover: Ints, degree: Ints, policy: Reals, explore: Reals, u: Reals) -> tuple[Reals, Ints]:
    """μ, and how many games take each choice."""
    sampled, taken = np.zeros(policy.shape), np.zeros(policy.shape, np.int64)
    choose_actions(times, mover, degree, policy, explore, u, sampled, taken)
    return sampled, taken


def test_systematic_samples() -> None:
    """Each choice is taken ⌊n μ⌋ times or once more, and n μ times on average."""
    stream = np.random.default_rng(0)
    degree, mover = stream.integers(1, 6, 40), stream.integers(-2, 2, 40)
    p = np.where(np.arange(6) < degree[:, None], stream.random((40, 6)), 0.0)
    p /= p.sum(1, keepdims=True)
    p[0] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    degree[0], mover[0] = 5, 0
    e = np.where(mover == 1, 0.4, 0.0)[:, None]
    mu = (1 - e) * p + np.where(np.arange(6) < degree[:, None], e / degree[:, None], 0.0)
    times, total = stream.integers(1, 50, 40), np.zeros((40, 6))
    for _ in range(2000):
        sampled, taken = chosen(times, mover, degree, p, e[:, 0].copy(), stream.random(40))
        np.testing.assert_allclose(sampled, mu, atol=1e-12)
        assert (taken.sum(1) == times).all()
        assert (taken >= np.floor(times[:, None] * mu - 1e-9)).all()
        assert (taken <= np.ceil(times[:, None] * mu + 1e-9)).all()
        assert (taken[mu == 0.0] == 0).all()
        total += taken
    np.testing.assert_allclose(total / 2000, times[:, None] * mu, atol=0.06)


def guesses(game: Game, seed: int = 0) -> Evaluate:
    """A made-up policy, and values that are made up for each world."""
    decide = made_up(game, seed)

    def evaluate(worlds: Ints, mover: Ints) -> Guess:
        policy = np.zeros((len(worlds), game.max_branching))
        children = np.zeros((len(worlds), game.max_branching, game.players), np.float32)
        for n, (world, player) in enumerate(zip(worlds, mover, strict=True)):
            children[n] = np.random.default_rng([*world + 1, seed]).normal(size=children[n].shape)
            if player >= 0:
                move = decide(game.view(world, int(player))[None], np.array([player])).move
                policy[n, : len(move)] = move
        return Guess(policy, children)

    return evaluate


def test_parts_in_one_pass() -> None:
    """Each part has its own games and exploring, and its rows follow from its own."""
    game, explore = load_game("leduc_poker"), np.array([[0.5, 0.1], [0.2, 0.9], [0.0, 0.3]])
    levels = sample_games(game, guesses(game), 300, explore, np.random.default_rng(2))
    np.testing.assert_array_equal(levels[0].part, [0, 1, 2])
    over = np.zeros(3)
    for before, level in zip([None, *levels], levels, strict=False):
        if before is not None:
            np.testing.assert_array_equal(level.part, before.part[level.parent])
        moved, ended = level.mover >= 0, level.mover == TERMINAL
        e = explore[level.part, np.maximum(level.mover, 0)][:, None] * moved[:, None]
        legal = np.arange(game.max_branching) < level.degree[:, None]
        uniform = legal / np.maximum(level.degree, 1)[:, None]
        expected = np.where(legal, (1 - e) * level.policy + e * uniform, 0.0)
        np.testing.assert_allclose(level.sampled, expected, atol=1e-6)
        over += np.bincount(level.part[ended], level.times[ended], 3)
    np.testing.assert_array_equal(over, 300)


def test_moves_are_the_choices_of_players_that_games_took() -> None:
    _, levels, _ = sampled("leduc_poker", 200)
    moves = {number: (rows, columns) for number, rows, columns in moves_of(levels)}
    assert list(moves) == list(range(len(levels) - 1))
    for number, (rows, columns) in moves.items():
        level = levels[number]
        np.testing.assert_array_equal((rows, columns), np.nonzero((level.mover[:, None] >= 0) * level.taken))
    assert sum(len(rows) for rows, _ in moves.values()) > 100


def sampled(
    spec: str, games: int, seed: int = 1, baseline: str = "children"
) -> tuple[Game, list[Level], list[Estimates]]:
    game = load_game(spec)
    explore = np.linspace(0.5, 0.2, game.players)[None]
    levels = sample_games(game, guesses(game), games, explore, np.random.default_rng(seed))
    return game, levels, estimate(levels, BASELINES[baseline])


def test_baselines_are_those_of_the_setting() -> None:
    assert BASELINES.keys() == SETTINGS["value.baseline"].choices.keys()


@pytest.mark.parametrize("baseline", ["children", "actions", "none"])
@pytest.mark.parametrize("spec", HIDDEN)
def test_estimates_are_those_of_a_slow_twin(spec: str, baseline: str) -> None:
    """The equations of `estimates.py`, history by history; without a baseline V_c counts as 0."""
    game, levels, found = sampled(spec, 50, baseline=baseline)

    def walk(depth: int, row: int) -> Reals:
        level = levels[depth]
        if level.mover[row] == TERMINAL:
            return level.returns[row]
        below = {
            int(levels[depth + 1].column[child]): walk(depth + 1, int(child))
            for child in np.flatnonzero(levels[depth + 1].parent == row)
        }
        value = np.zeros(game.players)
        guessed = baseline == "children" or (baseline == "actions" and level.mover[row] >= 0)
        for a in range(level.degree[row]):
            q = level.children[row, a].astype(np.float64) * guessed
            if a in below:
                np.testing.assert_allclose(found[depth].child[row, a], below[a], atol=1e-5)
                q = q + level.taken[row, a] / (level.times[row] * level.sampled[row, a]) * (below[a] - q)
            np.testing.assert_allclose(found[depth].action[row, a], q, atol=1e-4)
            value += level.policy[row, a] * q
        np.testing.assert_allclose(found[depth].value[row], value, atol=1e-4)
        return value

    assert np.isfinite(walk(0, 0)).all()


@pytest.mark.parametrize(
    ("spec", "baseline"),
    [
        ("kuhn_poker", "children"),
        ("kuhn_poker", "actions"),
        ("kuhn_poker", "none"),
        ("leduc_poker", "children"),
        ("kuhn_poker(players=3)", "children"),
    ],
)
def test_estimates_are_unbiased_whatever_is_guessed(spec: str, baseline: str) -> None:
    """The mean over many samples of few games is the exact value of P at the start."""
    game = load_game(spec)
    tree = game_tree(game)
    decide = made_up(game)
    p = np.concatenate([decide(view[None], np.array([0])).move for view in tree.infosets.views])
    exact = history_values(tree, p)[0]
    values = np.array([sampled(spec, 3, seed, baseline)[2][0].value[0] for seed in range(600)])
    error = values.std(0) / np.sqrt(len(values))
    assert (np.abs(values.mean(0) - exact) < 4.5 * error).all()
    assert (error < 0.2 * game.scale).all()


def test_only_the_true_value_of_a_hole_has_a_target() -> None:
    """Number 0 stands in the places beyond a node's choices, too."""
    game, levels, estimates = sampled("leduc_poker", 300)
    views = views_of_movers(game, levels, estimates)
    examples = value_examples_of(
        game, levels, estimates, views, most=900, power=1.0, stream=np.random.default_rng(5)
    )  # fmt: skip
    at_holes = np.flatnonzero(examples.queries.kind == SAMPLE)
    assert len(at_holes) > 50
    known = examples.has_children[at_holes] > 0
    assert (known.sum(1) == 1).all()
    assert (np.argmax(known, 1) < examples.queries.degree[at_holes]).all()
    assert 0 in examples.queries.choices[at_holes][known]


@pytest.mark.parametrize("spec", HIDDEN)
def test_values_of_views_with_many_games(spec: str) -> None:
    """With games that cover the whole tree they come close to the exact values, at views that P leads to."""
    game, levels, found = sampled(spec, 400_000)
    tree = game_tree(game)
    decide = made_up(game)
    p = np.concatenate([decide(view[None], np.array([0])).move for view in tree.infosets.views])
    exact = dict(zip((v.tobytes() for v in tree.infosets.views), infoset_values(tree, p), strict=True))
    views = views_of_movers(game, levels, found)
    assert len(views.player) == len({(int(i), v.tobytes()) for i, v in zip(views.player, views.view, strict=True)})
    often = views.times > 8000
    assert often.sum() > 3
    error = [views.value[n] - exact[views.view[n].tobytes()] for n in np.flatnonzero(often)]
    assert np.abs(error).max() < 0.15 * game.scale
    np.testing.assert_allclose((views.policy * views.action).sum(1), views.value, atol=1e-3)


@pytest.mark.parametrize("spec", HIDDEN)
def test_compiled_means_are_those_of_numpy(spec: str) -> None:
    game, levels, found = sampled(spec, 500, 3)
    views, others = views_of_movers(game, levels, found), naive_estimates.views_of_movers(game, levels, found)
    order, other = (np.lexsort(np.column_stack([v.player, v.view]).T) for v in (views, others))
    for name, a, b in zip(views._fields, views.take(order), others.take(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * game.scale, err_msg=name)
    assert residual(levels, found) == pytest.approx(naive_estimates.residual(levels, found), rel=1e-4)


def test_noise() -> None:
    """Its equation, view by view; V_c stands for Q where one game met a view."""
    game, levels, found = sampled("leduc_poker", 300)
    views = views_of_movers(game, levels, found)
    alone = np.flatnonzero(views.worth <= 1.0)
    several = [(n, v) for n, v in zip(views.worth, views.variance, strict=True) if n > 1.0]
    assert 10 < len(several) < len(views.worth)
    square = sum(n * v for n, v in several) + views.residual[alone].sum()
    assert noise(views) == pytest.approx(np.sqrt(square / (sum(n - 1.0 for n, _ in several) + len(alone))))
    assert views.residual[alone].mean() > 0.0
    assert noise(views.take(alone)) == pytest.approx(np.sqrt(views.residual[alone].mean()))
    assert noise(views.take(np.zeros(0, np.int64))) == 0.0
    assert (views.worth <= views.times + 1e-9).all()


def test_noise_of_large_games() -> None:
    """In hearts no two games meet at a view; V_c tells how far their estimates scatter, and steps are the smaller."""
    game, levels, found = sampled("hearts", 6)
    views = views_of_movers(game, levels, found)
    late = views.take(np.flatnonzero(views.worth <= 1.0))
    assert len(late.worth) > 0.9 * len(views.worth)
    assert noise(views) > 0.5
    assert damped(1.0, late.worth, noise(views), 0.2).max() < 0.2


def test_a_view_with_equal_weights_is_worth_its_games() -> None:
    """At the first decision nobody else has moved: every weight is 1."""
    game, levels, found = sampled("kuhn_poker", 300)
    views = views_of_movers(game, levels, found)
    first = [row for row, view in enumerate(views.view) if views.player[row] == 0 and views.times[row] > 50]
    assert len(first) >= 3
    assert views.worth[first] == pytest.approx(views.times[first])


def test_damped_steps() -> None:
    """All of the step where nothing is noise or many games are, half of it with s²/σ² games."""
    worth = np.array([0.5, 1.0, 4.0, 1e9])
    assert damped(0.3, worth, 0.0, 0.7) == pytest.approx([0.3] * 4)
    assert damped(0.3, worth, 1.4, 0.7) == pytest.approx([0.3 * 0.5 / 4.5, 0.3 / 5, 0.15, 0.3])


def test_spread() -> None:
    """Its equation, history by history."""
    game, levels, found = sampled("leduc_poker", 300)
    total = weights = 0.0
    for level, part in zip(levels, found, strict=True):
        for row, player in enumerate(level.mover):
            count = level.degree[row]
            if player >= 0 and count > 1:
                guess = [(part.child if level.taken[row, a] else level.children)[row, a, player] for a in range(count)]
                weight = level.times[row] * level.weight(np.array([row]), int(player))[0]
                total, weights = total + weight * np.var(guess), weights + weight
    assert spread(levels, found) == pytest.approx(np.sqrt(total / weights), rel=1e-5)
    assert spread(levels[:1], found[:1]) == 0.0, "chance alone"
    assert game.scale > spread(levels, found) > 0.1

"""Bayes' rule at the views that sampled games met: equal to a slow twin, and to the exact belief; and H learns it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learning.samples import made_up
from learning.test_sampling import guesses
from qdts import load_game
from qdts.games.game import Game
from qdts.kernels import Ints
from qdts.learning.config import Config, read_settings
from qdts.learning.learner import Learner
from qdts.learning.measure import measure
from qdts.learning.selfplay.sampling import Level, sample_games
from qdts.learning.targets.bayes import bayes_examples, worlds_met
from qdts.nets.bayes import BayesExamples, bayes_loss
from qdts.nets.evaluator import Network
from qdts.nets.model import Size
from qdts.nets.networks import Networks, Steps, run_fits
from qdts.search.beliefs.overrides import BeliefOverride
from qdts.search.evaluation.evaluator import Evaluation, Query
from qdts.search.options.variants import Belief

SPECS = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(numdice=2,dice_sides=2)",
    "liars_dice(numdice=1,dice_sides=3,split=true)",
    "goofspiel(num_cards=3)",
]


def network_of(game: Game) -> Network:
    """One whose H says something."""
    networks = Networks(game, Size(8, 1, "mlp"), seed=1)
    with torch.no_grad():
        for p in networks.belief.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(2)))
    return networks.evaluator("model", "belief", batch=16, cache=0)


class MadeUp:
    """The evaluator of `guesses`: its P, and H of a network."""

    def __init__(self, game: Game, network: Network) -> None:
        self.network, self.decide = network, made_up(game)

    def evaluate(self, query: Query, state: object) -> Evaluation:
        found = self.network.evaluate(query, state)  # type: ignore[arg-type]
        if query.kind == 0:
            return found._replace(prior=self.decide(query.vector[None], np.array([query.player])).move)
        return found


def sampled(spec: str, games: int) -> tuple[Game, list[Level]]:
    """Games of three parts, two of them in one pass."""
    game, stream = load_game(spec), np.random.default_rng(3)
    explore = np.where(np.arange(3)[:, None] == np.arange(game.players), 0.6, 0.3)
    parts = [sample_games(game, guesses(game), games, e, stream) for e in (explore[:2], explore[2:])]
    return game, [level for levels in parts for level in levels]


def worlds_of(game: Game, levels: list[Level], examples: BayesExamples) -> list[list[Ints]]:
    """The worlds of each view, in the examples' order: all views with several worlds are there."""
    met = worlds_met(game, levels)
    views = [np.flatnonzero(met.view == view) for view in range(met.view.max() + 1)]
    return [[met.world[row] for row in rows] for rows in views if len(rows) > 1]


@pytest.mark.parametrize("since", ["turn", "start"])
@pytest.mark.parametrize("spec", SPECS)
def test_targets_are_those_of_a_search_by_bayes_rule(spec: str, since: str) -> None:
    """`belief = bayes` and `exact` of a search weigh completions one by one; here only those that were met count."""
    game, levels = sampled(spec, 60)
    network = network_of(game)
    examples = bayes_examples(
        game, levels, network, since=since, most=10**9, power=1.0, stream=np.random.default_rng(0)
    )
    twin = BeliefOverride(game, MadeUp(game, network), Belief.BAYES if since == "turn" else Belief.EXACT)
    views = worlds_of(game, levels, examples)
    assert len(views) == len(examples.weight) > 3
    for view, worlds in enumerate(views):
        player = game.mover(worlds[0])
        known, weights = twin.weighted_completions(game.view(worlds[0], player), player)
        by = {world.tobytes(): weight for world, weight in zip(known, weights, strict=True)}
        q = np.array([by[world.tobytes()] for world in worlds])
        of = slice(int(examples.first_world[view]), int(examples.first_world[view + 1]))
        np.testing.assert_allclose(examples.target[of], q / q.sum(), rtol=1e-4, atol=1e-7)


def test_the_loss() -> None:
    """Its equation, world by world; a part of the views has the mean of their losses."""
    game, levels = sampled("leduc_poker", 60)
    network = network_of(game)
    examples = bayes_examples(
        game, levels, network, since="start", most=10**9, power=1.0, stream=np.random.default_rng(0)
    )
    logits = torch.randn((len(examples.queries.kind), game.num_values), generator=torch.Generator().manual_seed(0))
    losses = []
    for view in range(len(examples.weight)):
        worlds = range(int(examples.first_world[view]), int(examples.first_world[view + 1]))
        p = []
        for world in worlds:
            product = 1.0
            for link in range(int(examples.first_link[world]), int(examples.first_link[world + 1])):
                node, column = int(examples.node[link]), int(examples.column[link])
                of = range(int(examples.queries.degree[node]))
                h = [
                    examples.queries.weights[node, i] * np.exp(float(logits[node, examples.queries.choices[node, i]]))
                    for i in of
                ]
                product *= h[column] / sum(h)
            p.append(product)
        losses.append(-sum(examples.target[w] * np.log(x / sum(p)) for w, x in zip(worlds, p, strict=True)))
    assert float(bayes_loss(logits, examples)) == pytest.approx(np.mean(losses), rel=1e-4)
    some = np.array([3, 0, 3])
    part = examples.take(some)
    used = np.unique(np.concatenate([links_of(examples, view) for view in some]))
    assert float(bayes_loss(logits[used], part)) == pytest.approx(np.mean([losses[v] for v in some]), rel=1e-4)


def links_of(examples: BayesExamples, view: int) -> Ints:
    """The nodes of a view."""
    first, last = examples.first_link[examples.first_world[view : view + 2]]
    return examples.node[first:last]


def test_h_learns_bayes_rule_by_this_loss_alone() -> None:
    """From the start of the game, without any count of true worlds."""
    game = load_game("leduc_poker")
    settings = ["play.games=4000", "belief.bayes=1", "belief.bayes_since=start", "fit.rows=256"]
    learner = Learner(game, read_settings(settings, Config()), 0)
    with torch.no_grad():
        for p in next(learner.networks.model.body.children()).parameters():
            p.add_(torch.randn(p.shape, generator=torch.Generator().manual_seed(5)) * 0.3)
    experience = learner.gather(1, 0.0)
    assert experience.belief is not None
    examples = experience.belief()
    assert examples.bayes is not None
    before = measure(learner.evaluator()).belief_error
    nothing = examples.counted._replace(target=np.zeros_like(examples.counted.target))
    steps = Steps(np.geomspace(3e-3, 3e-4, 300), 256, np.random.default_rng(0))
    losses = run_fits([learner.networks.belief_fit(nothing, steps, examples.bayes, 1.0)])
    after = measure(learner.evaluator()).belief_error
    assert losses["belief_loss"] == 0.0
    assert before is not None
    assert after is not None
    assert after < 0.5 * before


@pytest.mark.parametrize("setting", ["play.by=values", "play.by=search"])
def test_a_generation_with_this_loss(setting: str) -> None:
    few = ["play.games=20", "search.games=6", "search.visits=2", "belief.games=20", "fit.steps=1", "belief.steps=2"]
    learner = Learner(load_game("kuhn_poker"), read_settings([*few, setting, "belief.bayes=0.5"], Config()), 0)
    losses = learner.learn(learner.gather(1, 0.0), 1, 0.0)
    assert losses["bayes_loss"] > 0.0
    learner.learn_average_belief(1, 1)

"""Where experience comes from: the searches of self-play, the size of bulk games, and what they cover."""

from __future__ import annotations

import numpy as np
import pytest

from qdts import load_game
from qdts.learning.config import Config, read_settings
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.sampled import MEMORY, SampledGames, most_games
from qdts.learning.experience.searched import SearchedGames, search_options
from qdts.learning.learner import Learner, plays_by
from qdts.search.options.options import Options
from qdts.search.options.variants import Decision, Select


def options(spec: str, *settings: str, spread: float = 1.0) -> Options:
    return search_options(load_game(spec), read_settings(settings, Config()), 0.0, spread)


def test_options_in_brackets_stay() -> None:
    found = options("kuhn_poker", "search.name=qdts[eps_sample=0.3,decision=lcb,root_step=7]")
    assert (found.eps_sample, found.decision, found.root_step) == (0.3, Decision.LCB, 7.0)
    assert found.eps_opponent == 0.0, "which is what the settings say"


def test_filtered_visits_are_those_of_roots_that_choose_by_puct() -> None:
    """A root that chooses all actions alike has no visits worth to learn from."""
    assert options("kuhn_poker").root_select == Select.UNIFORM
    for target in ("lcb", "visits"):
        found = options("kuhn_poker", f"policy.target={target}")
        assert (found.root_select, found.decision) == (Select.PUCT, Decision(target))


def test_with_perfect_information_it_is_alpha_zero() -> None:
    found = options("tic_tac_toe")
    assert (found.decision, found.select, found.root_select) == (Decision.VISITS, Select.PUCT, Select.PUCT)
    assert options("kuhn_poker").decision == Decision.MIRROR
    learner = Learner(load_game("tic_tac_toe"), read_settings(["net.width=4", "net.layers=1"], Config()), 0)
    assert isinstance(learner.source, SearchedGames)
    assert learner.source.has_records


def test_the_unit_of_steps() -> None:
    """A step of η and a pull of α in units of the spread are η / σ and α σ in units of S."""
    plain, wide = options("kuhn_poker"), options("kuhn_poker", spread=0.25)
    assert wide.root_step == pytest.approx(4 * plain.root_step)
    assert wide.root_temperature == pytest.approx(plain.root_temperature / 4)
    assert options("kuhn_poker", "policy.unit=scale", spread=0.25).root_step == plain.root_step


@pytest.mark.parametrize("spec", ["kuhn_poker", "phantom_ttt", "goofspiel", "hearts"])
def test_bulk_games_are_held_to_memory(spec: str) -> None:
    """Long games and large worlds get fewer."""
    game, config = load_game(spec), Config()
    games = most_games(game, config, config.play.games)
    size = 8 * (game.world_size + 4 * game.max_branching) + 12 * game.max_branching * game.players
    assert 100 <= games <= config.play.games
    assert (games == config.play.games) == (spec == "kuhn_poker")
    assert games * 3 * size < 2 * MEMORY
    assert plays_by(game, config) == "values"


@pytest.mark.parametrize("spec", ["phantom_ttt", "hearts"])
def test_large_games_are_learned_from(spec: str) -> None:
    """Games, examples of all networks, and a step of each."""
    few = ["play.games=6", "belief.games=6", "fit.steps=1", "fit.rows=16", "belief.steps=1", "net.width=8"]
    learner = Learner(load_game(spec), read_settings(few, Config()), 0)
    assert isinstance(learner.source, SampledGames)
    experience = learner.gather(1, 0.0)
    most = 16
    for examples in (experience.policy, experience.value):
        assert 0 < len(examples.weight) <= 3 * most
    assert experience.belief is not None
    assert len(experience.belief.weight) > 0
    losses = learner.learn(experience, 1, 0.0)
    learner.learn_average_belief(1, 1)
    assert all(np.isfinite(loss) for loss in losses.values())


def test_coverage() -> None:
    coverage, views = Coverage(), np.arange(12).reshape(6, 2)
    players = np.array([0, 0, 0, 1, 1, 1])
    assert not coverage.has(views, players).any()
    coverage.put(views[[1, 4, 4]], players[[1, 4, 4]])
    assert coverage.has(views, players).tolist() == [False, True, False, False, True, False]
    assert not coverage.has(views, 1 - players).any(), "of another player"

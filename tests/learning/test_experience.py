"""Where experience comes from: the searches of self-play, the size of bulk games, and what they cover."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from qdts import InputError, load_game
from qdts.games import Game
from qdts.games.interface import TERMINAL
from qdts.learning import learner
from qdts.learning.config import WHOLE_HISTORY, Config, from_dict, grown_window, preset, read_settings
from qdts.learning.experience.coverage import Coverage
from qdts.learning.experience.experience import ignore
from qdts.learning.experience.sampled import (
    MEMORY,
    MOST_GAMES,
    SampledGames,
    most_examples,
    most_games,
    next_games,
    policy_and_values,
)
from qdts.learning.experience.searched import SearchedGames, search_options, typical, visits_of
from qdts.learning.learner import Learner, plays_by
from qdts.learning.nodes.evaluation import values_at
from qdts.learning.nodes.nodes import arrive, children, queries_of
from qdts.learning.selfplay.record import load_record, save_record
from qdts.learning.selfplay.sampling import Level, sample_games
from qdts.learning.targets.belief import Moves, choose_sampled_moves
from qdts.learning.targets.policy import policy_examples, policy_targets
from qdts.nets.examples import joined
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.options.variants import Decision, Select

FEW = ["play.games=40", "belief.games=6", "fit.steps=1", "fit.rows=16", "belief.steps=1", "net.width=8"]


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


def test_moves_by_visits_are_those_of_roots_that_choose_by_puct() -> None:
    found = options("kuhn_poker", "policy.target=played-visits")
    assert (found.root_select, found.decision) == (Select.PUCT, Decision.VISITS)


def test_the_recipe_of_the_document() -> None:
    """`qdts` with intervals, moves and targets by filtered visits, outcomes, H from games without exploring."""
    config = preset("document")
    found = search_options(load_game("kuhn_poker"), config, 0.5)
    mirror = {"root_step": found.root_step, "root_temperature": found.root_temperature}
    assert found == named("qdts", decision="lcb", noise=0.25, **mirror)
    assert (found.eps_sample, found.eps_opponent) == (0.1, 0.1)
    assert (config.value.target, config.belief.source, config.belief.explore) == ("outcome", "sampled", 0.0)
    assert config.window == config.policy.window == config.value.window == WHOLE_HISTORY


@pytest.mark.parametrize("window", [1, 2, 9])
def test_p_learns_from_a_window(window: int) -> None:
    """The examples of the newest generations, and the same ones again after it was resumed from their records."""
    settings = [*FEW, "play.by=search", "search.games=6", "search.visits=2", f"policy.window={window}"]
    config = read_settings([*settings, "value.window=2"], Config())
    source = Learner(load_game("kuhn_poker"), config, 0).source
    made = [source.make(generation, 0.0, ignore) for generation in range(1, 5)]
    records = source.records  # type: ignore[attr-defined]
    assert [record.generation for record in records] == [1, 2, 3, 4][-max(window, 2) :]
    parts = [policy_examples(record.game, policy_targets(record, power=0.75)) for record in records[-window:]]
    np.testing.assert_array_equal(made[-1].policy().target, joined(parts).target)
    resumed = Learner(load_game("kuhn_poker"), config, 0).source
    resumed.resume(made[-1].metrics, records[1:] if len(records) == config.window else records)
    again, first = resumed.make(5, 0.0, ignore), source.make(5, 0.0, ignore)
    assert len(again.policy().weight) == len(first.policy().weight)
    np.testing.assert_array_equal(again.value().target, first.value().target)


def test_luck_stays_what_it_was(tmp_path: Path) -> None:
    """A source that resumes from files corrects earlier games for the luck that the networks of their time saw."""
    game = load_game("pig(winscore=6,diceoutcomes=3,horizon=12)")
    config = read_settings([*FEW, "search.games=6", "search.visits=2"], Config())
    learner = Learner(game, config, 0)
    made = []
    for generation in (1, 2):
        made.append(learner.gather(generation, 0.0))
        learner.learn(made[-1], generation, 0.0)
    records = []
    for experience in made:
        record = experience.record
        assert record is not None
        assert np.abs(record.luck[record.mover == -1]).max() > 0.0
        save_record(record, tmp_path / f"{record.generation}.safetensors")
        records.append(load_record(tmp_path / f"{record.generation}.safetensors", game))
    resumed = Learner(game, config, 0)  # with other networks
    resumed.source.resume(made[-1].metrics, records)
    again, first = resumed.gather(3, 0.0), learner.gather(3, 0.0)
    earlier = len(made[0].value().weight)
    np.testing.assert_array_equal(again.value().target[:earlier], first.value().target[:earlier])


@pytest.mark.parametrize("setting", ["value.baseline=evaluated", "net.child_values=false"])
def test_baselines_of_sampled_games(setting: str) -> None:
    """V of every child, evaluated by itself; or V of the node, where there is no V_c."""
    game = load_game("leduc_poker")
    learner = Learner(game, read_settings([*FEW, setting], Config()), 0)
    network = learner.evaluator()
    evaluated = setting == "value.baseline=evaluated"
    levels = sample_games(
        game, policy_and_values(network, evaluated=evaluated), 20, np.zeros((1, 2)), np.random.default_rng(0)
    )
    compared = 0
    for level in levels:
        for row in np.flatnonzero(level.mover != TERMINAL)[:3]:
            for player in range(2):
                node = arrive(game, level.world[[row]], np.array([player]))
                below = children(game, queries_of(game, node))
                expected = values_at(game, network, below.nodes if evaluated else node)[:, 0]
                found = level.children[row, : level.degree[row], player]
                np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-5)
                compared += 1
    assert compared > 20
    assert np.isfinite(learner.learn(learner.gather(1, 0.0), 1, 0.0)["value_loss"])


def test_children_by_the_network() -> None:
    """Every choice has a target then, the network's own V of the child."""
    learner = Learner(load_game("kuhn_poker"), read_settings([*FEW, "value.child_target=network"], Config()), 0)
    network = learner.evaluator()
    examples = learner.gather(1, 0.0).value()
    assert (examples.has_children == 1.0).all()
    below = children(learner.game, examples.queries)
    expected = values_at(learner.game, network, below.nodes)
    np.testing.assert_allclose(examples.children[below.source, below.column], expected, atol=1e-5)


def test_searched_games_give_no_estimate_of_children() -> None:
    for spec, settings in (("tic_tac_toe", []), ("kuhn_poker", ["play.by=search"])):
        config = read_settings([*FEW, *settings, "value.child_target=estimate"], Config())
        with pytest.raises(InputError, match=r"value.child_target=estimate .* expected network or auto"):
            Learner(load_game(spec), config, 0)


def test_sampled_games_need_something_hidden_and_leave_no_buffer() -> None:
    with pytest.raises(InputError, match=r"play.by=values .* tic_tac_toe does not: expected search"):
        Learner(load_game("tic_tac_toe"), read_settings([*FEW, "play.by=values"], Config()), 0)
    with pytest.raises(InputError, match=r"belief.source=buffer .* expected sampled or exact"):
        Learner(load_game("kuhn_poker"), read_settings([*FEW, "belief.source=buffer"], Config()), 0)


def test_what_a_game_is_like_decides_visits_and_noise() -> None:
    """8 visits for each legal action, and noise that is the wider the fewer there are."""
    for spec, actions, visits in (("pig", 2.0, 16), ("connect_four", 6.7, 54), ("kuhn_poker", None, 64)):
        game = load_game(spec)
        found = visits_of(game, Config())
        assert found == pytest.approx(visits, abs=2)
        assert visits_of(game, read_settings(["search.visits=5"], Config())) == 5
        if actions is None:
            assert options(spec).noise == 0.0
            continue
        like = typical(game)
        assert like.actions == pytest.approx(actions, abs=0.3)
        assert options(spec).noise == 0.25
        assert options(spec).noise_alpha == pytest.approx(10.0 / like.actions)
    assert typical(load_game("tic_tac_toe")).length == pytest.approx(7.6, abs=0.5)


def test_exploration_has_the_unit_of_the_spread() -> None:
    """c of PUCT, with perfect information; unless it is given."""
    c = Config().search.c
    assert options("pig", spread=0.05).c == pytest.approx(0.05 * c)
    assert options("pig", "policy.unit=scale", spread=0.05).c == c
    assert options("pig", "search.name=puct[c=0.7]", spread=0.05).c == 0.7
    assert options("kuhn_poker", spread=0.05).c == Options().c


@pytest.mark.parametrize(("spec", "threads"), [("tic_tac_toe", 1), ("tic_tac_toe", 2), ("pig(winscore=15)", 1)])
def test_a_generation_is_as_long_as_its_moves(spec: str, threads: int) -> None:
    """However long games are; each move is sampled several times."""
    few = ["search.moves=200", "play.batch=4", "search.visits=3", "net.width=8", "net.layers=1", "fit.rows=32"]
    learner = Learner(load_game(spec), read_settings(few, Config()), 0, threads=threads)
    for generation in (1, 2, 3):
        experience = learner.gather(generation, 0.0)
        searches = experience.metrics["searches"]
        assert searches == pytest.approx(200, rel=0.6)
        assert experience.steps == max(20, round(5 * searches / 32))
        assert len(experience.policy().weight) > (generation - 0.5) * searches * 0.5, "P learns from all of them"
        assert all(np.isfinite(loss) for loss in learner.learn(experience, generation, 0.0).values())


def test_the_window_of_games_with_their_own_trees_grows() -> None:
    config = read_settings(["value.window=3", "search.window=10"], Config())
    assert [grown_window(config, g) for g in (1, 12, 16, 39, 40, 400)] == [3, 3, 4, 9, 10, 10]
    old = from_dict({"search": {"name": "auto"}, "value": {"window": 5}})
    assert grown_window(old, 1000) == 5, "a run of an earlier version has no more records"


def test_the_unit_of_steps() -> None:
    """A step of η and a pull of α in units of the spread are η / σ and α σ in units of S."""
    plain, wide = options("kuhn_poker"), options("kuhn_poker", spread=0.25)
    assert wide.root_step == pytest.approx(4 * plain.root_step)
    assert wide.root_temperature == pytest.approx(plain.root_temperature / 4)
    assert options("kuhn_poker", "policy.unit=scale", spread=0.25).root_step == plain.root_step


@pytest.mark.parametrize("spec", ["kuhn_poker", "phantom_ttt", "goofspiel", "hearts"])
def test_bulk_games_are_held_to_memory(spec: str) -> None:
    """Long games and large worlds get fewer."""
    game, wanted = load_game(spec), 10_000
    games = most_games(game, wanted)
    size = 8 * (game.world_size + 4 * game.max_branching) + 12 * game.max_branching * game.players
    assert 100 <= games <= wanted
    assert (games == wanted) == (spec == "kuhn_poker")
    assert games * 3 * size < 2 * MEMORY
    assert plays_by(game, Config()) == "values"


def test_the_number_of_games_follows_their_histories() -> None:
    """It rises as long as these are few, and never above what they allow."""
    assert next_games(10_000, 1_000, 40_000) == 20_000
    assert next_games(10_000, 50_000, 40_000) == 8_000
    assert next_games(900_000, 58, 40_000) == MOST_GAMES
    assert next_games(1, 100, 10) == 1


def test_a_small_game_gets_more_games_each_generation() -> None:
    """And a source that resumes goes on with as many; a number that is given is kept to."""
    few = [text for text in FEW if not text.startswith("play.games")]
    learner = Learner(load_game("kuhn_poker"), read_settings(few, Config()), 0)
    first = learner.gather(1, 0.0).metrics
    second = learner.gather(2, 0.0).metrics
    assert second["games"] == 2 * first["games"]
    assert first["histories"] <= 2 * 58
    other = Learner(load_game("kuhn_poker"), read_settings(few, Config()), 0)
    other.source.resume(first, [])
    assert other.gather(2, 0.0).metrics["games"] == second["games"]
    fixed = Learner(load_game("kuhn_poker"), read_settings(FEW, Config()), 0)
    assert [fixed.gather(n, 0.0).metrics["games"] for n in (1, 2)] == [40, 40]


def test_threads_change_nothing() -> None:
    """Seats, examples and networks are independent of each other: two threads learn what one learns."""
    found = []
    for threads in (1, 2):
        learner = Learner(load_game("leduc_poker"), read_settings(FEW, Config()), 0, threads=threads)
        losses = [learner.learn(learner.gather(n, 0.0), n, 0.0) for n in (1, 2)]
        found.append((losses, learner.networks.tensors()))
    (losses, tensors), (others, same) = found
    assert losses == others
    assert all(torch.equal(tensor, same[name]) for name, tensor in tensors.items())


@pytest.mark.parametrize("spec", ["phantom_ttt", "hearts"])
def test_large_games_are_learned_from(spec: str) -> None:
    """Games, examples of all networks, and a step of each."""
    few = ["play.games=6", "belief.games=6", "fit.steps=1", "fit.rows=16", "belief.steps=1", "net.width=8"]
    learner = Learner(load_game(spec), read_settings(few, Config()), 0)
    assert isinstance(learner.source, SampledGames)
    experience = learner.gather(1, 0.0)
    most = 16
    for examples in (experience.policy(), experience.value()):
        assert 0 < len(examples.weight) <= 3 * most
    assert experience.belief is not None
    assert len(experience.belief().counted.weight) > 0
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


def test_examples_of_h_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """In hearts 400 steps of H̄ would sample from 1.4 GB of examples."""
    assert most_examples(load_game("leduc_poker"), 400 * 512) == 400 * 512
    game = load_game("hearts")
    assert most_examples(game, 400 * 512) * 32 * game.world_size < MEMORY
    wanted: list[int] = []

    def choose(game: Game, levels: Sequence[Level], most: int, stream: np.random.Generator) -> Moves:
        wanted.append(most)
        return choose_sampled_moves(game, levels, min(most, 64), stream)

    monkeypatch.setattr(learner, "choose_sampled_moves", choose)
    made = Learner(game, read_settings(["net.width=8", "net.layers=1"], preset()), 0)
    made._sampled_beliefs(made.evaluator(), 2, 400, np.random.default_rng(0))
    assert wanted == [most_examples(game, 10**9)]


@pytest.mark.parametrize(("games", "shared"), [(10_000, True), (200, False)])
def test_seats_share_a_pass_where_many_games_meet_a_history(games: int, shared: bool) -> None:
    """Then what they meet is evaluated once for all seats, from the second generation on."""
    learner = Learner(load_game("kuhn_poker"), read_settings([f"play.games={games}"], Config()), 0)
    evaluated = []
    for generation in (1, 2):
        before = learner.resources.clock.evaluations
        metrics = learner.gather(generation, 0.0).metrics
        evaluated.append(learner.resources.clock.evaluations - before)
        assert metrics["generation_games"] == games
    assert (evaluated[1] < 0.7 * evaluated[0]) == shared

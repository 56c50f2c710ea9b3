"""Learned agents: what they say, where they may stand, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qdts
from qdts import Agent, InputError, load_agent, load_game, nash_conv, play_match, read_seat, searched_policy
from qdts import openspiel as both
from qdts.games.game import Game
from qdts.learning.run import Run
from qdts.nets.checkpoint import load_checkpoint, save_checkpoint
from qdts.nets.evaluator import Network
from qdts.nets.model import make_models
from qdts.play.seats import PolicySeat, SearchSeat, evaluator_for, read_game, read_known
from qdts.rng import seeded
from qdts.search.evaluation.builtin import Playouts
from qdts.search.evaluation.evaluator import ACT, NOTHING, Query
from qdts.search.options.parsing import read_search
from qdts.solving.tree.recent import game_tree

VIEW = "deal K, deal Q, Bet"


@pytest.fixture(scope="module")
def agent(kuhn_run: Run) -> Agent:
    return load_agent(kuhn_run)


def untrained(spec: str) -> Agent:
    game = load_game(spec)
    return Agent(Network(game, *make_models(game, width=8, layers=1, trunk="mlp", towers=2)))


def test_it_is_what_the_run_measured(kuhn_run: Run, agent: Agent) -> None:
    for line in kuhn_run.metrics():
        for average, name in ((True, "nash_conv_average"), (False, "nash_conv")):
            learned = load_agent(kuhn_run.folder, generation=line["generation"], average=average)
            assert nash_conv(learned.game, learned.table()) == pytest.approx(line[name], abs=1e-9)
            assert nash_conv(learned.game, learned.rows) == pytest.approx(line[name], abs=1e-9)
    file = load_agent(str(kuhn_run.checkpoint(3)))
    np.testing.assert_array_equal(file.table().probability, agent.table().probability)
    assert agent.table().info == {
        "learned by": str(kuhn_run.folder),
        "generation": 3,
        "games": 120,
        "weights": "average",
    }
    assert {k: v for k, v in file.info.items() if k != "learned by"} == {
        k: v for k, v in agent.info.items() if k != "learned by"
    }


def test_its_policy_is_the_networks(agent: Agent) -> None:
    table = agent.table()
    for view in table.views:
        said = agent.policy(view)
        assert list(said) == agent.game.legal(view)
        assert said == table(view)
        assert sum(said.values()) == pytest.approx(1.0)
    assert agent.policy(VIEW) == table(qdts.play.state.read_state(agent.game, VIEW)[0])


@pytest.mark.parametrize("search", ["qdts", "mmds[c=0.3]", "ismcts"])
def test_it_can_search(agent: Agent, search: str) -> None:
    game = agent.game
    options = read_search(game, search)
    asked = Playouts(game, agent.table()) if search == "ismcts" else agent.evaluator
    searched = searched_policy(game, options, 12, evaluator=asked, seed=5)
    always = replace(agent, visits=12, search=search)
    np.testing.assert_array_equal(agent.table(visits=12, search=search, seed=5).probability, searched.probability)
    assert (agent.table().probability != searched.probability).any()
    for view in searched.views[::3]:
        assert agent.policy(view, visits=12, search=search, seed=5) == searched(view)
        assert always.policy(view, seed=5) == searched(view)


def test_the_search_for_networks_is_the_usual_one(agent: Agent) -> None:
    assert agent.search == "qdts-descent"
    usual, named = agent.table(visits=6, seed=2), agent.table(visits=6, search="qdts-descent", seed=2)
    np.testing.assert_array_equal(usual.probability, named.probability)
    game = load_game("tic_tac_toe")
    model, _ = make_models(game, width=8, layers=1, trunk="mlp", towers=1)
    assert Agent(Network(game, model)).search == "puct"


def test_it_draws_from_its_policy(agent: Agent) -> None:
    said = agent.policy(VIEW)
    drawn = [agent.act(VIEW, seed=seed) for seed in range(400)]
    assert drawn == [agent.act(VIEW, seed=seed) for seed in range(400)]
    for action, p in said.items():
        assert drawn.count(action) / 400 == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 400))
    assert {agent.act(VIEW) for _ in range(60)} == {*said}
    assert agent.act(VIEW, visits=4, seed=1) in said


@pytest.mark.parametrize("spec", ["kuhn_poker", "tic_tac_toe"])
def test_its_value_is_the_movers(spec: str) -> None:
    agent, number = untrained(spec), 2 if spec == "tic_tac_toe" else 0
    game = agent.game
    view, player = qdts.play.state.read_state(game, "0, 4, 8" if number else VIEW)
    assert player == 1
    legal = np.array(game.legal(view))
    query = Query(ACT, view, player, NOTHING, -1, legal, np.full(len(legal), 1 / len(legal)))
    told = agent.evaluator.evaluate(query, seeded(0)).value
    assert agent.value(view) == told[player if number else 0]
    assert len(told) == (2 if number else 1)


def test_it_is_a_seat(kuhn_run: Run, agent: Agent) -> None:
    game, random = agent.game, read_seat(agent.game, "random")
    played = play_match(game, agent, random, 40, seed=2)
    for same in (PolicySeat(agent.table()), read_seat(game, str(kuhn_run.folder))):
        np.testing.assert_array_equal(play_match(game, same, random, 40, seed=2).returns, played.returns)
    searching = read_seat(game, f"{agent.search}:6@{kuhn_run.folder}")
    assert isinstance(searching, SearchSeat)
    assert isinstance(searching.evaluator, Network)
    with_file = read_seat(game, f"{agent.search}:6@{kuhn_run.checkpoint(3)}")
    by_hand = replace(agent, visits=6)
    returns = [play_match(game, seat, random, 10).returns.tolist() for seat in (searching, with_file, by_hand)]
    assert returns[0] == returns[1] == returns[2]


def test_whom_a_search_asks(kuhn_run: Run) -> None:
    game = load_game("kuhn_poker")
    known = read_known(game, kuhn_run.folder)
    assert isinstance(known, Agent)
    assert evaluator_for(game, read_search(game, "mmds"), known) is known.evaluator
    bandit = evaluator_for(game, read_search(game, "ismcts"), known)
    assert isinstance(bandit, Playouts)
    assert bandit.policy is known.prior
    with pytest.raises(InputError, match="expected a policy file beside it"):
        evaluator_for(game, read_search(game, "qdts"), known, value_noise=0.1)
    decided = qdts.decide(game, VIEW, visits=9, policy=known, seed=4)
    assert int(decided.visits.sum()) == 9
    np.testing.assert_allclose(decided.prior, [*known.policy(VIEW).values()])


def test_a_run_may_stand_for_its_game(kuhn_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, learned = read_game(str(kuhn_run.folder))
    assert (game.spec, isinstance(learned, Agent)) == ("kuhn_poker", True)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(kuhn_run.folder, "leduc_poker")
    game, learned = read_game("leduc_poker")
    assert (game.spec, learned) == ("leduc_poker", None)
    assert read_game("./leduc_poker")[0].spec == "kuhn_poker"
    payoffs = [[1] * 20] * 9
    assert read_game(f"matrix_game(payoffs={payoffs})")[0].num_actions == 20  # too long a name for a file


def test_a_run_by_bayes_rule_has_no_h(kuhn_run: Run, agent: Agent, tmp_path: Path) -> None:
    assert agent.evaluator.belief is not None
    checkpoint = load_checkpoint(kuhn_run.checkpoint(3))
    config: dict[str, Any] = dict(checkpoint.config)
    save_checkpoint(replace(checkpoint, config=config | {"belief": {"source": "exact"}}), tmp_path / "x.safetensors")
    assert load_agent(tmp_path / "x.safetensors").evaluator.belief is None


def test_a_large_game_needs_no_table() -> None:
    agent = untrained("hearts")
    view, _ = qdts.play.state.read_state(agent.game)
    assert agent.act(view, seed=1) in agent.policy(view)
    assert agent.act(view, visits=2, seed=1) in agent.policy(view)


def test_openspiel_measures_the_same(kuhn_run: Run, agent: Agent) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    theirs, game = pyspiel.load_game("kuhn_poker"), agent.game
    true, searched = nash_conv(game, agent.table()), nash_conv(game, agent.table(visits=8))
    for given in (agent, kuhn_run, str(kuhn_run.folder), agent.table()):
        assert exploitability.nash_conv(theirs, both.policy(game, given)) == pytest.approx(true, abs=1e-6)
    searching = both.policy("kuhn_poker", replace(agent, visits=8))
    assert exploitability.nash_conv(theirs, searching) == pytest.approx(searched, abs=1e-6)
    state = theirs.new_initial_state()
    for action in (2, 1, 1):
        state.apply_action(action)
    for given in (agent, kuhn_run):
        assert dict(both.bot(game, given, 1, seed=3).get_policy(state)) == agent.policy(VIEW)
    with pytest.raises(InputError, match="run of kuhn_poker, expected leduc_poker"):
        both.policy("leduc_poker", kuhn_run)


def broken(run: Run, folder: Path, harm: Callable[[Run], object]) -> Path:
    """A copy of a run to which something happened."""
    copy = replace(run, folder=folder / "copy")
    shutil.copytree(run.folder, copy.folder)
    harm(copy)
    return copy.folder


def flip(run: Run) -> None:
    data = bytearray(run.checkpoint(3).read_bytes())
    data[-5] ^= 1
    run.checkpoint(3).write_bytes(data)


def cut(run: Run) -> None:
    run.checkpoint(3).write_bytes(run.checkpoint(3).read_bytes()[:300])


def reconfigure(run: Run, **config: Any) -> None:
    checkpoint = load_checkpoint(run.checkpoint(3))
    kept = {k: v for k, v in {**checkpoint.config, **config}.items() if v is not None}
    save_checkpoint(replace(checkpoint, config=kept), run.checkpoint(3))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda run: (run.folder / "config.json").unlink(), "is not the folder of a run: it has no config.json"),
        (lambda run: (run.folder / "config.json").write_text("{}"), "the config.json of the run .* is malformed"),
        (flip, "000003.safetensors' is damaged"),
        (cut, "000003.safetensors' is not a checkpoint made by qdts"),
        (lambda run: reconfigure(run, net=None), "has no settings 'net' and 'play', expected one of a run"),
        (lambda run: reconfigure(run, net=3), "the config of checkpoint .* is malformed"),
        (lambda run: reconfigure(run, net={"width": 5}), "the group 'average' of '.*' lacks the tensor 'body"),
        (lambda run: shutil.rmtree(run.folder / "checkpoints"), "has no checkpoint yet, expected one whose first"),
    ],
)
def test_runs_that_are_not_in_order(kuhn_run: Run, tmp_path: Path, harm: Callable[[Run], object], message: str) -> None:
    folder = broken(kuhn_run, tmp_path, harm)
    for load in (load_agent, read_game, lambda text: read_seat(load_game("kuhn_poker"), text)):
        with pytest.raises(InputError, match=message):
            load(str(folder))


def test_what_does_not_fit(kuhn_run: Run, agent: Agent, tmp_path: Path) -> None:
    folder, file = kuhn_run.folder, kuhn_run.checkpoint(3)
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: load_agent(tmp_path / "none"), "there is no file '.*none', expected a checkpoint made by qdts"),
        (lambda: load_agent(tmp_path), "is not the folder of a run"),
        (lambda: load_agent(folder, game="leduc_poker"), "is a run of kuhn_poker, expected leduc_poker"),
        (lambda: load_agent(kuhn_run, game="leduc_poker"), "is a run of kuhn_poker, expected leduc_poker"),
        (lambda: load_agent(file, game="leduc_poker"), "is a checkpoint for kuhn_poker, expected leduc_poker"),
        (lambda: load_agent(folder, generation=7), "no checkpoint of generation 7, it has those of 1, 2, 3"),
        (lambda: load_agent(file, generation=2), "generation=2 of '.*', which is one checkpoint"),
        (lambda: load_agent(folder, device="abacus"), "unknown device 'abacus'"),
        (lambda: load_agent(folder, visits=0), "visits=0 is not possible for a search"),
        (lambda: load_agent(folder, search="qdst"), "unknown search 'qdst': did you mean qdts"),
        (lambda: agent.policy(VIEW, visits=0), "visits=0 is not possible for a search"),
        (lambda: agent.policy(VIEW, search="mmds"), "the search mmds is given without visits"),
        (lambda: agent.policy("deal K"), "kuhn_poker: chance moves at"),
        (lambda: agent.policy(agent.game.initial()), "kuhn_poker: chance moves at"),
        (lambda: agent.value(np.zeros(2, np.int64)), "a world is a contiguous int64 vector"),
        (lambda: agent.act(whole_world(agent.game)), "shows what they can't know"),
        (lambda: both.policy("leduc_poker", agent), "the seat is for kuhn_poker, expected one for leduc_poker"),
        (lambda: read_seat(load_game("leduc_poker"), str(folder)), "is a run of kuhn_poker, expected leduc_poker"),
        (lambda: read_known(load_game("leduc_poker"), file), "is a checkpoint for kuhn_poker, expected leduc_poker"),
    ]
    for attempt, message in refused:
        with pytest.raises(InputError, match=message):
            attempt()


def whole_world(game: Game) -> Any:
    tree = game_tree(game)
    world = game.initial()
    while game.mover(world) < 0:
        world = game.step(world, game.chance(world)[0][0])
    assert not (tree.infosets.views == world).all(1).any()
    return world


def test_without_torch_one_sentence(kuhn_run: Run) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import qdts\n"
        "for name in ('train', 'load_agent'):\n"
        "    try: getattr(qdts, name)\n"
        "    except qdts.InputError as error: print(error)\n"
        "from qdts.cli import main\n"
        f"sys.exit(main(['match', 'kuhn_poker', {str(kuhn_run.folder)!r}, 'random', '--games', '2']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    sentence = "networks need torch, which is not installed: pip install 'qdts[nets]'"
    assert done.returncode == 2
    assert done.stdout.splitlines() == [sentence] * 2
    assert done.stderr.splitlines() == [f"qdts: {sentence}"]


def test_the_package_exports_it() -> None:
    from qdts.learning import loop

    assert (qdts.train, qdts.resume, qdts.open_run) == (loop.train, loop.resume, qdts.learning.run.open_run)
    assert {"Agent", "Run", "load_agent", "open_run", "resume", "train"} <= {*dir(qdts)}

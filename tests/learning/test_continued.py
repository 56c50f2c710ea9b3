"""Self-play with a tree for each game: by the rules, the same on any number of threads, and as its manner says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qdts import load_game
from qdts.games.interface import TERMINAL
from qdts.learning.nodes.clock import Clock
from qdts.learning.nodes.evaluation import Together, act_nodes, values_at
from qdts.learning.selfplay.continued import Manner, play_continued, sharpened
from qdts.learning.selfplay.record import COLUMNS, NO_SEARCH, NOBODY, Record
from qdts.nets.evaluator import Network
from qdts.nets.model import make_models
from qdts.search.options.named import named

MANNER = Manner(named("puct", noise=0.25, noise_alpha=2.0), 6, drawn=3, late=0.5, opening=2)
PIG = "pig(winscore=10)"


def networks(spec: str, number: int = 1, *, padded: bool = True) -> list[Network]:
    """Evaluators with the same weights, each with its own cache."""
    game = load_game(spec)
    model, _ = make_models(game, width=8, layers=1, trunk="mlp", towers=0)
    return [Network(game, model, batch=16, padded=padded, cache=64) for _ in range(number)]


def play(
    spec: str, manner: Manner = MANNER, games: int = 12, threads: int = 1, lanes: int = 4, seed: int = 5,
    padded: bool = True,
) -> Record:  # fmt: skip
    evaluators = networks(spec, threads, padded=padded)
    return play_continued(load_game(spec), evaluators, manner, games, seed, lanes=lanes, generation=3)


@pytest.mark.parametrize("spec", ["tic_tac_toe", PIG])
def test_games_follow_the_rules(spec: str) -> None:
    record = play(spec)
    game = record.game
    assert (len(record), record.generation) == (12, 3)
    searches = []
    for g in range(len(record)):
        world = game.initial()
        for t in range(record.first[g], record.first[g + 1]):
            np.testing.assert_array_equal(record.worlds[t], world)
            if record.mover[t] >= 0:
                s = int(record.search[t])
                searches.append(s)
                assert record.offset[s + 1] - record.offset[s] == len(game.legal(world))
            else:
                assert record.search[t] == NO_SEARCH
            world = game.step(world, int(record.action[t]))
        assert game.mover(world) == TERMINAL
        np.testing.assert_array_equal(record.returns[g], game.returns(world))
    assert sorted(searches) == list(range(len(record.offset) - 1)), "every move has a search of its own"


@pytest.mark.parametrize("spec", ["tic_tac_toe", PIG])
def test_neither_threads_nor_lanes_change_a_game(spec: str) -> None:
    """Searches are numbered in another order, and all else is the same, where batches are padded."""
    one = play(spec)
    for threads, lanes in ((2, 3), (3, 12), (1, 1)):
        other = play(spec, threads=threads, lanes=lanes)
        for name in ("first", "explorer", "returns", "world", "mover", "action", "explored"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
        for a, b in zip(one.search, other.search, strict=True):
            if a != NO_SEARCH:
                for name in ("visits", "q_lo", "prior", "move", "target"):
                    parts = [getattr(r, name)[r.offset[s] : r.offset[s + 1]] for r, s in ((one, a), (other, b))]
                    np.testing.assert_allclose(parts[0], parts[1], atol=1e-6, err_msg=name)


@pytest.mark.parametrize("threads", [1, 2])
def test_ragged_batches_play_the_same_games_again(threads: int) -> None:
    """With as many threads and lanes: resuming a run depends on it."""
    one, again = (play("tic_tac_toe", threads=threads, padded=False) for _ in range(2))
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name), name)


def test_another_seed_plays_other_games() -> None:
    assert not np.array_equal(play("tic_tac_toe").action, play("tic_tac_toe", seed=6).action)


def test_trees_continue_from_move_to_move() -> None:
    """A search adds its visits to those that its tree has; without reuse it begins anew."""
    record = play("tic_tac_toe")
    total = np.add.reduceat(record.visits, record.offset[:-1])
    first = record.search[record.first[:-1]]
    assert (total[first] == MANNER.visits).all()
    assert total.max() > MANNER.visits
    alone = play("tic_tac_toe", replace(MANNER, reuse=False))
    assert set(np.add.reduceat(alone.visits, alone.offset[:-1])) == {MANNER.visits}


def test_moves_are_as_the_manner_says() -> None:
    """The first are in proportion to visits, later ones sharper; some games begin with uniform moves."""
    record = play("tic_tac_toe", replace(MANNER, late=0.0), games=60)
    openings = []
    for g in range(len(record)):
        steps = range(record.first[g], record.first[g + 1])
        explored = record.explored[list(steps)]
        openings.append(int(explored.sum()))
        assert (explored[: openings[-1]] == 1).all(), "the first moves alone are uniform"
        for number, t in enumerate(steps):
            of = slice(int(record.offset[record.search[t]]), int(record.offset[record.search[t] + 1]))
            visits = record.visits[of]
            if number < MANNER.drawn:
                np.testing.assert_allclose(record.move[of], visits / visits.sum())
            else:
                assert record.move[of][np.argmax(visits)] == 1.0
                legal = record.game.legal(record.worlds[t])
                assert record.action[t] == legal[int(np.argmax(visits))]
    assert set(openings) == {0, 1, 2}
    assert openings.count(0) > 20
    assert (record.explorer == NOBODY).all()


@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
def test_a_sharper_distribution(temperature: float) -> None:
    found = sharpened(np.array([0.2, 0.4, 0.4, 0.0]), temperature)
    expected = {1.0: [0.2, 0.4, 0.4, 0.0], 0.5: [1 / 9, 4 / 9, 4 / 9, 0.0], 0.0: [0.0, 1.0, 0.0, 0.0]}
    np.testing.assert_allclose(found, expected[temperature])


def test_progress_and_clock() -> None:
    game, told, clock = load_game("tic_tac_toe"), list[int](), Clock()
    play_continued(game, networks("tic_tac_toe", 2), MANNER, 9, 0, lanes=2, clock=clock, report=told.append)
    assert told[0] == 0
    assert told[-1] == 9
    assert told == sorted(told)
    assert set(clock.spent) == {"search", "network"}
    assert clock.evaluations > 100


def test_an_error_on_one_thread_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    game, (sound, broken) = load_game("tic_tac_toe"), networks("tic_tac_toe", 2)

    def fail(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(broken, "evaluate_batch", fail)
    with pytest.raises(ValueError, match="broken"):
        play_continued(game, [sound, broken], MANNER, 50, 0, lanes=2)


def test_several_evaluators_together_are_one() -> None:
    record = play("tic_tac_toe")
    game, steps = record.game, np.arange(11)
    nodes = act_nodes(record.worlds[steps], record.mover[steps].astype(np.int64))
    [alone, *several] = networks("tic_tac_toe", 4)
    np.testing.assert_allclose(values_at(game, Together(several), nodes), values_at(game, alone, nodes), atol=1e-6)


def test_all_columns_are_recorded() -> None:
    record = play(PIG)
    assert all(len(getattr(record, name)) for name in COLUMNS if name != "luck"), "luck is found after the games"

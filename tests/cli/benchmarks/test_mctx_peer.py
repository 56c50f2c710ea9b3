"""The peer's connect four is ours."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from qdts import load_game
from qdts.cli.benchmarks import mctx_peer
from qdts.cli.benchmarks.mctx_peer import Board
from qdts.games.interface import TERMINAL
from qdts.kernels import Ints
from qdts.nets.evaluator import Network
from qdts.nets.model import PolicyValue
from qdts.rng import seeded
from qdts.search.evaluation.evaluator import ACT, NOTHING, Query

jnp = pytest.importorskip("jax.numpy")

GAMES = 100


def assert_equal(one: Board, other: Board, where: Ints) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(a)[where], np.asarray(b)[where])


def test_random_games_are_the_same() -> None:
    """Positions, full columns, features, wins and draws along random games, side by side."""
    game = load_game("connect_four")
    numbers = np.random.default_rng(0)
    worlds = [game.initial() for _ in range(GAMES)]
    board = mctx_peer.boards(game, worlds)
    ended = 0
    for _ in range(42):
        going = np.array([i for i in range(GAMES) if game.mover(worlds[i]) != TERMINAL])
        full = np.asarray(mctx_peer.full(board))
        seen = np.asarray(mctx_peer.features(board))
        actions = np.zeros(GAMES, np.int32)
        for i in going:
            assert np.flatnonzero(~full[i]).tolist() == game.legal(worlds[i])
            np.testing.assert_array_equal(seen[i], game.features(worlds[i], game.mover(worlds[i])).ravel())
            actions[i] = numbers.choice(game.legal(worlds[i]))
        board, reward = mctx_peer.step(board, jnp.asarray(actions))
        for i in range(GAMES):
            mover = game.mover(worlds[i])
            if i in going:
                worlds[i] = game.step(worlds[i], int(actions[i]))
                won = game.mover(worlds[i]) == TERMINAL and game.returns(worlds[i])[mover] == 1.0
                assert float(reward[i]) == float(won)
            else:
                assert float(reward[i]) == 0.0
        over = np.array([game.mover(w) == TERMINAL for w in worlds])
        np.testing.assert_array_equal(np.asarray(board.over), over)
        assert_equal(board._replace(over=board.over), mctx_peer.boards(game, worlds), np.flatnonzero(~over))
        ended = int(over.sum())
    assert ended == GAMES


def test_its_network_is_ours() -> None:
    game = load_game("connect_four")
    torch.manual_seed(0)
    model = PolicyValue(game, width=64, layers=1, child_values=False, trunk="mlp")
    for p in model.parameters():
        p.data.normal_(0.0, 0.1)
    numbers = [p.detach().numpy() for p in model.parameters()]
    layers = [(w.T, b) for w, b in zip(numbers[::2], numbers[1::2], strict=True)]
    world = game.initial()
    net = Network(game, model, batch=1)
    for action in (3, 3, 3, 3, 3, 3, 0):
        world = game.step(world, action)
        legal = game.legal(world)
        logits, value = mctx_peer.evaluate(layers, mctx_peer.boards(game, [world]))
        evaluation = net.evaluate(
            Query(ACT, world, game.mover(world), NOTHING, -1, np.array(legal), np.full(len(legal), 1 / len(legal))),
            seeded(0),
        )
        policy = np.exp(np.asarray(logits)[0].astype(np.float64))
        np.testing.assert_allclose(evaluation.prior, (policy / policy.sum())[legal], atol=1e-6)
        assert evaluation.value[game.mover(world)] == pytest.approx(float(value[0]), abs=1e-6)


def test_a_search_finds_a_win() -> None:
    """One column wins at once: every policy plays it most."""
    pytest.importorskip("mctx")
    game = load_game("connect_four")
    world = game.initial()
    for action in (2, 0, 2, 0, 2, 0):
        world = game.step(world, action)
    flat = [
        (np.zeros((126, 4), np.float32), np.zeros(4, np.float32)),
        (np.zeros((4, 8), np.float32), np.zeros(8, np.float32)),
    ]
    for policy in mctx_peer.POLICIES:
        found = np.asarray(mctx_peer.make_search(policy, game, [world] * 2, flat, 32)(1))
        assert found.argmax(1).tolist() == [2, 2]

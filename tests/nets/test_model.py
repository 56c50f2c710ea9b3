"""Models: the trunk that a game gets, what it computes, and that a new one says little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nets.positions import roots, trees
from qdts import load_game
from qdts.errors import InputError
from qdts.games import Game
from qdts.kernels import Reals
from qdts.nets.evaluator import Network
from qdts.nets.model import Belief, Model, PolicyValue
from qdts.nets.trunk import Conv
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named


def hidden_on_a_board() -> Game:
    """A game that hides something, its features read as a board."""
    game = load_game("kuhn_poker")
    return replace(game, feature_shape=(1, 1, game.num_features))


@pytest.mark.parametrize(
    ("spec", "trunk"), [("tic_tac_toe", "conv"), ("connect_four", "conv"), ("pig", "mlp"), ("leduc_poker", "mlp")]
)
def test_a_game_gets_its_trunk(spec: str, trunk: str) -> None:
    game = load_game(spec)
    for model in (PolicyValue(game, width=4), Belief(game, width=4)):
        assert model.trunk == trunk
        assert isinstance(model.body, Conv) == (trunk == "conv")
    assert PolicyValue(game, width=4, trunk="mlp").trunk == "mlp"


@pytest.mark.parametrize(
    ("spec", "trunk", "words"),
    [
        ("leduc_poker", "conv", r"trunk 'conv' needs .* those of leduc_poker have the shape \(\d+,\); expected 'mlp'"),
        ("tic_tac_toe", "conf", "unknown trunk 'conf': did you mean conv"),
        ("tic_tac_toe", "CNN", "the choices are auto, conv, mlp"),
    ],
)
def test_trunks_that_are_not_possible(spec: str, trunk: str, words: str) -> None:
    for make in (PolicyValue, Belief):
        with pytest.raises(InputError, match=words):
            make(load_game(spec), trunk=trunk)
    with pytest.raises(InputError, match="0 layers of 8 units"):
        PolicyValue(load_game("tic_tac_toe"), width=8, layers=0)


def convolved(x: Reals, weight: Reals, bias: Reals) -> Reals:
    """A 3×3 convolution, one cell at a time; beyond the edges lies 0."""
    _, height, columns = x.shape
    out = np.zeros((len(weight), height, columns))
    for r in range(height):
        for c in range(columns):
            out[:, r, c] = bias
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    if 0 <= r + dr < height and 0 <= c + dc < columns:
                        out[:, r, c] += weight[:, :, 1 + dr, 1 + dc] @ x[:, r + dr, c + dc]
    return out


def slow(model: Model, game: Game, row: Reals) -> Reals:
    """What a convolutional model says of one row, in double precision."""
    p = {name: tensor.double().numpy() for name, tensor in model.body.state_dict().items()}
    size = game.num_features
    x = convolved(row[:size].reshape(game.feature_shape), p["first.weight"], p["first.bias"])
    if len(row) > size:
        x += (p["beside.weight"] @ row[size:])[:, None, None]
    x = np.maximum(x, 0.0)
    for i in range(sum(name.startswith("tower") for name in p) // 2):
        x = np.maximum(x + convolved(x, p[f"tower.{i}.weight"], p[f"tower.{i}.bias"]), 0.0)
    whole = np.maximum(p["whole.weight"] @ x.ravel() + p["whole.bias"], 0.0)
    return p["last.weight"] @ whole + p["last.bias"] + p["direct.weight"] @ x.ravel()


@pytest.mark.parametrize("game", [load_game("tic_tac_toe"), load_game("connect_four"), hidden_on_a_board()], ids=str)
@pytest.mark.parametrize("layers", [1, 3])
def test_convolutions_are_those_of_the_twin(game: Game, layers: int) -> None:
    torch.manual_seed(layers)
    for model in (PolicyValue(game, width=6, layers=layers), Belief(game, width=6, layers=layers)):
        belief = isinstance(model, Belief)
        inputs = model.shape.belief_inputs if belief else model.shape.inputs
        rows = torch.rand((3, inputs))
        with torch.inference_mode():
            out = model(rows).numpy()
        assert out.shape == (3, max(1, game.num_values) if belief else model.shape.outputs)
        for row, told in zip(rows.double().numpy(), out, strict=True):
            np.testing.assert_allclose(told, slow(model, game, row), rtol=1e-4, atol=1e-5)


def test_the_trunk_sees_the_board_in_place() -> None:
    """A stone one column further to the right: before cells are joined, the same numbers one column further."""
    game = load_game("connect_four")
    torch.manual_seed(0)
    body = PolicyValue(game, width=8, layers=2).body
    assert isinstance(body, Conv)
    seen = []
    for column in (2, 3):
        features = game.features(game.step(game.initial(), column), 1)
        with torch.inference_mode():
            seen.append(body.first(torch.from_numpy(features)[None])[0].numpy())
    np.testing.assert_allclose(seen[0][:, :, 1:5], seen[1][:, :, 2:6], atol=1e-6)
    assert np.abs(seen[0] - seen[1]).max() > 0.01


@pytest.mark.parametrize("trunk", ["mlp", "conv"])
def test_a_new_model_says_little(trunk: str) -> None:
    """P nearly uniform, values nearly 0, but not the same everywhere."""
    game = load_game("connect_four")
    worlds, players = roots(game, 50)
    rows = torch.from_numpy(
        np.array([game.features(w, p).ravel() for w, p in zip(worlds, players, strict=True)], np.float32)
    )
    for seed in range(3):
        torch.manual_seed(seed)
        with torch.inference_mode():
            out = PolicyValue(game, width=32, layers=3, trunk=trunk)(rows)
        assert 0.0 < out.abs().max() < 0.5
        assert out.std(0).min() > 0.0
        assert torch.softmax(out[:, : game.num_actions], 1).max() < 0.2


def test_a_search_with_convolutions_is_the_same_in_any_company() -> None:
    game = load_game("connect_four")
    torch.manual_seed(1)
    model = PolicyValue(game, width=8, layers=2)
    with torch.no_grad():
        model.body.last.weight.mul_(20.0)  # type: ignore[operator, union-attr]  # so that it has preferences
    views, players = roots(game, 12)

    def searched(which: list[int], threads: int = 1) -> Searcher:
        searcher = Searcher(
            game, [views[i] for i in which], [players[i] for i in which], named("qdts"), Network(game, model, batch=8),
            seeds=which, threads=threads,
        )  # fmt: skip
        searcher.run(20)
        return searcher

    alone, everyone = trees(searched([5]), 0), [(i + 3) % 12 for i in range(12)]
    among, threaded = searched(everyone), searched(everyone, threads=2)
    assert trees(among, everyone.index(5)) == alone
    assert [trees(among, s) for s in range(12)] == [trees(threaded, s) for s in range(12)]
    assert len(np.unique(among.forest.prior[0, :7])) == 7


def test_beliefs_on_a_board_know_the_hole() -> None:
    """A search of a game that hides something, with convolutions for both models."""
    game = hidden_on_a_board()
    torch.manual_seed(0)
    views, players = roots(game, 4)
    net = Network(game, PolicyValue(game, width=8, layers=2), Belief(game, width=8, layers=1), batch=4)
    searcher = Searcher(game, views, players, named("qdts"), net)
    searcher.run(20)
    assert net.queries > 20
    assert all(sum(visits) >= 19 for visits in searcher.root_visits()[1])

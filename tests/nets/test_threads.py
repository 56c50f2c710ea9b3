"""The number of torch's threads for fitting."""

from __future__ import annotations

import pytest
import torch

from qdts import load_game
from qdts.nets import threads
from qdts.nets.model import make_models
from qdts.nets.threads import fastest_threads


def test_the_fastest_number_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    tried = list[int]()

    def seconds(_model: object, _inputs: object, number: int) -> float:
        tried.append(number)
        return abs(number - 4) + 1.0

    model, _ = make_models(load_game("tic_tac_toe"), width=4, layers=1, trunk="conv", towers=0)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "_seconds", seconds)
        assert fastest_threads(model, 8, 6) == 4
    assert tried == [1, 2, 4, 6]
    assert fastest_threads(model, 8, 2) in (1, 2)
    assert all(parameter.grad is None for parameter in model.parameters()), "nothing is learned by trying"
    torch.set_num_threads(before)


def test_towers_follow_from_the_game() -> None:
    """P has one of its own where something is hidden."""
    for spec, towers in (("tic_tac_toe", 1), ("kuhn_poker", 2)):
        by_default, given = (
            make_models(load_game(spec), width=4, layers=1, trunk="mlp", towers=n)[0].state_dict() for n in (0, towers)
        )
        assert by_default.keys() == given.keys()

"""Threads of torch and of the BLAS that kernels call."""

from __future__ import annotations

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from qdts import load_game
from qdts.nets import threads
from qdts.nets.model import make_models
from qdts.nets.threads import fastest_threads, one_blas_thread


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


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_block_ends() -> None:
    """Whoever entered first: blocks of several threads overlap."""
    with threadpool_limits(2, user_api="blas"):
        one_blas_thread().__enter__()  # the first use finds the libraries
        one_blas_thread().__exit__(None, None, None)
        several = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == several != {1}

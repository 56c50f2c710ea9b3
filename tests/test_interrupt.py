"""Work apart from the main thread, and the flag that stops kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from qdts import InputError, interrupt, load_game
from qdts.interrupt import apart, left_behind, stop_flag, verify_not_stopped
from qdts.solving.perfect.minmax import alpha_beta, min_max
from qdts.solving.perfect.positions import DEFAULT_LIMIT, _graph, position_graph
from qdts.solving.perfect.value_iteration import iterate
from qdts.solving.tree.enumeration import enumerate_game


def test_work_apart_gives_and_raises_as_a_call_does() -> None:
    names = apart(lambda: [threading.current_thread().name])
    assert names == [interrupt.APART]
    with pytest.raises(InputError, match="wrong"):
        apart(_fail)
    assert not left_behind()


def _fail() -> None:
    raise InputError("wrong")


def test_another_thread_works_itself() -> None:
    names: list[str] = []
    thread = threading.Thread(target=lambda: names.append(apart(lambda: threading.current_thread().name)), name="own")
    thread.start()
    thread.join()
    assert names == ["own"]


def test_ctrl_c_sets_the_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    """The main thread is interrupted as it waits; the work sees its flag and ends."""
    began, seen = threading.Event(), threading.Event()
    join = threading.Thread.join

    def interrupted(self: threading.Thread, timeout: float | None = None) -> None:
        if timeout is None and self.name == interrupt.APART:
            began.wait()
            raise KeyboardInterrupt
        join(self, timeout)

    def work() -> None:
        flag = stop_flag()
        began.set()
        while not flag[0]:
            pass
        seen.set()

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apart(work)
    assert seen.is_set()
    assert not left_behind()


@pytest.mark.parametrize(
    "work",
    [
        lambda: enumerate_game(load_game("leduc_poker")),
        lambda: _graph.__wrapped__(load_game("tic_tac_toe"), DEFAULT_LIMIT),
        lambda: min_max(load_game("tic_tac_toe")),
        lambda: alpha_beta(load_game("tic_tac_toe")),
    ],
    ids=["enumerate", "positions", "min-max", "alpha-beta"],
)
def test_a_flag_that_is_set_stops_a_kernel(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupt._local, "flag", np.ones(1, np.int64), raising=False)
    with pytest.raises(KeyboardInterrupt):
        work()
    monkeypatch.undo()
    verify_not_stopped()
    work()


def test_value_iteration_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("tic_tac_toe")
    graph = position_graph(game)
    monkeypatch.setattr(interrupt._local, "flag", np.ones(1, np.int64), raising=False)
    with pytest.raises(KeyboardInterrupt):
        iterate(game, graph, graph.probability, np.ones(2, np.bool_))

"""Memory that trees leave behind: the next ones are the same in it, whatever it holds, and never too much is kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from qdts import load_game
from qdts.search.evaluation.builtin import Playouts
from qdts.search.evaluation.evaluator import ACT, Evaluator
from qdts.search.forest.lanes import layout
from qdts.search.forest.lanes.lane import NODES
from qdts.search.forest.lanes.memory import HELD_BYTES, LEAST, LINE, WASTE, Bytes, Pool, pool
from qdts.search.forest.searcher import Searcher
from qdts.search.options.named import named
from qdts.search.options.options import Options
from qdts.search.run import run_searches
from search.comparison import assert_same
from search.naive_evaluators import Hashed
from search.samples import FOREST, first_view

LANES, VISITS = 3, 40


class Filled(Pool):
    """It gives memory that is full of something."""

    def __init__(self, fill: Callable[[int], Bytes]) -> None:
        super().__init__(0)
        self.fill = fill

    def take(self, size: int) -> Bytes:
        memory = super().take(size)
        memory[:] = self.fill(size)
        return memory


FILLS: dict[str, Callable[[int], Bytes]] = {
    "zeros": lambda size: np.zeros(size, np.int8),
    "ones": lambda size: np.ones(size, np.int8),
    "NaN and -1": lambda size: np.full(size, -1, np.int8),
    "noise": lambda size: np.random.default_rng(size).integers(-128, 128, size, np.int8),
}
OPTIONS = FOREST | {
    "widen and share": named("qdts", widen=True, share=True),
    "routes": named("qdts", ball="route"),
    "running routes": named("qdts-backprop", ball="route"),
    "mirror without step": named("mmds", step=0.0),
    "noise": named("qdts", noise=0.25),
    "first-play urgency": named("qdts", unvisited="fpu"),
}


def in_stages(spec: str, options: Options, evaluator: Evaluator) -> Searcher:
    """Searches that grow out of little room; one goes on from a later view."""
    game = load_game(spec)
    views, players = zip(*(first_view(game, 4 * s) for s in range(LANES)), strict=True)
    searcher = Searcher(game, views, players, options, evaluator, seeds=range(LANES), threads=2, first_nodes=2)
    searcher.run(VISITS)
    if game.hidden:
        f = searcher.forest
        nodes = np.arange(f.registers[0, NODES])
        own = nodes[(f.tree[0, nodes] == 0) & (f.kind[0, nodes] == ACT) & (f.evaluated[0, nodes] == 1)]
        searcher.keep(0, f.vector[0, own[-1]].copy())
    searcher.run(VISITS)
    return searcher


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("spec", ["leduc_poker", "liars_dice(dice_sides=3,split=true)", "tic_tac_toe"])
def test_what_lies_in_memory_makes_no_difference(spec: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game(spec)
    options = OPTIONS[name]
    for evaluator in (Playouts(game), Hashed(game, 1)):
        found = []
        for fill in FILLS.values():
            monkeypatch.setattr(layout, "pool", Filled(fill))
            found.append(in_stages(spec, options, evaluator))
        for s in range(LANES):
            for other in found[1:]:
                assert_same(found[0], other, s)
                assert repr(found[0].result(s)) == repr(other.result(s))


def at(memory: Bytes) -> int:
    """Where it lies."""
    return int(memory.ctypes.data)


def test_a_block_comes_back_when_its_last_view_is_gone() -> None:
    own = Pool(8 * LEAST)
    block = own.take(2 * LEAST)
    place = at(block)
    assert place % LINE == 0
    assert len(block) == 2 * LEAST
    view = block[64:].view(np.int32)[::2].reshape(-1, 2)
    del block
    assert own.held == 0
    del view
    assert own.held == 2 * LEAST + LINE
    assert at(own.take(2 * LEAST)) == place


def test_a_block_is_used_for_what_it_fits() -> None:
    own = Pool(64 * LEAST)
    blocks = [own.take(size * LEAST) for size in (9, 4, 6, 4)]
    places = [at(block) for block in blocks]
    while blocks:
        del blocks[0]
    own.take(LEAST - LINE - 1)  # too small to be kept
    assert own.held == 23 * LEAST + 4 * LINE
    same, larger, most = own.take(4 * LEAST), own.take(5 * LEAST), own.take(9 * LEAST // WASTE + LINE)
    assert [at(same), at(larger), at(most)] == [places[3], places[2], places[0]]
    assert own.held == 4 * LEAST + LINE
    assert at(own.take(LEAST)) != places[1]


def test_no_more_is_held_than_the_bound_and_all_can_be_freed() -> None:
    own = Pool(5 * LEAST)
    blocks = [own.take(size * LEAST) for size in (2, 2, 2, 6)]
    while blocks:
        del blocks[0]
        assert own.held <= own.most
    assert own.held == 0  # the largest has pushed all others out, and is too large itself
    blocks = [own.take(2 * LEAST) for _ in range(3)]
    last = at(blocks[2])
    while blocks:
        del blocks[0]
    assert own.held == 2 * (2 * LEAST + LINE)
    assert at(own.take(2 * LEAST)) == last
    own.free()
    assert own.held == 0


def test_blocks_come_back_in_the_midst_of_anything() -> None:
    """From a garbage collection while the lock is held, too: nothing waits, and nothing is lost."""
    own = Pool(8 * LEAST)
    block = own.take(2 * LEAST)
    with own._lock:
        del block
        assert own.held == 2 * LEAST + LINE
    other = own.take(4 * LEAST)
    del other
    assert own.held == 6 * LEAST + 2 * LINE


def test_threads_never_share_a_block() -> None:
    own = Pool(6 * LEAST)

    def write(number: int) -> bool:
        alone = True
        for i in range(40):
            memory = own.take(LEAST + 64 * (i % 3))
            memory[:] = number
            alone &= bool((memory == number).all())
        return alone

    with ThreadPoolExecutor(4) as workers:
        assert all(workers.map(write, range(8)))
    assert 0 < own.held <= own.most


def test_searches_take_over_the_memory_of_those_before() -> None:
    game = load_game("leduc_poker")
    view, player = first_view(game, 0)

    def search() -> list[str]:
        return [repr(r) for r in run_searches(game, [view] * 8, [player] * 8, named("qdts"), 300, threads=2)]

    gc.collect()
    pool.free()
    first = search()
    held, watched = pool.held, len(weakref.finalize._registry)  # type: ignore[attr-defined]
    assert LEAST < held <= HELD_BYTES
    for _ in range(3):
        assert search() == first
        assert pool.held == held
    assert len(weakref.finalize._registry) == watched  # type: ignore[attr-defined]
    pool.free()
    assert pool.held == 0

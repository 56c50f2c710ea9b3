"""Rules and helpers called from Python run as the functions that they were written as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from qdts import load_game
from qdts.games import one_hot, registry
from qdts.games.rules import kuhn_poker
from qdts.kernels import Ints, kernel
from qdts.testing import check_game

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "blind_mans_bluff.py"


@kernel()
def total(numbers: Ints, count: int) -> int:
    """Add the first numbers up."""
    result = 0
    for i in range(count):
        result += numbers[i]
    return result


@kernel(inline=True)
def mean(numbers: Ints, count: int) -> float:
    """Call another helper."""
    return total(numbers, count) / count


def test_helpers_take_arrays() -> None:
    numbers = np.array([1, 2, 6])
    assert total(numbers, 2) == 3
    assert mean(numbers, count=3) == 3.0
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'count'"):
        total(numbers)  # type: ignore[call-arg]


def test_rules_take_arrays() -> None:
    game = load_game("kuhn_poker")
    world, actions, chances = game.step(game.initial(), 0), np.zeros(3, np.int64), np.zeros(3)
    assert kuhn_poker.mover(game.rules, world) == game.mover(world)
    assert kuhn_poker.cards_left(game.rules, world, actions, chances) == 2
    assert list(zip(actions[:2].tolist(), chances[:2].tolist(), strict=True)) == game.chance(world)


def test_helpers_that_take_pointers_take_arrays() -> None:
    out = np.ones(4, np.float32)
    assert one_hot(out, 0, 1, 2) == 3
    assert out.tolist() == [0, 0, 1, 1]


def with_helper(folder: Path) -> Path:
    """The example with a helper in its title."""
    source = EXAMPLE.read_text(encoding="utf-8")
    file = folder / "bluff.py"
    old = "        player = view[TURN] % 2\n"
    assert source.count(old) == 1
    helper = old + "        cards_left(np.array([ranks]), view, np.zeros(ranks, np.int64), np.zeros(ranks))\n"
    file.write_text(source.replace(old, helper), encoding="utf-8")
    return file


def test_a_title_may_call_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_files", {})
    game = load_game(str(with_helper(tmp_path)), ranks=3)
    assert game.describe(game.layout.read("turn=2 cards=?Q glances=-- bets=---")) == "? against Q; to glance"
    assert check_game(game).mode == "enumerated"


def test_a_helper_does_not_end_the_process(tmp_path: Path) -> None:
    """Called first of all, before any kernel has compiled it."""
    code = (
        "import sys; from qdts import load_game; game = load_game(sys.argv[1]);"
        "print(game.describe(game.layout.read('turn=2 cards=?Q glances=-- bets=---')))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(with_helper(tmp_path))], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "? against Q; to glance\n"), done.stderr

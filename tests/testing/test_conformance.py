"""Every registered game keeps the laws, and has a golden file that says what it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qdts.games import batch, family_names, load_game
from qdts.hashing import distinct_rows
from qdts.kernels import Ints
from qdts.solving.tree.enumeration import enumerate_game
from qdts.testing import ConformanceError, Law, check_game, golden
from qdts.testing.rows import find

GOLDEN = Path(__file__).parents[1] / "golden"
SPECS = golden.registered()


@pytest.mark.parametrize("spec", SPECS)
def test_game_keeps_the_laws(spec: str) -> None:
    game = load_game(spec)
    assert game.spec == spec, "an example must be written as the game writes itself"
    file = GOLDEN / golden.file_name(spec)
    report = check_game(game, golden=file)
    if report.mode == "enumerated":
        assert f"\nhistories: {report.histories}\n" in file.read_text(encoding="utf-8"), "two ways to count them"
        assert report.completions == game.players * report.worlds


@pytest.mark.parametrize("spec", SPECS)
def test_game_keeps_the_laws_when_sampled(spec: str) -> None:
    report = check_game(load_game(spec), limit=2, samples=50)
    assert report.mode == "sampled"
    assert report.spec == spec


@pytest.mark.parametrize("name", family_names())
def test_rules_run_in_the_interpreter(name: str) -> None:
    check_game(load_game(name), limit=2, samples=10, interpreted=True)


@pytest.mark.parametrize(
    "spec",
    ["liars_dice(numdice=2)", "liars_dice(numdice=5,split=true)", "leduc_poker(players=6)", "kuhn_poker(players=10)"],
)
def test_large_games_keep_the_laws(spec: str) -> None:
    report = check_game(load_game(spec), limit=1_000)
    assert report.mode == "sampled"


@given(arrays(np.int64, st.tuples(st.integers(0, 30), st.integers(1, 3)), elements=st.integers(-1, 2)))
def test_distinct_rows(rows: Ints) -> None:
    number, first = distinct_rows(rows)
    assert (rows[first][number] == rows).all()
    assert len(np.unique(rows, axis=0)) == len(first)
    assert (np.diff(first) > 0).all()
    assert (find(rows[first], rows) == number).all()
    assert (find(rows[first], rows + 10) >= len(first)).all()


@pytest.mark.parametrize("depth", range(6))
def test_histories_are_counted_to_a_depth_and_a_limit(depth: int) -> None:
    game = load_game("leduc_poker")
    true = enumerate_game(game, max_depth=depth).num_histories
    assert batch.count_histories(game, depth, 10_000) == true
    assert batch.count_histories(game, depth, true // 2) == true // 2 + 1


def test_every_golden_file_belongs_to_a_game() -> None:
    assert {f.name for f in GOLDEN.iterdir()} == {golden.file_name(spec) for spec in SPECS}


def test_file_names_are_distinct_and_plain() -> None:
    specs = ["a", "a(b=1)", "a(b=1,c=2)", "a(b=[1,2])", "a(b=[1,-2])", "a(b=1.5)", "a(b=reset-face)"]
    names = [golden.file_name(s) for s in specs]
    assert len(set(names)) == len(specs)
    assert names[:3] == ["a.txt", "a-b-1.txt", "a-b-1-c-2.txt"]


def test_golden_names_the_first_line_that_differs(tmp_path: Path) -> None:
    game = load_game("kuhn_poker")
    text = golden.write(game)
    file = tmp_path / "kuhn_poker.txt"
    file.write_text(text.replace("histories: 58", "histories: 57"), encoding="utf-8")
    with pytest.raises(ConformanceError, match=r"line 5.*expected 'histories: 57', got 'histories: 58'") as caught:
        check_game(game, golden=file)
    assert caught.value.law == Law.GOLDEN


def test_a_missing_golden_file_fails(tmp_path: Path) -> None:
    with pytest.raises(ConformanceError, match="there is no golden file"):
        check_game(load_game("kuhn_poker"), golden=tmp_path / "none.txt")


def test_large_games_are_counted_to_a_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "FULL_LIMIT", 20_000)
    monkeypatch.setattr(golden, "PART_LIMIT", 5_000)
    text = golden.write(load_game("liars_dice"))
    assert "Counts to depth 4\nhistories: 3283\n" in text

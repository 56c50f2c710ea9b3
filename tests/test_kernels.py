"""Compiled code: shared by all games, kept between processes, never stale, and not loaded when it is not needed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event

import qdts
from qdts.code_cache import fingerprint, forget_sources
from qdts.games.defaults import one_hot
from qdts.kernels import kernel

PACKAGE = Path(qdts.__file__).parent

COMPILED = """
import json
from numba.core import event

def compiled(names):
    with event.install_recorder("numba:compile") as recorder:
        from qdts.games import load_game
        from qdts.solving.tree.enumeration import enumerate_game
        from qdts.testing import check_game
        for name in names:
            game = load_game(name)
            enumerate_game(game)
            check_game(game)
            check_game(game, limit=2, samples=10)
    functions = [e.data["dispatcher"].py_func for _, e in recorder.buffer if e.is_start]
    return [f"{f.__module__}.{f.__qualname__}" for f in functions]

print(json.dumps([compiled(["kuhn_poker"]), compiled(["matrix_game", "tree_game"])]))
"""

PLAYED = """
import json
from numba.core import event
from qdts.games import load_game
from qdts.games.playouts import play_randomly, playout_of

def compiled(work):
    with event.install_recorder("numba:compile") as recorder:
        work()
    return [e.data["dispatcher"].py_func.__name__ for _, e in recorder.buffer if e.is_start]

games = [load_game(s) for s in ("kuhn_poker", "kuhn_poker(players=3)", "phantom_ttt", "dark_hex")]
print(json.dumps([compiled(lambda: playout_of(game).address) for game in games]))
print(json.dumps([compiled(lambda: play_randomly(game, 10)) for game in [*games, load_game("kuhn_poker")]]))
"""

ASKED = """
import json
from numba.core import event
from qdts.games import load_game

with event.install_recorder("numba:compile") as recorder:
    game = load_game("matrix_game")
    world = game.initial()
    loaded = len(recorder.buffer)
    game.features(world, 0)
    game.features(world, 1)
names = [(i < loaded, e.data["dispatcher"].py_func.__name__) for i, (_, e) in enumerate(recorder.buffer) if e.is_start]
print(json.dumps([[name for before, name in names if before], [name for before, name in names if not before]]))
"""

FEATURE = """
import qdts
print(qdts.__file__)
game = qdts.load_game("matrix_game")
print(game.features(game.initial(), 0).max())
"""

BONUS = """
import own_game
from qdts.games.playouts import play_randomly
game = own_game.FAMILY.load({})
world = game.initial()
for action in (0, 1, 0, 0):
    world = game.step(world, action)
print(own_game.__file__)
print(game.returns(world).max())
print(play_randomly(game, 10, world=world).returns.max())
"""

REACHED = """
import json
from qdts.code_cache import PACKAGE, fingerprint
print(json.dumps({str(f.relative_to(PACKAGE)): fingerprint(f) for f in PACKAGE.rglob("*.py")}))
"""

SMALL = """
from small import tripled
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    print(tripled(14))
print(any(e.is_start for _, e in recorder.buffer))
"""

MODULES = "import sys; print([m for m in ('numba', 'scipy', 'torch', 'matplotlib') if m in sys.modules])"
LIGHT = f"import qdts; {MODULES[:-1]} + [m for m in ('numpy',) if m in sys.modules])"
COMMAND = """
import runpy, sys
sys.argv = ["qdts", {!r}]
try:
    runpy.run_module("qdts", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
"""


def run(code: str, cache: Path, *paths: Path) -> list[str]:
    """The lines that a program prints in a process of its own."""
    env = {
        **os.environ,
        "QDTS_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join(map(str, paths or [PACKAGE.parent])),
    }
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the package, which can be edited and isn't by anyone else."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "qdts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def test_engines_compile_once_for_all_games_and_processes(tmp_path: Path, copy: Path) -> None:
    first, second = json.loads(run(COMPILED, tmp_path, copy)[0])
    assert {
        "qdts.solving.tree.enumeration._walk",
        "qdts.games.batch._features",
        "qdts.games.rules.kuhn_poker.legal",
    } <= set(first)
    assert "qdts.games.rules.matrix_game.legal" in second
    assert [f for f in second if f.startswith(("qdts.solving.", "qdts.testing."))] == []
    assert json.loads(run(COMPILED, tmp_path, copy)[0]) == [[], []], (
        "a second process must find everything in the cache"
    )


def test_playouts_compile_once_for_all_parameters_and_their_series_for_each(tmp_path: Path, copy: Path) -> None:
    playouts, series = map(json.loads, run(PLAYED, tmp_path, copy))
    kuhn, more_players, phantom, dark = playouts
    assert [name for name in kuhn if name.startswith("_play_out")]
    assert [name for name in phantom if name.startswith("_play_out")]
    assert more_players == dark == [], "they share the rules of the game before"
    *all_games, again = series
    assert all([name for name in names if name.startswith("_play_series")] for names in all_games), "each has its own"
    assert again == []
    playouts, series = map(json.loads, run(PLAYED, tmp_path, copy))
    assert not any(playouts + series), "a second process must find them in the cache"


def test_features_compile_when_they_are_first_asked_for(tmp_path: Path, copy: Path) -> None:
    loaded, asked = json.loads(run(ASKED, tmp_path, copy)[0])
    assert "legal" in loaded
    assert "features" not in loaded
    assert asked == ["features", "one_hot"], "and what it calls"


def test_an_edit_in_another_file_of_the_package_is_seen(tmp_path: Path, copy: Path) -> None:
    cache = tmp_path / "cache"
    assert run(FEATURE, cache, copy) == [str(copy / "qdts" / "__init__.py"), "1.0"]
    edit(copy / "qdts" / "games" / "defaults.py", "out[at + value + 1] = 1.0", "out[at + value + 1] = 2.0")
    assert run(FEATURE, cache, copy)[1] == "2.0"


def test_an_edit_beside_a_game_of_ones_own_is_seen(tmp_path: Path) -> None:
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    game, helper = own / "own_game.py", own / "helper.py"
    shutil.copy(PACKAGE / "games" / "rules" / "kuhn_poker.py", game)
    edit(game, "import Field, Layout, each_player\n", "import Field, Layout, each_player\nfrom helper import bonus\n")
    edit(game, "utilities[winner] = pot - share\n", "utilities[winner] = pot - share + bonus()\n")
    helper.write_text("from qdts.kernels import kernel\n\n@kernel()\ndef bonus():\n    return 5.0\n", encoding="utf-8")
    assert run(BONUS, cache, own, PACKAGE.parent) == [str(game), "6.0", "6.0"]
    edit(helper, "5.0", "7.0")
    assert run(BONUS, cache, own, PACKAGE.parent)[1:] == ["8.0", "8.0"]


@pytest.mark.parametrize(
    "code",
    [LIGHT, COMMAND.format("--help") + LIGHT, COMMAND.format("games") + MODULES],
    ids=["import", "help", "games"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str, tmp_path: Path) -> None:
    assert run(code, tmp_path)[-1] == "[]"


def top_imports(file: Path) -> Iterator[Path]:
    """The files of the package that a file imports at its top, as Python's own parser reads it."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            at = PACKAGE.parent.joinpath(*name.split("."))
            yield from (f for f in (at.with_suffix(".py"), at / "__init__.py") if f.is_file() and PACKAGE in f.parents)


@cache
def naive_reach(file: Path) -> frozenset[Path]:
    """What a kernel of a file can reach: the file, and what its imports and theirs name."""
    found, ahead = set(), [file, PACKAGE / "kernels.py", PACKAGE / "compiler.py"]
    while ahead:
        source = ahead.pop()
        if source not in found:
            found.add(source)
            ahead += top_imports(source)
    return frozenset(found)


def test_an_edit_changes_the_folders_of_just_those_kernels_that_can_reach_it(tmp_path: Path, copy: Path) -> None:
    before = json.loads(run(REACHED, tmp_path, copy)[0])
    assert len(before) == len(list(PACKAGE.rglob("*.py")))
    for edited, reached_by_kernels in (("games/sets.py", True), ("rng.py", True), ("survey/page.py", False)):
        file = copy / "qdts" / edited
        source = file.read_bytes()
        file.write_bytes(source + b"\nEDITED = 1\n")
        after = json.loads(run(REACHED, tmp_path, copy)[0])
        file.write_bytes(source)
        changed = {name for name, digest in before.items() if after[name] != digest}
        assert changed == {name for name in before if PACKAGE / edited in naive_reach(PACKAGE / name)}
        with_kernels = {name for name in changed if "@kernel(" in (PACKAGE / name).read_text(encoding="utf-8")}
        assert bool(with_kernels) == reached_by_kernels, f"an edit of {edited} changes {with_kernels}"


def test_no_kernel_can_reach_a_front_end() -> None:
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "@kernel(" in text or "@rule\n" in text:
            rooms = {reached.relative_to(PACKAGE).parts[0] for reached in naive_reach(file)}
            assert not rooms & {"cli", "learning", "play", "survey"}, file


def test_a_package_of_ones_own_is_hashed_whole_with_what_it_imports(tmp_path: Path) -> None:
    inner = tmp_path / "mine" / "games"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").touch()
    helper, beside = inner.parent / "helper.py", tmp_path / "beside.py"
    for file in (helper, beside):
        file.write_text("x = 1\n")

    def digest() -> str:
        forget_sources()
        return fingerprint(inner / "game.py")

    before = digest()
    beside.write_text("x = 2\n")
    assert digest() == before
    helper.write_text("def later():\n    from qdts.games import sets\n")
    assert digest() != before


def test_code_that_is_old_or_that_nobody_uses_is_removed(tmp_path: Path) -> None:
    code = "from qdts.code_cache import cache_folder; print(cache_folder('{}', '{}', 'numba').name)"
    old = tmp_path / f"kernels-{'0' * 24}"
    other = tmp_path / "kernels-of-mine"
    for folder in (old, other):
        folder.mkdir()
        os.utime(folder, (0, 0))
    names = [run(code.format("search.machine", generation), tmp_path)[0] for generation in range(10)]
    [kept] = run(code.format("games.batch", 0), tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {*names[2:], kept, other.name}


def shorten(code: bytes) -> bytes:
    return code[: len(code) // 2]


def flip(code: bytes) -> bytes:
    """One bit in the middle, where the machine code is."""
    middle = len(code) // 2
    return code[:middle] + bytes([code[middle] ^ 1]) + code[middle + 1 :]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [shorten, flip, lambda _: b"", lambda _: b"nothing"])
def test_code_that_is_damaged_is_compiled_anew(kind: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    own, kept = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    source = "from qdts.kernels import kernel\n\n@kernel('int64(int64)')\ndef tripled(x):\n    return 3 * x\n"
    (own / "small.py").write_text(source, encoding="utf-8")
    assert run(SMALL, kept, own, PACKAGE.parent) == ["42", "True"]
    assert run(SMALL, kept, own, PACKAGE.parent) == ["42", "False"]
    [file] = kept.rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    assert run(SMALL, kept, own, PACKAGE.parent) == ["42", "True"]
    assert run(SMALL, kept, own, PACKAGE.parent) == ["42", "False"], "and kept again"


@kernel()
def doubled(x: int) -> int:
    return 2 * x


@kernel("int64(int64)")
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@kernel("int64(int64)")
def doubled_factorial(n: int) -> int:
    return doubled(factorial(n))


@kernel("float64(float64[::1])")
def summed(numbers: Any) -> float:
    total = 0.0
    for x in numbers:
        total += x
    return total


def test_a_kernel_compiles_when_it_is_called_by_python_or_by_a_kernel_or_by_itself() -> None:
    assert doubled_factorial(5) == 240
    assert factorial(5) == 120


def test_python_runs_a_helper_as_it_is_written() -> None:
    assert doubled(3) == 6
    assert one_hot(out := np.ones(3, np.float32), 0, 1, 2) == 3
    assert out.tolist() == [0.0, 0.0, 1.0]


def test_threads_may_call_a_kernel_for_the_first_time_at_once() -> None:
    with event.install_recorder("numba:compile") as recorder, ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(summed, [np.full(3, float(k)) for k in range(16)]))
    assert sums == [3.0 * k for k in range(16)]
    assert len([e for _, e in recorder.buffer if e.is_start]) <= 1, "by one of them alone, or taken from the cache"

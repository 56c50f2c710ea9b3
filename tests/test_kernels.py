"""Compiled code: shared by all games, kept between processes, never stale, and not loaded when it is not needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import qdts
from qdts.kernels import cache_folder

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

MODULES = "import sys; print([m for m in ('numba', 'numpy', 'scipy') if m in sys.modules])"
HELP = f"""
import runpy, sys
sys.argv = ["qdts", "--help"]
try:
    runpy.run_module("qdts", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
{MODULES}
"""


def run(code: str, cache: Path, *paths: Path) -> list[str]:
    """The lines that a program prints in a process of its own."""
    env = {**os.environ, "QDTS_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(map(str, paths))}
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
    assert {"qdts.solving.tree._walk", "qdts.games.batch._features", "qdts.games.rules.kuhn_poker.legal"} <= set(first)
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
    assert asked == ["features"]


def test_an_edit_in_another_file_of_the_package_is_seen(tmp_path: Path, copy: Path) -> None:
    cache = tmp_path / "cache"
    assert run(FEATURE, cache, copy) == [str(copy / "qdts" / "__init__.py"), "1.0"]
    edit(copy / "qdts" / "games" / "defaults.py", "out[at + value + 1] = 1.0", "out[at + value + 1] = 2.0")
    assert run(FEATURE, cache, copy)[1] == "2.0"


def test_an_edit_beside_a_game_of_ones_own_is_seen(tmp_path: Path) -> None:
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    game, helper = own / "own_game.py", own / "helper.py"
    shutil.copy(PACKAGE / "games" / "kuhn_poker.py", game)
    edit(game, "import Field, Layout\n", "import Field, Layout\nfrom helper import bonus\n")
    edit(game, "utilities[winner] = pot - share\n", "utilities[winner] = pot - share + bonus()\n")
    helper.write_text("from qdts.kernels import kernel\n\n@kernel()\ndef bonus():\n    return 5.0\n", encoding="utf-8")
    assert run(BONUS, cache, own, PACKAGE.parent) == [str(game), "6.0", "6.0"]
    edit(helper, "5.0", "7.0")
    assert run(BONUS, cache, own, PACKAGE.parent)[1:] == ["8.0", "8.0"]


@pytest.mark.parametrize("code", [f"import qdts\n{MODULES}", HELP], ids=["import", "help"])
def test_nothing_heavy_is_imported_before_it_is_needed(code: str, tmp_path: Path) -> None:
    assert run(code, tmp_path)[-1] == "[]"


def test_a_package_of_ones_own_is_hashed_whole(tmp_path: Path) -> None:
    inner = tmp_path / "mine" / "games"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").touch()
    helper, beside = inner.parent / "helper.py", tmp_path / "beside.py"
    for file in (helper, beside):
        file.write_text("x = 1\n")

    def name() -> str:
        cache_folder.cache_clear()
        return cache_folder(inner).name

    before = name()
    beside.write_text("x = 2\n")
    assert name() == before
    helper.write_text("x = 2\n")
    assert name() != before

"""What a run compiles before it learns: all that it needs, by several processes, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdts.kernels import CachedKernel
from qdts.learning.compilation import KERNELS, named

LEARN = """
import json, sys
from numba.core import event
from qdts.cli import main
from qdts.kernels import CachedKernel

changes = ("play.games=4", "fit.rows=1", "search.visits=4", "measure.seeds=1", "measure.visits=4")
settings = [word for change in changes for word in ("--set", change)]
with event.install_recorder("numba:compile") as recorder:
    assert main(["train", "kuhn_poker", "--generations", "1", "--out", sys.argv[1], *settings]) == 0
here = {e.data["dispatcher"].py_func.__qualname__ for _, e in recorder.buffer if e.is_start}
kernels = [k for name, m in list(sys.modules.items()) if name.startswith("qdts.") for k in vars(m).values()]
called = {f"{k.__module__}.{k.__name__}" for k in kernels if isinstance(k, CachedKernel) and k.is_made}
print(json.dumps([sorted(here), sorted(called)]))
"""

FEW = """
import json
from numba.core import event
from qdts.learning import compilation

compilation.KERNELS = ("games.batch._movers", "games.batch._step", "games.batch._holes")
compilation._cores = lambda: {cores}
{change}
reports = []
with event.install_recorder("numba:compile") as recorder:
    compilation.compile_ahead(lambda *report: reports.append(report))
kept = [compilation.named(name).is_kept() for name in compilation.KERNELS]
print(json.dumps([reports, kept, len(recorder.buffer) > 0]))
"""


def run(code: str, cache: Path, *arguments: str) -> list[object]:
    """What a program prints on its last line, in a process of its own."""
    env = {**os.environ, "QDTS_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_listed_can_be_compiled_ahead(name: str) -> None:
    assert isinstance(named(name), CachedKernel)


@pytest.mark.slow
def test_a_run_compiles_nothing_large_once_what_is_listed_is_compiled(tmp_path: Path) -> None:
    run(LEARN, tmp_path / "cache", str(tmp_path / "first"))
    here, called = run(LEARN, tmp_path / "cache", str(tmp_path / "second"))
    assert here == [], "a second process finds everything in the cache"
    assert called == sorted(f"qdts.{name}" for name in KERNELS), "what is listed is what is called"


@pytest.mark.parametrize(
    ("cores", "change", "in_this_process"),
    [
        (2, "", False),
        (1, "", True),
        (2, "compilation.SERVE = 'raise SystemExit(1)'", True),
    ],
    ids=["two", "alone", "failing"],
)
def test_processes_share_out_what_is_missing(cores: int, change: str, in_this_process: bool, tmp_path: Path) -> None:
    code = FEW.format(cores=cores, change=change)
    assert run(code, tmp_path) == [[[k, 3] for k in range(4)], [True] * 3, in_this_process]
    assert run(code, tmp_path) == [[], [True] * 3, False], "nothing is missing any more"

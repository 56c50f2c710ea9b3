"""Runs: wherever one is killed, it goes on as if nothing had happened; and they learn."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from qdts import InputError
from qdts.learning import loop, measuring, run
from qdts.learning.learner import Learner
from qdts.learning.loop import Nobody, resume, train
from qdts.learning.metrics import Line
from qdts.learning.run import Run, is_kept, open_run
from qdts.learning.selfplay import record
from qdts.nets import checkpoint
from qdts.nets.checkpoint import load_checkpoint

GENERATIONS, WINDOW = 8, 3
TINY = [
    "play.by=search", "search.games=20", "play.batch=16", "belief.games=20", "search.visits=4", "fit.steps=2",
    "fit.rows=16", "belief.steps=2", "net.width=8", "net.layers=1", "measure.visits=2", f"value.window={WINDOW}",
]  # fmt: skip
KILLER = Path(__file__).with_name("killer.py")


class Snapshots(Nobody):
    """Copies the folder after every generation."""

    def __init__(self, run_: Path, into: Path) -> None:
        self.run, self.into = run_, into

    def done(self, metrics: Line, progress: float) -> None:  # noqa: ARG002
        shutil.copytree(self.run, self.into / str(metrics["generation"]))


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was left alone, beside copies of what it was after each generation."""
    folder = tmp_path_factory.mktemp("unbroken")
    watch = Snapshots(folder / "run", folder)
    train("kuhn_poker", generations=GENERATIONS, seed=5, out=folder / "run", settings=TINY, watch=watch)
    return folder / "run"


def timeless(lines: list[Line]) -> list[Line]:
    return [{key: value for key, value in line.items() if key not in ("seconds", "memory")} for line in lines]


def names(folder: Path) -> list[str]:
    return sorted(str(f.relative_to(folder)) for f in folder.rglob("*"))


def assert_same(folder: Path, other: Path) -> None:
    """Lines but for time and memory, files, weights, optimiser's state and games are equal; each generation is once."""
    one, two = open_run(folder), open_run(other)
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["generation"] for line in lines] == [line["generation"] for line in two.metrics()]
    assert timeless(one.metrics()) == timeless(two.metrics())
    assert names(folder) == names(other)
    for number in two.checkpoints():
        a, b = (load_checkpoint(r.checkpoint(number)) for r in (one, two))
        assert timeless([dict(a.metrics)]) == timeless([dict(b.metrics)])
        assert a.tensors.keys() == b.tensors.keys()
        assert all(torch.equal(tensor, b.tensors[name]) for name, tensor in a.tensors.items())
    for number in run._numbers(other / "records"):
        assert one.record(number).read_bytes() == two.record(number).read_bytes()


def copied(unbroken: Path, generation: int, folder: Path) -> Path:
    """The run as it was after some generation."""
    shutil.copytree(unbroken.parent / str(generation), folder)
    return folder


def test_what_a_folder_holds(unbroken: Path) -> None:
    assert [line["generation"] for line in open_run(unbroken).metrics()] == list(range(1, GENERATIONS + 1))
    kept = [f"checkpoints/{n:06d}.safetensors" for n in (1, 2, 3, 4, 6, 7, 8)]
    records = [f"records/{n:06d}.safetensors" for n in (6, 7, 8)]
    other = [".lock", "checkpoints", "config.json", "metrics.jsonl", "records", "report.html"]
    assert names(unbroken) == sorted(kept + records + other)
    assert [n for n in range(1, 40) if is_kept(n)] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]


@pytest.mark.parametrize("generation", range(1, GENERATIONS))
def test_a_run_goes_on_from_any_generation(generation: int, unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, generation, tmp_path / "run")
    assert len(resume(folder).metrics()) == GENERATIONS
    assert_same(folder, unbroken)


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a game with perfect information, with a window that grows."""
    folder = tmp_path_factory.mktemp("perfect")
    settings = [
        "search.moves=60", "play.batch=4", "search.visits=3", "fit.steps=2", "fit.rows=16", "net.width=8",
        "net.layers=1", "net.trunk=mlp", "value.window=1", "measure.most=0", "measure.games=0",
    ]  # fmt: skip
    watch = Snapshots(folder / "run", folder)
    train("tic_tac_toe", generations=13, seed=5, out=folder / "run", settings=settings, watch=watch)
    return folder / "run"


@pytest.mark.parametrize("generation", [1, 8, 12])
def test_a_run_of_games_with_their_own_trees_goes_on(generation: int, perfect: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(perfect.parent / str(generation), tmp_path / "run")
    resume(folder)
    assert_same(folder, perfect)
    assert [n for n in range(1, 14) if (perfect / "records" / f"{n:06d}.safetensors").exists()] == [11, 12, 13]


def test_a_run_with_a_larger_budget_goes_on(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, GENERATIONS, tmp_path / "run")
    assert len(resume(folder, generations=GENERATIONS + 2).metrics()) == GENERATIONS + 2
    assert resume(folder).checkpoints()[-1] == GENERATIONS + 2, "nothing is left to do"


class Crash(BaseException):
    """As if the process had been killed: nothing but what is on the disk counts any more."""


def crash(*_: Any, **__: Any) -> Any:
    raise Crash


def half_written(path: Path, write: Callable[[Any], object]) -> None:
    """Half of a temporary file is there when the process ends."""
    with (path.parent / f".{path.name}.k1ll3d").open("wb") as file:
        write(file)
        file.truncate(file.tell() // 2)
    raise Crash


def half_a_line(run_: Run, metrics: Line) -> None:
    with (run_.folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(metrics)[:70])
    raise Crash


CRASHES: dict[str, tuple[Any, str, Any]] = {
    "in self-play": (Learner, "gather", crash),
    "in a record": (record, "write_whole", half_written),
    "in fitting": (Learner, "learn", crash),
    "in measuring": (measuring, "exact_measures", crash),
    "before the checkpoint": (loop, "save_checkpoint", crash),
    "in the checkpoint": (checkpoint, "write_whole", half_written),
    "after the checkpoint": (Run, "append_metrics", crash),
    "in the metrics": (Run, "append_metrics", half_a_line),
    "before forgetting": (Run, "forget", crash),
    "before the report": (loop, "write_report", crash),
    "while going on": (Run, "mend", crash),
    "while mending": (run, "write_whole", half_written),
    "in the report": (loop, "write_report", lambda r: half_written(r.report, lambda file: file.write(b"<html>"))),
}


FIRST = ["in a record", "in the checkpoint", "in the metrics", "while mending"]


@pytest.mark.parametrize(("where", "after"), [(w, 0) for w in FIRST] + [(w, 5) for w in CRASHES])
def test_a_crash_leaves_no_trace(
    where: str, after: int, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed in the generation after some one, and resumed; and killed once more in the same place."""
    folder = tmp_path / "run"
    if after:
        copied(unbroken, after, folder)
    else:
        with monkeypatch.context() as patch:
            patch.setattr(loop, "_continue", crash)
            with pytest.raises(Crash):
                train("kuhn_poker", generations=GENERATIONS, seed=5, out=folder, settings=TINY)
    monkeypatch.setattr(Learner, "warm_up", lambda _: None)
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(*CRASHES[where])
            with pytest.raises(Crash):
                resume(folder)
    resume(folder)
    assert_same(folder, unbroken)


def test_a_killed_process_leaves_no_trace(tmp_path: Path) -> None:
    """Killed by the system at random moments, again and again, a run comes to the same end as one left alone."""
    done = subprocess.run(
        [sys.executable, str(KILLER), str(tmp_path), "12", *TINY], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)
    assert len(kills) >= 6
    assert len(set(kills)) >= 3, "after different generations"
    assert_same(tmp_path / "killed", tmp_path / "alone")


def test_strays_and_torn_lines_are_mended(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    for name in ("checkpoints/.000006.safetensors", "records/.000006.safetensors", ".report.html", ".metrics.jsonl"):
        (folder / f"{name}.k1ll3d").write_bytes(b"half")
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"generation": 5, "games": 100}\n{"generation": 6, "ga\xc3')
    resume(folder)
    assert_same(folder, unbroken)


def test_metrics_that_are_lost_or_double_are_mended_from_the_checkpoint(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join([*lines[:4], lines[3], "[]\n", "\n", '{"generation": "5"}\n']))
    resume(folder)
    assert_same(folder, unbroken)


def test_two_processes_never_learn_in_one_folder(unbroken: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(unbroken, folder)
    before = (folder / "metrics.jsonl").read_bytes()
    with run.held(folder), pytest.raises(InputError, match=r"another process is learning in '.*run'"):
        resume(folder, generations=GENERATIONS + 1)
    assert (folder / "metrics.jsonl").read_bytes() == before
    assert resume(folder, generations=GENERATIONS + 1).checkpoints()[-1] == GENERATIONS + 1


def test_without_the_newest_record_a_run_resumes_from_the_checkpoint_before(unbroken: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(unbroken, folder)
    newest = open_run(folder).checkpoints()[-1]
    open_run(folder).record(newest).write_bytes(b"torn")
    hint = rf"; without '.*{newest:06d}.safetensors' the run resumes from generation {newest - 1}$"
    with pytest.raises(InputError, match=rf"is not a record of self-play.*{hint}"):
        resume(folder, generations=newest)
    open_run(folder).checkpoint(newest).unlink()
    assert resume(folder, generations=newest).checkpoints()[-1] == newest


def test_a_missing_record_is_reported(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    before = (folder / "metrics.jsonl").read_bytes()
    (folder / "records" / "000005.safetensors").unlink()
    with pytest.raises(InputError, match=r"there is no file '.*000005.safetensors', expected a record"):
        resume(folder)
    assert (folder / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_a_damaged_checkpoint_is_reported_and_can_be_removed(how: str, unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    last = open_run(folder).checkpoint(5)
    data = bytearray(last.read_bytes())
    data[-40] ^= 4
    last.write_bytes(data[: len(data) // 2] if how == "cut" else data)
    before = {name: (folder / name).read_bytes() for name in names(folder) if (folder / name).is_file()}
    with pytest.raises(InputError, match=r"000005.safetensors'.*without this file the run resumes from generation 4$"):
        resume(folder)
    assert before == {name: (folder / name).read_bytes() for name in before}
    last.unlink()
    resume(folder)
    assert_same(folder, unbroken)


def disk_full(path: Path, write: Callable[[Any], object]) -> None:
    raise InputError(f"cannot write '{path}': No space left on device")


FULL_DISKS: dict[str, tuple[Any, str]] = {
    "a record": (record, "write_whole"),
    "a checkpoint": (checkpoint, "write_whole"),
}


@pytest.mark.parametrize("what", FULL_DISKS)
def test_a_full_disk_is_reported(what: str, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(*FULL_DISKS[what], disk_full)
        with pytest.raises(InputError, match="No space left on device"):
            resume(folder)
    resume(folder)
    assert_same(folder, unbroken)


def test_a_full_disk_while_metrics_are_written(unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied(unbroken, 5, tmp_path / "run")
    real = os.fsync

    def full(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").resolve().name == "metrics.jsonl":
            os.ftruncate(handle, os.fstat(handle).st_size - 30)
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"cannot write '.*metrics.jsonl': No space left on device"):
            resume(folder)
    resume(folder)
    assert_same(folder, unbroken)


def test_a_run_killed_before_its_configuration_was_written_can_begin_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.json.abc").write_bytes(b"{")
    train("kuhn_poker", generations=1, out=folder, settings=TINY)
    shutil.rmtree(folder / "checkpoints")
    shutil.rmtree(folder / "records")
    assert resume(folder).checkpoints() == [1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"minutes": 1.0, "generations": 2}, "both given"),
        ({"minutes": 0.0}, "minutes=0.0 is not possible"),
        ({"minutes": float("nan")}, "minutes=nan is not possible"),
        ({"generations": 0}, "generations=0 is not possible"),
        ({"generations": 1, "seed": -1}, "seed=-1 is not possible"),
        ({"generations": 1, "settings": ["search.visit=3"]}, "did you mean search.visits"),
    ],
)
def test_what_is_not_possible_is_refused(asked: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        train("kuhn_poker", out=tmp_path / "run", **asked)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_run_is_refused(unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it has no config"):
        resume(tmp_path)
    with pytest.raises(InputError, match=r"is not an empty folder.*--resume"):
        train("kuhn_poker", generations=1, out=unbroken)
    for asked, words in (
        ({"minutes": 1.0}, "budget of 8 generations"),
        ({"generations": 0}, "generations=0 is not possible"),
        ({"generations": -4}, "generations=-4 is not possible"),
    ):
        with pytest.raises(InputError, match=words):
            resume(unbroken, **asked)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "qdts"},
        {"format_version": 2},
        {"game": "leduc"},
        {"game_version": 0},
        {"seed": "x"},
        {"seed": None},
        {"generations": None},
        {"generations": 0},
        {"generations": "8"},
        {"minutes": 1.0},
        {"config": []},
        {"config": {"net": 3}},
        {"config": {"net": {"width": "wide"}}},
        {"config": {"net": {"widths": 8}}},
        {"config": {"measure": {"visits": ["a"]}}},
    ],
)
def test_another_configuration_is_refused(change: dict[str, Any], unbroken: Path, tmp_path: Path) -> None:
    data = json.loads((unbroken / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(data | change))
    with pytest.raises(InputError):
        open_run(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"x"', "\0\1", "{}"])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(InputError):
        open_run(tmp_path)


def test_kuhn_poker_is_learned_by_search(tmp_path: Path) -> None:
    """Far below 0.917, the NashConv of uniform play."""
    settings = [
        "play.by=search", "search.games=400", "belief.games=400", "search.visits=16", "net.width=32", "fit.rows=256",
        "fit.steps=30", "belief.steps=20", "measure.visits=4", "policy.unit=scale", "policy.step=1",
        "policy.step_last=0.5", "policy.temperature=0.2", "policy.temperature_last=0.1", "policy.uniform=1",
        "policy.uniform_last=1", "policy.power=0.5",
    ]  # fmt: skip
    found = train("kuhn_poker", generations=30, seed=1, out=tmp_path / "run", settings=settings).metrics()
    assert found[0]["nash_conv"] > 0.4
    assert found[-1]["nash_conv_average"] < 0.25
    assert found[-1]["value_error"] < 0.1
    assert found[-1]["belief_error"] < 0.2


def test_kuhn_poker_is_learned(tmp_path: Path) -> None:
    settings = ["play.games=2000", "net.width=32", "fit.rows=128", "measure.visits=4"]
    found = train("kuhn_poker", generations=160, seed=1, out=tmp_path / "run", settings=settings).metrics()
    assert found[-1]["nash_conv_average"] < 0.05
    assert found[-1]["value_error"] < 0.05
    assert found[-1]["belief_error"] < 0.1
    assert found[-1]["coverage"] == 1.0


BULK = [*TINY[3:], "play.games=200", "belief.games=200"]
"""Games that are sampled in bulk."""


@pytest.mark.parametrize("where", ["in self-play", "in fitting", "in the checkpoint", "in the metrics"])
def test_a_crash_leaves_no_trace_of_sampled_games(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, folder = tmp_path / "left", tmp_path / "run"
    train("leduc_poker", generations=4, seed=5, out=left, settings=BULK, watch=Snapshots(left, tmp_path))
    shutil.copytree(tmp_path / "2", folder)
    with monkeypatch.context() as patch:
        patch.setattr(*CRASHES[where])
        with pytest.raises(Crash):
            resume(folder)
    resume(folder)
    assert_same(folder, left)
    assert not list((folder / "records").iterdir())

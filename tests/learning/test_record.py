"""Records: what is written is read back, and nothing else is accepted."""

from __future__ import annotations

import errno
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from learning.samples import SPECS, sample
from qdts import InputError, load_game
from qdts.files import write_whole
from qdts.learning.selfplay import record as module
from qdts.learning.selfplay.record import COLUMNS, Record, load_record, save_record

Columns = dict[str, Any]


def assert_equal(one: Record, other: Record) -> None:
    assert (one.game.spec, one.generation) == (other.game.spec, other.generation)
    for name in COLUMNS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, name)


@pytest.mark.parametrize("spec", SPECS)
def test_round_trip(spec: str, tmp_path: Path) -> None:
    path = tmp_path / "r.safetensors"
    save_record(sample(spec), path)
    again = load_record(path, load_game(spec))
    assert_equal(again, sample(spec))
    before = path.read_bytes()
    save_record(again, path)
    assert path.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["r.safetensors"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a good file."""
    path = tmp_path_factory.mktemp("whole") / "r.safetensors"
    save_record(sample("leduc_poker", 12), path)
    return path.read_bytes()


def refused(path: Path, words: str, spec: str = "leduc_poker") -> bool:
    """Whether a file is refused in one sentence that names it."""
    with pytest.raises(InputError, match=words) as told:
        load_record(path, load_game(spec))
    return str(path) in str(told.value) and "\n" not in str(told.value)


def test_other_files(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "r.safetensors"
    assert refused(path, "there is no file")
    path.mkdir()
    assert refused(path, "not a record")
    path = tmp_path / "other"
    for data in (b"", b"hello", b"\0" * 100, b"\xff" * 100, whole[8:], json.dumps({"format": "qdts-record"}).encode()):
        path.write_bytes(data)
        assert refused(path, "not a record")
    path.write_bytes(whole)
    assert refused(path, "leduc_poker version 1, expected qdts-record 1 to 2 of kuhn_poker", "kuhn_poker")
    for meta in (None, {}, {"qdts": "no JSON"}, {"qdts": "[]"}, {"qdts": "[1]"}, {"qdts": '"x"'}, {"qdts": "{}"}):
        path.write_bytes(safetensors.numpy.save({"x": np.zeros(3)}, meta))
        assert refused(path, "not a record" if meta != {"qdts": "{}"} and meta != {"qdts": "[]"} else "None")


def test_a_file_cut_short(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "r.safetensors"
    for size in np.random.default_rng(1).integers(0, len(whole), 100):
        path.write_bytes(whole[:size])
        assert refused(path, "not a record")


def test_a_flipped_bit(tmp_path: Path, whole: bytes) -> None:
    """Never unnoticed, and never another exception; in the padding of the header it changes nothing."""
    path = tmp_path / "r.safetensors"
    numbers, game = np.random.default_rng(2), load_game("leduc_poker")
    header = int.from_bytes(whole[:8], "little")
    places = [*range(8), *numbers.integers(8, 8 + header, 300), *numbers.integers(8 + header, len(whole), 300)]
    noticed = 0
    for at in places:
        data = bytearray(whole)
        data[at] ^= 1 << int(numbers.integers(8))
        path.write_bytes(data)
        try:
            assert_equal(load_record(path, game), sample("leduc_poker", 12))
            assert at < 8 + header
        except InputError:
            noticed += 1
    assert noticed > 500


def rewritten(path: Path, data: bytes, *, sealed: bool = True, **changes: Any) -> None:
    """Write a file with other entries of the JSON; the digest fits if it is to be sealed."""
    columns = safetensors.numpy.load(data)
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    meta = json.loads(header["__metadata__"]["qdts"]) | {"sha256": ""} | changes
    if sealed and meta["sha256"] == "":
        meta["sha256"] = module._digest(json.dumps(meta), columns)
    path.write_bytes(safetensors.numpy.save(columns, {"qdts": json.dumps(meta)}))


def test_other_meta_data(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "r.safetensors"
    for changes, words in (
        ({"format": "qdts-run"}, "holds qdts-run 2"),
        ({"format_version": 3}, "holds qdts-record 3"),
        ({"format_version": "1"}, "holds qdts-record 1"),
        ({"game": "goofspiel"}, "of goofspiel version 1"),
        ({"game_version": 99}, "version 99, expected"),
        ({"generation": "7"}, "malformed"),
        ({"generation": None}, "malformed"),
        ({"generation": True}, "malformed"),
        ({"sha256": 5}, "malformed"),
        ({"sha256": "0" * 64}, "damaged"),
    ):
        rewritten(path, whole, **changes)
        assert refused(path, words)
    rewritten(path, whole, sealed=False)
    assert refused(path, "damaged")
    rewritten(path, whole, generation=8)
    assert load_record(path, load_game("leduc_poker")).generation == 8


def put(name: str, at: Any, value: Any) -> Callable[[Columns], None]:
    def change(columns: Columns) -> None:
        columns[name] = columns[name].copy()
        columns[name][at] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda c: c.update(mover=c["mover"].astype(np.int32)),
            "column 'mover' .* is int32 with 1 axes, expected int8",
        ),
        (lambda c: c.update(world=c["world"].reshape(-1)), "column 'world'"),
        (lambda c: c.update(world=c["world"][:, 1:].copy()), "do not fit together"),
        (lambda c: c.update(action=c["action"][1:].copy()), "do not fit together"),
        (lambda c: c.update(returns=c["returns"][:, :1].copy()), "do not fit together"),
        (lambda c: c.update(first=c["first"][:0].copy()), "do not fit together"),
        (lambda c: c.update(offset=c["offset"][:0].copy()), "do not fit together"),
        (put("first", 1, 0), "rules"),
        (put("first", 1, -3), "do not fit together"),
        (put("first", -1, 10**9), "do not fit together"),
        (put("offset", 1, 10**9), "do not fit together"),
        (put("search", 3, 10**6), "do not fit together"),
        (put("world", (5, 3), 100), "do not fit together"),
        (put("world", (5, 3), -1), "rules"),
        (put("mover", 4, 1), "rules"),
        (put("mover", 4, 50), "rules"),
        (put("action", 4, 10**9), "rules"),
        (put("action", 4, -7), "rules"),
        (put("search", 4, -1), "rules"),
        (put("search", 0, 0), "rules"),
        (put("returns", (3, 0), 0.25), "rules"),
        (lambda c: c.update(luck=np.zeros((3, 2))), "do not fit together"),
        (lambda c: c.update(luck=np.full((len(c["action"]), 2), np.nan)), "do not fit together"),
    ],
)
def test_columns_that_do_not_fit(change: Callable[[Columns], None], words: str, tmp_path: Path) -> None:
    """Even with the right digest: what is read is safe to give to kernels."""
    columns = {name: getattr(sample("leduc_poker", 12), name) for name in COLUMNS}
    change(columns)
    path = tmp_path / "r.safetensors"
    save_record(replace(sample("leduc_poker", 12), **columns), path)
    assert refused(path, words)


def test_luck_is_kept_and_older_files_have_none(tmp_path: Path) -> None:
    """A file of format version 1 is read as a record whose luck nobody has asked for."""
    path, record = tmp_path / "r.safetensors", sample("leduc_poker", 12)
    with_luck = replace(record, luck=np.random.default_rng(0).normal(size=(len(record.action), 2)))
    save_record(with_luck, path)
    assert_equal(load_record(path, record.game), with_luck)
    columns = safetensors.numpy.load(path.read_bytes())
    del columns["luck"]
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])
    meta = json.loads(header["__metadata__"]["qdts"]) | {"sha256": "", "format_version": 1}
    meta["sha256"] = module._digest(json.dumps(meta), columns)
    path.write_bytes(safetensors.numpy.save(columns, {"qdts": json.dumps(meta)}))
    assert_equal(load_record(path, record.game), record)


def test_a_missing_column(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "r.safetensors"
    columns = safetensors.numpy.load(whole)
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    path.write_bytes(safetensors.numpy.save({k: v for k, v in columns.items() if k != "move"}, header["__metadata__"]))
    assert refused(path, "column 'move' .* is missing")


class Full:
    """A file on a disk that is full after so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, data: bytes) -> int:
        self.file.write(data[: self.room])
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk(tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence; what stood there before still does, and nothing else is left behind."""
    path = tmp_path / "r.safetensors"
    path.write_bytes(whole)

    def full(path: Path, write: Callable[[Any], object]) -> None:
        write_whole(path, lambda file: write(Full(file, 1000)))

    monkeypatch.setattr(module, "write_whole", full)
    for target in (path, tmp_path / "new.safetensors"):
        with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
            save_record(sample("leduc_poker", 20), target)
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    monkeypatch.setattr(module, "write_whole", write_whole)
    with pytest.raises(InputError, match=r"cannot write .*: No space left"):
        save_record(sample("leduc_poker", 20), path)
    assert [f.name for f in tmp_path.iterdir()] == ["r.safetensors"]
    assert path.read_bytes() == whole

"""Files that are locked."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path

import pytest

from qdts.files import lock


def test_a_lock_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("ab") as first:
        assert lock(first)
        with path.open("ab") as second:
            assert not lock(second)
        first.write(b"text")
    assert path.read_bytes() == b"text"
    with path.open("ab") as third:
        assert lock(third)


@pytest.mark.parametrize(("number", "locked"), [(errno.EAGAIN, False), (errno.EACCES, False), (errno.ENOTSUP, True)])
def test_a_file_system_without_locks_is_no_other_process(
    number: int, locked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (tmp_path / "file").open("ab") as file:
        assert lock(file) == locked

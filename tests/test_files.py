"""Files that are locked."""

from __future__ import annotations

from pathlib import Path

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

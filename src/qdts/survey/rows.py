"""The rows of a survey, each a line of JSON, in files that are only ever appended to.

The rows of a cell are written by one call. If it is cut short, the last line has no end: reading skips it, and the next
call to append removes it. So a survey that was killed continues where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from qdts.errors import InputError
from qdts.files import lock


@dataclass(frozen=True)
class QError:
    """The error of Q of the root's visited children, in units of S."""

    bias: float
    """The mean error of the middle of Q."""
    rms: float
    """The root of its mean square."""
    spread: float | None
    """The standard deviation over seeds; None with one seed."""
    width: float
    """The mean length of the interval."""


class Key(NamedTuple):
    """What a row was measured with."""

    game: str
    policy: str
    """The policy that the search knows, by its name in the survey."""
    noise: str
    """The errors of V, V_c and H, by their name in the survey."""
    draw: int
    """The seed of those errors."""
    search: str
    visits: int
    seeds: tuple[int, ...]
    """Seeds of the searches; with several, the policy is the average of theirs."""


@dataclass(frozen=True)
class Row:
    """One measurement."""

    key: Key
    nash_conv: float
    """NashConv of the policy that the search plays."""
    before: float | None
    """NashConv of the policy that the search knows."""
    milliseconds: float
    """CPU time of one search, on average."""
    q: QError | None
    """None where no policy is known."""


FIGURES = tuple(f.name for f in fields(Row) if f.name != "key")


def read_rows(files: Iterable[Path]) -> dict[Key, Row]:
    """All rows of some files by their keys; of two with the same key the later counts. A missing file has none."""
    rows = {}
    for file in files:
        for number, line in enumerate(_whole(file).splitlines(), 1):
            row = _read(line, f"line {number} of '{file}'")
            rows[row.key] = row
    return rows


@contextmanager
def appending(file: Path) -> Iterator[Callable[[Iterable[Row]], None]]:
    """A function that appends rows to a file, which is locked meanwhile."""
    kept = len(_whole(file))
    try:
        out = file.open("ab")
    except OSError as error:
        raise InputError(f"cannot write '{file}': {error.strerror or error}") from error

    def append(rows: Iterable[Row]) -> None:
        out.write("".join(json.dumps(_as_data(row), allow_nan=False) + "\n" for row in rows).encode())
        out.flush()
        os.fsync(out.fileno())

    with out:
        if not lock(out):
            raise InputError(f"another survey appends to '{file}', expected a file for each part")
        out.truncate(kept)
        yield append


def _whole(file: Path) -> bytes:
    """A file up to the end of its last whole line; nothing where there is no file."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"cannot read '{file}': {error.strerror or error}") from error
    return text[: text.rfind(b"\n") + 1]


def _as_data(row: Row) -> dict[str, Any]:
    data = asdict(row)
    return {**row.key._asdict(), **{name: data[name] for name in FIGURES}}


def _read(line: bytes, where: str) -> Row:
    try:
        data = json.loads(line)
        key = Key(**{name: data[name] for name in Key._fields})._replace(seeds=tuple(data["seeds"]))
        q = None if data["q"] is None else QError(**data["q"])
        return Row(key=key, **{**{name: data[name] for name in FIGURES}, "q": q})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where} is not a row of a survey ({error!r}), expected lines that qdts survey wrote"
        ) from None

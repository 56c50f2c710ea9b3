"""Figures that are kept in a file of their own, a line of JSON for each cell of a table, wherever it was made.

A table takes days of CPU time. Its runs are removed, or made on several machines; what they showed is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from qdts.errors import InputError
from qdts.files import write_whole

Line = Mapping[str, Any]


def read_kept(file: Path) -> list[Line]:
    """The lines of a file; none if it is not there."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read '{file}': {error}") from error
    lines: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise InputError(f"line {number} of '{file}' is no JSON ({error}), expected a cell") from error
        if not isinstance(data, dict):
            raise InputError(f"line {number} of '{file}' is {line[:40]}, expected a cell: an object of JSON")
        lines.append(data)
    return lines


def keep(file: Path, lines: Iterable[Line], name: Callable[[Line], str]) -> None:
    """Put lines into a file, sorted by name, in the place of those that have the same name."""
    before = read_kept(file)
    after = {name(line): line for line in (*before, *lines)}
    ordered = [after[key] for key in sorted(after)]
    if ordered == before:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in ordered)
    write_whole(file, lambda out: out.write(text.encode()))

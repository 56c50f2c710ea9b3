"""What commands write: to the terminal, and to files that must be writable before work begins."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdts.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Standard output, with colours where it is a terminal."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(data: dict[str, Any]) -> None:
    """Exactly one JSON object."""
    print(json.dumps(data, indent=2, allow_nan=False))


def check_writable(path: Path) -> None:
    """Raise an InputError unless a file can be written there."""
    if path.is_dir():
        raise InputError(f"cannot write '{path}': it is a folder, expected a file")
    if not path.parent.is_dir():
        raise InputError(f"cannot write '{path}': there is no folder '{path.parent}'")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from error


def number(value: float) -> str:
    """Three significant digits."""
    return f"{value:.3g}"

"""The examples in docstrings run, and give what they show."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import qdts
from qdts.games import registry
from qdts.learning.run import Run

PACKAGE = Path(qdts.__file__).parent
EXAMPLES = sorted(file for file in PACKAGE.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8"))


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [module_name(file) for file in EXAMPLES])
def test_examples_of_a_module(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kuhn_run: Run) -> None:
    """In a folder of their own, where they may write files; games that they register are forgotten.

    `run` is a run of Kuhn poker.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(
        importlib.import_module(name), extraglobs={"run": kuhn_run, "qdts": qdts}, optionflags=flags
    )
    assert result.attempted > 0, "no docstring holds the example: doctest looks at those of the module's own objects"
    assert result.failed == 0

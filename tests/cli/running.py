"""Run a command in this process, and check what it prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qdts.cli import main

Output = pytest.CaptureFixture[str]


def run_json(capsys: Output, *arguments: str) -> dict[str, Any]:
    """What a command with --json prints: exactly one object."""
    assert main([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    data = json.loads(printed.out)
    assert isinstance(data, dict)
    return data


def run_text(capsys: Output, *arguments: str) -> str:
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def check_failure(capsys: Output, arguments: list[str], *words: str) -> None:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("qdts: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    for word in words:
        assert word in printed.err

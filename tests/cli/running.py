"""Run a command, and check what it prints or how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

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


HEED_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""The start of a script that is to be interrupted: a process begun in the background of a shell ignores Ctrl-C."""


class Ended(NamedTuple):
    """A process that has ended."""

    code: int
    out: str
    err: str
    """Standard error after Ctrl-C."""


def interrupt(script: str, *arguments: str, after: Callable[[str], bool]) -> Ended:
    """Run a script in a new process, and send Ctrl-C after a certain line on its standard error."""
    command = [sys.executable, "-c", HEED_CTRL_C + script, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline()]
        while not after(lines[-1]):
            assert process.poll() is None, "".join(lines)
            lines.append(process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "qdts: stopped by Ctrl-C"
    return Ended(process.returncode, out, err)

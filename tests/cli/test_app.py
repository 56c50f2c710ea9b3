"""The command line as a whole: help, start-up, wrong input, pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from cli.running import Output, check_failure, run_text
from qdts.cli import main
from qdts.cli.app import COMMANDS
from qdts.games import registry


def test_help_and_import_load_nothing_heavy() -> None:
    code = (
        "import sys, qdts; from qdts.cli import main; main(['--help']);"
        "print({'numpy', 'numba', 'scipy', 'matplotlib', 'torch'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


BENCHES = [["bench", name] for name in ("solve", "games", "search", "selfplay")]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS if name != "bench"), *BENCHES], ids=" ".join)
def test_help_has_examples(command: list[str], capsys: Output) -> None:
    text = run_text(capsys, *command, "--help")
    assert "Examples" in text
    assert f"qdts {' '.join(command)}".strip() in text


def test_a_command_imports_no_other() -> None:
    code = (
        "import sys; from qdts.cli import main; main(['games', '--help']);"
        "print(*(name for name in sys.modules if name.startswith('qdts.cli.commands.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.splitlines()[-1].split()} == {
        f"qdts.cli.commands.{name}" for name in ("arguments", "exit_codes", "games")
    }


def test_future_warnings_are_notes(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn() -> list[str]:
        warnings.warn("search.old is called\nsearch.new", FutureWarning, stacklevel=2)
        warnings.warn("something else", UserWarning, stacklevel=2)
        return []

    before = warnings.showwarning
    monkeypatch.setattr(registry, "family_names", warn)
    with pytest.warns(UserWarning, match="something else"):
        assert main(["games"]) == 0
    assert capsys.readouterr().err == "qdts: note: search.old is called search.new\n"
    assert warnings.showwarning is before


def test_what_a_terminal_cannot_print_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    arguments = [sys.executable, "-m", "qdts", "solve", "leduc_poker", "--iterations", "20"]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    assert "J?/? | to open" in done.stdout


def test_without_a_command_it_says_what_there_is(capsys: Output) -> None:
    assert "solve" in run_text(capsys)
    assert re.fullmatch(r"qdts \d+\.\d+\.\d+\n", run_text(capsys, "--version"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "leduk_poker"], ["leduk_poker", "did you mean leduc_poker"]),
        (["games", "khun_poker"], ["did you mean kuhn_poker"]),
        (["solve", "kuhn_poker(player=3)"], ["player", "did you mean players"]),
        (["solve", "kuhn_poker(players=99)"], ["players=99", "from 2 to 10"]),
        (["solve", "kuhn_poker(players=3"], ["closing bracket"]),
        (["solve", "kuhn_poker", "--algorithm", "cfr++"], ["cfr++", "did you mean cfr+"]),
        (["solve", "kuhn_poker", "--algorithm", "alpha-beta"], ["perfect information"]),
        (["solve", "kuhn_poker", "--algorithm", "lp", "--plot", "curve.png"], ["--plot", "lp"]),
        (["solve", "kuhn_poker", "--iterations", "0"], ["--iterations", "1"]),
        (["solve", "kuhn_poker", "--iterations", "many"], ["--iterations"]),
        (["solve", "kuhn_poker", "--tolerance", "-1"], ["--tolerance"]),
        (["solve", "kuhn_poker", "--tolerance", "nan"], ["tolerance"]),
        (["solve", "kuhn_poker", "--plot", "curve.txt"], ["curve.txt", ".png"]),
        (["solve", "kuhn_poker", "--out", "no/such/folder/file.npz"], ["no/such/folder"]),
        (["solve", "kuhn_poker", "--out", "."], ["folder"]),
        (["solve", "kuhn_poker", "--sede", "1"], ["--sede"]),
        (["solve", "kuhn_poker", "--solver", "cfr"], ["--solver", "did you mean --algorithm?"]),
        (["nashconv", "kuhn_poker", "--quick"], ["--quick; the options are --policy, --method"]),
        (["solve"], ["GAME"]),
        (["slove", "kuhn_poker"], ["slove"]),
        (["policy", "no_such_file.npz"], ["no_such_file.npz"]),
        (["nashconv", "kuhn_poker", "--method", "swep"], ["swep", "sweep", "enumerate"]),
        (["nashconv", "kuhn_poker", "--memory", "0"], ["--memory 0.0", "GiB"]),
        (["nashconv", "kuhn_poker", "--memory", "nan"], ["--memory nan"]),
        (["nashconv", "kuhn_poker", "--method", "sweep", "--memory", "0.000001"], ["1,073 bytes", "at least"]),
        (["nashconv", "kuhn_poker", "--policy", "no_such_file.npz"], ["no_such_file.npz"]),
        (["bench", "solve", "--repeats", "0"], ["--repeats"]),
        (["bench", "search", "--game", "kuhn_poker", "--search", "uct"], ["uct", "kuhn_poker", "ismcts"]),
        (["bench", "search", "--game", "nothing"], ["nothing", "--search"]),
    ],
    ids=lambda x: " ".join(x) if x else "",
)
def test_wrong_input_gives_one_sentence(arguments: list[str], words: list[str], capsys: Output) -> None:
    check_failure(capsys, arguments, *words)


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -u -m qdts games | true", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


FULL = Path("/dev/full")
SPEAKING = (
    *(["--help"], ["--version"], ["games"], ["games", "--json"], ["solve", "kuhn_poker", "--iterations", "20"]),
    *(["solve", "kuhn_poker", "--iterations", "20", "--json"], ["check", "kuhn_poker"], ["nashconv", "kuhn_poker"]),
    *(["walk", "kuhn_poker", "--random"], ["search", "kuhn_poker", "--visits", "20"]),
)


@pytest.mark.skipif(not FULL.exists(), reason="there is no file that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", SPEAKING, ids=" ".join)
def test_a_full_disk_behind_standard_output_gives_one_sentence(arguments: list[str], unbuffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "qdts", *arguments]
    with FULL.open("w") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("qdts: cannot write standard output")
    assert done.stderr.endswith(": No space left on device\n")
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_a_working_directory_that_is_gone_gives_one_sentence(tmp_path: Path) -> None:
    command = f'cd "{tmp_path}" && rmdir "{tmp_path}" && "{sys.executable}" -m qdts solve kuhn_poker'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "qdts: the working directory does not exist any more: change to another one\n"


def test_a_compiler_that_is_switched_off_gives_one_sentence() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "qdts", "solve", "kuhn_poker"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("qdts: NUMBA_DISABLE_JIT switches numba's compiler off")
    assert done.stderr.count("\n") == 1

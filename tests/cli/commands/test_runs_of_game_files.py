"""A run of a game from a file: it stands for its game wherever a run can, by the file that it remembers."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import pytest

from cli.running import Output, check_failure
from qdts import InputError, load_agent, load_game, open_run, train
from qdts.cli import main
from qdts.games import registry
from qdts.games.remembered import recall, remember
from qdts.notes import Note

SOURCE = """
from dataclasses import replace

from qdts.games import Family, Parameter
from qdts.games.rules import kuhn_poker


def build(spec, players):
    return replace(kuhn_poker.build(spec, players), name="own_kuhn", version=1)


FAMILY = Family("own_kuhn", "a copy", (Parameter("players", 2, "how many", low=2, high=4),), build)
"""
TINY = (
    *("net.width=8", "net.layers=1", "search.visits=2", "play.games=20", "belief.games=20", "belief.steps=2"),
    *("fit.steps=2", "fit.rows=16", "measure.visits=2"),
)
RUN, FILE = "runs/own", "own.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game's file, and a run that has learned it."""
    folder = tmp_path_factory.mktemp("made")
    (folder / FILE).write_text(SOURCE, encoding="utf-8")
    train(load_game(str(folder / FILE)), generations=2, out=folder / RUN, settings=TINY)
    return folder


@pytest.fixture(autouse=True)
def forgotten(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy to stand in, in a process that knows only the package's games."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    forget(monkeypatch)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget all games from files, as a new process would."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_files", {})


def change(path: str = FILE) -> None:
    Path(path).write_text(SOURCE + "\n# changed\n", encoding="utf-8")


COMMANDS = [
    ["search", RUN, "--visits", "4"],
    ["evaluate", RUN, "--visits", "2", "--checkpoints", "2"],
    ["nashconv", RUN],
    ["policy", RUN],
    ["match", RUN, RUN, f"qdts-descent:2@{RUN}", "--games", "4"],
    ["train", "--resume", RUN, "--generations", "3"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_finds_its_game(command: list[str], capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    note = f"qdts: note: '{RUN}' is of a game from a file, which is run: {Path(FILE).resolve()}\n"
    assert main([*command, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["game"] == "own_kuhn"
    assert printed.err == note
    Path(FILE).rename("moved.py")
    forget(monkeypatch)
    check_failure(capsys, command, f"'{RUN}' is of own_kuhn", "own.py' is gone", "--game FILE")
    assert main([*command, "--game", "moved.py", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["game"] == "own_kuhn"
    assert printed.err == ""
    change("moved.py")
    forget(monkeypatch)
    assert main([*command, "--game", "moved.py", "--json"]) == 0
    assert "qdts: note: " in capsys.readouterr().err


def test_a_changed_file_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    change()
    with pytest.raises(InputError, match=r"own\.py' has changed since: its SHA-256 is .*, expected .*; --game '"):
        load_agent(RUN)
    assert registry._files == {}
    game = load_game(FILE)
    with pytest.warns(Note, match="began with another version of the file of own_kuhn"):
        agent = load_agent(RUN, game=game)
    assert agent.game is game
    Path(FILE).write_text(SOURCE.replace("version=1", "version=2"), encoding="utf-8")
    forget(monkeypatch)
    with pytest.raises(InputError, match=r"version 1 of own_kuhn, expected version 2"):
        load_agent(RUN, game=FILE)


def test_a_resumed_run_remembers_the_file_that_was_named(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    change()
    assert main(["train", "--resume", RUN, "--game", FILE, "--json"]) == 0
    capsys.readouterr()
    forget(monkeypatch)
    with pytest.warns(Note, match=r"which is run: .*own\.py"):
        assert open_run(RUN).game.spec == "own_kuhn"


def test_a_run_moves_with_its_file(tmp_path: Path) -> None:
    assert json.loads(Path(RUN, "config.json").read_text(encoding="utf-8"))["game_file"]["path"] == "../../own.py"
    Path.cwd().rename(tmp_path / "there")
    with pytest.warns(Note, match="there"):
        assert load_agent(tmp_path / "there" / RUN).game.spec == "own_kuhn"


def test_a_loaded_game_is_not_run_again() -> None:
    game = load_game(FILE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_run(RUN).game is game


def test_parameters_are_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    here, spec = Path.cwd(), "own_kuhn(players=3)"
    remembered = remember(load_game(f"{FILE}(players=3)"), here)
    assert remembered is not None
    assert remembered["path"] == FILE
    assert remember(load_game("kuhn_poker"), here) is None
    forget(monkeypatch)
    with pytest.warns(Note, match=r"own\.py"):
        assert recall(remembered, here, spec).spec == spec
    forget(monkeypatch)
    change()
    with pytest.raises(InputError, match=r"--game '.*own\.py\(players=3\)'"):
        recall(remembered, here, spec)
    Path(FILE).unlink()
    with pytest.raises(InputError, match=r"is gone: --game 'FILE\(players=3\)'"):
        recall(remembered, here, spec)


def test_runs_without_a_file_load_as_before(capsys: Output) -> None:
    """Those of earlier versions do not remember it; a single checkpoint never does."""
    config = Path(RUN, "config.json")
    data = json.loads(config.read_text(encoding="utf-8"))
    del data["game_file"]
    config.write_text(json.dumps(data), encoding="utf-8")
    for source in (RUN, f"{RUN}/checkpoints/000002.safetensors"):
        check_failure(capsys, ["search", source], "unknown game 'own_kuhn'", "with a run or a policy file: --game")
        assert main(["search", source, "--game", FILE, "--visits", "2", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["game"] == "own_kuhn"
        registry._files.clear()
        registry._registered.clear()


def test_what_does_not_fit(capsys: Output) -> None:
    check_failure(capsys, ["search", "kuhn_poker", "--game", FILE], "which is no run", "expected it beside a run")
    check_failure(capsys, ["search", RUN, "--game", "kuhn_poker"], "is a run of own_kuhn, expected kuhn_poker")
    check_failure(capsys, ["train", FILE, "--game", FILE], "both given")
    config = Path(RUN, "config.json")
    data = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**data, "game_file": {"path": FILE}}), encoding="utf-8")
    check_failure(capsys, ["search", RUN], "config.json", "malformed")

"""Games of one's own, from files: what is loaded, what is refused, and `qdts check` on them."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qdts
from qdts import InputError, load_game, load_policy, save_policy, uniform_policy
from qdts.cli import main
from qdts.code_cache import fingerprint, forget_sources
from qdts.games import find_family, registry
from qdts.games.registry import parse_spec
from qdts.testing import check_game

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "blind_mans_bluff.py"
ENVIRONMENT = dict(os.environ)
COPY = """
from dataclasses import replace

from qdts.games import Family, Parameter
from qdts.games.rules import kuhn_poker


def build(spec, players):
    return replace(kuhn_poker.build(spec, players), name="my_kuhn", version=1)


FAMILY = Family("my_kuhn", "a copy", (Parameter("players", 2, "how many", low=2, high=4),), build)
"""

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No games but the package's, a cache of its own, and an empty folder to stand in."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_files", {})
    monkeypatch.setenv("QDTS_CACHE_DIR", str(tmp_path / "cache"))
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)


def written(name: str, source: str = COPY) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(source, encoding="utf-8")
    return name


@pytest.mark.parametrize("name", ["./my.py", "my.py", "games (old)/my.py", "a.b/my-own game.py"])
def test_a_path_is_a_name(name: str) -> None:
    written(name)
    assert load_game(name).spec == "my_kuhn"
    assert load_game(f"{name}(players=3)").spec == "my_kuhn(players=3)"
    assert load_game(name, players=3).players == 3
    assert load_game(str(Path(name).resolve())) is load_game(name) is load_game("my_kuhn")
    assert find_family(name) is find_family("my_kuhn")
    with pytest.raises(InputError, match="players=9 is not possible, expected a whole number from 2 to 4"):
        load_game(f"{name}(players=9)")


def test_paths_and_parameters() -> None:
    assert parse_spec("./a(b).py(c=[1,2])") == ("./a(b).py", {"c": "[1,2]"})
    assert parse_spec("kuhn_poker(players=3)") == ("kuhn_poker", {"players": "3"})
    assert parse_spec("game(word=x.py)") == ("game", {"word": "x.py"})
    with pytest.raises(InputError, match="no closing bracket"):
        parse_spec("./my.py(players=3")


def test_a_changed_file_is_run_again_and_only_then() -> None:
    written("my.py", COPY + "\nprint('run')")
    first = find_family("my.py")
    assert find_family("my.py") is first
    written("my.py", COPY.replace("version=1", "version=2"))
    assert load_game("my.py").version == load_game("my_kuhn").version == 2


def test_modules_beside_the_file_can_be_imported() -> None:
    written("beside_it.py", COPY)
    before = [*sys.path]
    assert load_game(written("my.py", "from beside_it import FAMILY")).spec == "my_kuhn"
    assert sys.path == before
    del sys.modules["beside_it"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1", ["my.py' has no FAMILY"]),
        ("FAMILY = 'kuhn'", ["FAMILY in", "my.py' is of type str, expected a qdts.Family"]),
        ("def f(:\n    pass", ["my.py, line 1: SyntaxError: invalid syntax"]),
        ("x = 1\ny = 1 / 0", ["my.py, line 2: ZeroDivisionError: division by zero"]),
        ("import no_such_module", ["my.py, line 1: ModuleNotFoundError", "no_such_module"]),
        ("import sys\nsys.exit(3)", ["my.py, line 2: SystemExit: 3"]),
        ("x = '\0'", ["my.py", "null"]),
        (COPY.replace('Family("my_kuhn"', 'Family("kuhn_poker"'), ["my.py: a game named 'kuhn_poker' comes with qdts"]),
        (COPY.replace("def build(spec, players)", "def build(spec)"), ["my_kuhn can't be built", "players"]),
        (COPY.replace("version=1", "version=1 / 0"), ["my_kuhn can't be built", "my.py, line 9: ZeroDivisionError"]),
        (COPY.replace('name="my_kuhn", ', ""), ["build gives name='kuhn_poker'", "expected 'my_kuhn'"]),
    ],
)
def test_wrong_files_are_told_in_one_sentence(source: str, words: list[str], capsys: Output) -> None:
    written("my.py", source)
    modules = {*sys.modules}
    assert main(["solve", "./my.py", "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert all(word in printed.err for word in words), printed.err
    if "my_kuhn" not in source:
        assert not [m for m in {*sys.modules} - modules if m.startswith("my_")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./no_such.py", "there is no file"),
        ("no/such/game", "there is no file"),
        ("./no_such.py(players=3)", "no_such.py', expected the Python file of a game"),
        ("../home/", "is a folder, expected the Python file of a game"),
        ("no_such", "a game of your own is given by its file, ./no_such.py"),
    ],
)
def test_missing_files(name: str, words: str, capsys: Output) -> None:
    for command in ("solve", "check", "games"):
        assert main([command, name, "--json"]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert words in printed.err


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("turn = world[TURN]\n", "turn = wrld[TURN]\n", ["the rule 'mover' does not compile", "my.py, line", "'wrld'"]),
        (
            "for i in range(COMPONENTS):",
            "for i in range(len(world)):",
            ["'initial'", "can be indexed and nothing else"],
        ),
        ("def legal(rules: Ints, world: Ints,", "def legal(rules: Ints,", ["it takes 2 arguments, expected 3"]),
        ("@kernel()\n", "", ["'cards_left'", "a helper is decorated with @kernel()"]),
        ("    return NO_HOLE\n", "", ["the rule 'hole'", "every path through the rule must return what it promises"]),
        ("@rule\ndef mover", "def mover", ["'mover' is not compiled: decorate it with @rule"]),
        ("@rule\ndef mover", "@rule\ndef midway", ["rules are missing: mover"]),
        ("def redact", "def redakt", ["line", "@rule on 'redakt': expected one of initial, mover"]),
    ],
)
def test_rules_that_do_not_compile(right: str, wrong: str, words: list[str]) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    assert right in source
    written("my.py", source.replace(right, wrong, 1))
    with pytest.raises(InputError) as caught:
        load_game("./my.py")
    assert all(word in str(caught.value) for word in words), caught.value


def line_of(source: str, text: str) -> int:
    """The number of the first line that holds a text."""
    return next(i for i, line in enumerate(source.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("right", "wrong", "rule", "words"),
    [
        ("    world[TURN] = turn + 1", "    world[TURN] = trun + 1", "step", "NameError: name 'trun' is not defined"),
        ("cards[count] = card\n", "cards[cnt] = card\n", "chance", "NameError: name 'cnt' is not defined"),
        ("cards[count] = card\n", "cards[count] = card.rank\n", "chance", "Unknown attribute 'rank' of type int64"),
        ("    count = 0\n", "    print('left')\n    count = 0\n", "chance", "a rule can't print"),
        ("    stake = 1.0\n", "    stake = 1.0\n    print(stake)\n", "returns", "a rule can't print"),
        ("    stake = 1.0\n", "    raise ValueError\n", "returns", "a rule can't raise or assert"),
        ("    count = 0\n", "    assert rules[RANKS] > 2\n    count = 0\n", "chance", "a rule can't raise or assert"),
    ],
)
def test_a_fault_in_a_rule_is_named_with_its_line(right: str, wrong: str, rule: str, words: str) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    assert right in source
    wrongly = source.replace(right, wrong, 1)
    line = line_of(wrongly, next(part for part in wrong.splitlines() if part not in right))
    written("my.py", wrongly)
    with pytest.raises(InputError) as caught:
        load_game("./my.py")
    assert f"the rule '{rule}' does not compile: {Path('my.py').resolve()}, line {line}: {words}" in str(caught.value)


def test_a_fault_in_a_helper_from_another_file_is_named_there() -> None:
    written("helpers.py", "from qdts.kernels import kernel\n\n\n@kernel()\ndef twice(x):\n    return x.two\n")
    source = EXAMPLE.read_text(encoding="utf-8").replace("    stake = 1.0\n", "    stake = helpers.twice(0.5)\n", 1)
    written("my.py", source.replace("import numpy as np\n", "import helpers\nimport numpy as np\n", 1))
    with pytest.raises(InputError, match=r"the rule 'returns' does not compile: .*helpers.py, line 6: Unknown"):
        load_game("./my.py")
    del sys.modules["helpers"]


def test_decorators_with_and_without_brackets() -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    assert load_game(written("my.py", source.replace("@rule\n", "@rule()\n"))).spec == "blind_mans_bluff"
    written("my.py", source.replace("@kernel()", "@kernel"))
    with pytest.raises(InputError, match=r"line \d+: TypeError: @kernel on 'cards_left'.* decorated with @kernel\(\)"):
        load_game("./my.py")


def test_what_a_file_prints_is_no_part_of_the_transcript() -> None:
    written("my.py", COPY + "\nprint('loaded')\n")
    assert main(["check", "./my.py"]) == 0


def test_a_rule_that_fails_as_plain_python_is_named_with_its_line(capsys: Output) -> None:
    """Compiled, this division is infinite; in Python it is an error."""
    source = EXAMPLE.read_text(encoding="utf-8")
    wrong = source.replace("    stake = 1.0\n", "    stake = 1.0 / (COMPONENTS - 8)\n", 1)
    written("my.py", wrong)
    assert main(["check", "./my.py", "--json"]) == 1
    law = json.loads(capsys.readouterr().out)["laws"][-1]
    where = f"{Path('my.py').resolve()}, line {line_of(wrong, 'COMPONENTS - 8')}"
    assert (law["law"], law["fault"]) == (
        "guard",
        f"returns fails: {where}: ZeroDivisionError: float division by zero",
    )


@pytest.mark.parametrize(("kind", "number"), [("action", 1), ("outcome", 2)])
def test_names_that_stand_for_two_moves_are_refused(kind: str, number: int) -> None:
    written("my.py", COPY.replace("version=1", f"{kind}_name=lambda number: f'move {{min(number, {number - 1})}}'"))
    twice = f"{kind}s {number - 1} and {number} are both 'move {number - 1}'"
    with pytest.raises(InputError, match=f"{kind} names are not distinct: {twice}"):
        load_game("./my.py")


def test_a_hole_that_is_left_out(capsys: Output) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    written(
        "my.py",
        source.replace("    for i in range(COMPONENTS):\n        if view", "    for i in range(3):\n        if view"),
    )
    assert main(["check", "./my.py", "--json"]) == 1
    fault = json.loads(capsys.readouterr().out)["laws"][-1]["fault"]
    assert fault.startswith("hole gives NO_HOLE, but glances[1] is unknown: either hole names it, or fill sets it")


def test_one_name_from_two_files_is_refused() -> None:
    load_game(written("one/my.py"))
    with pytest.raises(InputError, match=r"two/my.py' names its game 'my_kuhn', as '.*one/my.py' does"):
        load_game(written("two/my.py"))


LOAD_BOTH = """
import sys, qdts
for path in sys.argv[1:]:
    print(qdts.load_game(path).returns(__import__("numpy").array([6, 1, 2, 2, 1, 1, 1, 0])).tolist())
"""


def test_files_of_one_name_in_two_folders_do_not_collide() -> None:
    """Folders of one name too: compiled code is found by the whole path."""
    source = EXAMPLE.read_text(encoding="utf-8")
    one = written("1/games/my.py", source)
    other = written(
        "2/games/my.py", source.replace('"blind_mans_bluff', '"dear_bluff').replace("PRICE = 0.5", "PRICE = 0.7")
    )
    for order in ([one, other], [other, one]):  # compiled, then taken from the cache
        done = subprocess.run([sys.executable, "-c", LOAD_BOTH, *order], capture_output=True, text=True, check=True)
        expected = {one: "[-1.5, 1.5]", other: "[-1.7, 1.7]"}
        assert done.stdout.splitlines() == [expected[path] for path in order]


def test_what_cannot_be_read_beside_a_game_does_not_matter() -> None:
    Path(".#my.py").symlink_to("nowhere")  # as editors leave it
    Path("folder.py").mkdir()
    first = fingerprint(Path.cwd() / "my.py")
    written("other.py", "x = 1")
    forget_sources()
    assert fingerprint(Path.cwd() / "my.py") != first


def test_pickles_find_the_file_again() -> None:
    game = load_game(f"{written('my.py')}(players=3)")
    assert pickle.loads(pickle.dumps(game)) is game
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).spec)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(game), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "my_kuhn(players=3)"


def test_policy_files_do_not_run_games(capsys: Output) -> None:
    game = load_game(written("my.py"))
    save_policy(uniform_policy(game), "my.npz")
    assert load_policy("my.npz", game).game is load_policy("my.npz").game is game
    registry._registered.clear()
    registry._files.clear()
    with pytest.raises(InputError, match=r"unknown game 'my_kuhn'.*with a run or a policy file: --game ./my_kuhn.py"):
        load_policy("my.npz")
    assert main(["policy", "my.npz", "--game", "./my.py", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "my_kuhn"
    written("my.py", COPY.replace("version=1", "version=2"))
    with pytest.raises(InputError, match="is for version 1 of my_kuhn, expected version 2"):
        load_policy("my.npz", load_game("./my.py"))
    Path("my.py").unlink()
    assert main(["policy", "my.npz", "--game", "./my.py"]) == 2
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["./trap.py", "trap.py", "./trap.py(players=3)"])
def test_a_path_in_a_policy_file_is_refused(name: str) -> None:
    save_policy(uniform_policy(load_game("kuhn_poker")), "bad.npz")
    written("trap.py", "open('sprung', 'w').close()")
    with np.load("bad.npz") as entries:
        arrays = dict(entries)
    meta = json.loads(arrays.pop("meta").tobytes()) | {"game": name}
    np.savez("bad.npz", meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    with pytest.raises(InputError, match="is the path of a file, expected the name of a game"):
        load_policy("bad.npz")
    assert not Path("sprung").exists()


def test_games_shows_a_file(capsys: Output) -> None:
    assert main(["games", written("./my.py")]) == 0
    text = capsys.readouterr().out
    assert "players=2" in text
    assert "qdts solve ./my.py" in text


def test_check_as_json(capsys: Output) -> None:
    assert main(["check", f"{written('./my.py')}(players=3)", "--json"]) == 0
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert printed.err == ""
    assert (data["game"], data["kept"]) == ("my_kuhn(players=3)", True)
    assert [law["law"] for law in data["laws"]][:3] == ["guard", "basics", "hidden"]
    assert all(law["kept"] for law in data["laws"])
    report = check_game(load_game("my_kuhn(players=3)"))
    assert {key: data["looked_at"][key] for key in ("mode", "histories", "worlds", "views", "completions")} == {
        "mode": "enumerated",
        "histories": report.histories,
        "worlds": report.worlds,
        "views": report.views,
        "completions": report.completions,
    }


def test_check_tells_what_is_broken(capsys: Output) -> None:
    written("./my.py", COPY.replace("version=1", "max_return=1.0"))
    assert main(["check", "./my.py", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["kept"], data["looked_at"]) == (False, None)
    assert [(law["law"], law["kept"]) for law in data["laws"]] == [("guard", True), ("basics", False)]
    assert "expected -2.0 to 1.0 for each player at turn=" in data["laws"][-1]["fault"]
    assert main(["check", "./my.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["guard", "kept"]
    assert lines[2].split()[:2] == ["basics", "broken"]
    wanted = "expected -2.0 to 1.0 for each player at "
    assert lines[-1].startswith(f"my_kuhn breaks the law of basics: returns are [-2.0, 2.0], {wanted}")


def test_check_of_a_game_that_is_too_large_to_enumerate(capsys: Output) -> None:
    assert main(["check", "leduc_poker", "--limit", "1000", "--samples", "20", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["looked_at"]["mode"] == "sampled"
    assert "weights" not in [law["law"] for law in data["laws"]]


def test_an_error_in_a_file_while_it_is_used(capsys: Output) -> None:
    """Where a name fails, the place is told, whatever the command was."""
    written("./my.py", COPY.replace("version=1", "title=lambda view: [][0]"))
    for command in ("check", "solve"):
        assert main([command, "./my.py"]) == 2
        assert "my.py, line 9: IndexError: list index out of range" in capsys.readouterr().err
    written("./my.py", COPY.replace("version=1", "title=lambda view: None"))
    assert main(["check", "./my.py"]) == 1
    assert "title is None, expected some words at turn=2" in capsys.readouterr().out


def test_check_needs_nothing_but_the_package() -> None:
    """No tools of developers: neither pytest nor hypothesis nor OpenSpiel."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pytest', 'hypothesis', 'pyspiel', 'LiteEFG']));"
        "from qdts.cli import main; sys.exit(main(['check', 'kuhn_poker', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert json.loads(done.stdout)["kept"] is True


def test_the_example_copied_anywhere_is_loaded(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "bluff.py")
    assert qdts.load_game(str(tmp_path / "bluff.py")).spec == "blind_mans_bluff"

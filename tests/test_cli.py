"""The command line: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from qdts.cli import main
from qdts.cli.benchmarks import contestants
from qdts.cli.benchmarks import networks as network_races
from qdts.cli.benchmarks import search as search_races
from qdts.cli.benchmarks import solving as races
from qdts.cli.display import solving as progress
from qdts.cli.display.solving import Display
from qdts.cli.display.strategy import first_rows
from qdts.games import Game
from qdts.games.registry import family_names, find_family, load_game
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.options.options import Options
from qdts.solving import load_policy, nash_conv, solve
from qdts.solving.solver import Point
from qdts.solving.tree.enumeration import Progress

Output = pytest.CaptureFixture[str]

SOLVE_KEYS = {
    *("game", "algorithm", "iterations", "seconds", "iterations_per_second"),
    *("value", "values", "nash_conv", "interrupted", "histories", "information_sets", "out"),
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, nothing takes so long that it must be told."""
    monkeypatch.setattr(progress, "BEAT_SECONDS", 3600.0)


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


def test_help_and_import_load_nothing_heavy() -> None:
    code = (
        "import sys, qdts; from qdts.cli import main; main(['--help']);"
        "print({'numpy', 'numba', 'scipy', 'matplotlib', 'torch'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["games"],
        ["solve"],
        ["train"],
        ["policy"],
        ["check"],
        ["nashconv"],
        ["survey"],
        ["bench", "solve"],
        ["bench", "games"],
        ["bench", "search"],
    ],
)
def test_help_has_examples(command: list[str], capsys: Output) -> None:
    text = run_text(capsys, *command, "--help")
    assert "Examples" in text
    assert f"qdts {' '.join(command)}".strip() in text


def test_without_a_command_it_says_what_there_is(capsys: Output) -> None:
    assert "solve" in run_text(capsys)
    assert re.fullmatch(r"qdts \d+\.\d+\.\d+\n", run_text(capsys, "--version"))


def test_games_as_json(capsys: Output) -> None:
    listed = run_json(capsys, "games")["games"]
    assert [game["name"] for game in listed] == family_names()
    for game in listed:
        assert {*game} == {"name", "summary", "players", "parameters", "examples"}
        for parameter in game["parameters"]:
            assert {*parameter} == {"name", "default", "help", "expected"}
    assert run_json(capsys, "games", "liars_dice")["games"] == [g for g in listed if g["name"] == "liars_dice"]


@pytest.mark.parametrize("name", family_names())
def test_games_tells_of_each_game(name: str, capsys: Output) -> None:
    family = find_family(name)
    text = run_text(capsys, "games", name)
    assert all(p.name in text for p in family.parameters)
    assert load_game(name).players == int(run_json(capsys, "games", name)["games"][0]["players"].split()[0])


def test_games_in_a_table(capsys: Output) -> None:
    text = run_text(capsys, "games")
    assert all(name in text for name in family_names())
    assert "2 to 10" in text


def test_solve_as_json(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    data = run_json(capsys, "solve", "kuhn_poker", "--iterations", "2000", "--out", str(file))
    assert {*data} == SOLVE_KEYS
    assert (data["game"], data["algorithm"], data["iterations"]) == ("kuhn_poker", "dcfr", 2000)
    assert (data["interrupted"], data["out"]) == (False, str(file))
    assert (data["histories"], data["information_sets"]) == (58, 12)
    assert data["value"] == data["values"][0] == pytest.approx(-1 / 18, abs=1e-3)
    policy = load_policy(file)
    assert nash_conv(policy.game, policy) == pytest.approx(data["nash_conv"])

    shown = run_json(capsys, "policy", str(file))
    assert {*shown} == {"file", "game", "game_version", "info", "views", "value", "values", "nash_conv"}
    assert shown["nash_conv"] == pytest.approx(data["nash_conv"])
    assert shown["info"]["iterations"] == 2000


def test_tolerance_and_seed(capsys: Output) -> None:
    data = run_json(capsys, "solve", "kuhn_poker", "--iterations", "100000", "--tolerance", "0.01")
    assert data["iterations"] < 100000
    assert data["nash_conv"] <= 0.01
    sampled = [
        run_json(capsys, "solve", "kuhn_poker", "--algorithm", "mccfr", "--iterations", "50", "--seed", seed)
        for seed in ("1", "1", "2")
    ]
    assert sampled[0]["value"] == sampled[1]["value"] != sampled[2]["value"]


@pytest.mark.parametrize("algorithm", ["min-max", "alpha-beta"])
def test_searches_tell_their_line(algorithm: str, capsys: Output, tmp_path: Path) -> None:
    data = run_json(capsys, "solve", "tree_game", "--algorithm", algorithm)
    assert {*data} == SOLVE_KEYS | {"line", "leaves"}
    assert (data["value"], data["values"], data["nash_conv"]) == (-1.0, [-1.0, 1.0], 0.0)
    assert data["line"] == ["2", "2"]
    assert data["leaves"] == (9 if algorithm == "min-max" else 7)
    file = tmp_path / "tree.npz"
    text = run_text(capsys, "solve", "tree_game", "--algorithm", algorithm, "--out", str(file))
    policy = load_policy(file)
    assert nash_conv(policy.game, policy) == 0
    assert "2 2" in text
    assert f"{data['leaves']} finished games" in text


def test_solve_for_people(capsys: Output, tmp_path: Path) -> None:
    plot = tmp_path / "curve.png"
    text = run_text(capsys, "solve", "leduc_poker", "--iterations", "200", "--plot", str(plot))
    for words in ("iteration", "NashConv", "exploitability is half of it", "without compiling", "J♠/♥ | to open"):
        assert words in text
    assert "918 more views" in text
    assert "\x1b" not in text
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_policy_for_people(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    run_json(capsys, "solve", "kuhn_poker(players=3)", "--iterations", "20", "--out", str(file))
    text = run_text(capsys, "policy", str(file))
    for words in ("kuhn_poker(players=3)", "algorithm dcfr, iterations 20", "to player 2", "; to open"):
        assert words in text


def test_the_live_display_shows_figures_and_curve() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    with Display(screen, goal=8) as display:
        display.begin("solving")
        display.enumerated(Progress(1234, 56))
        display.measured(Point(1, 0.5, 1.0))
        display.measured(Point(4, 2.0, 0.125))
        with screen.capture() as capture:
            screen.print(display.render())
    text = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
    for words in ("solving", "1,234 histories, 56 information sets", "iteration 4", "NashConv 0.125", "2 iterations/s"):
        assert words in text
    assert "⠉" in text


def test_a_strategy_starts_where_play_does() -> None:
    policy = solve(load_game("kuhn_poker"), iterations=1000).policy
    rows = first_rows(policy)
    assert sum(len(row.views) for row in rows) == 12
    assert [row.player for row in rows[:3]] == [0, 0, 0]
    assert rows[0].views == ["J; to open"]
    king = next(row for row in rows if "K; bet" in row.views)
    assert king.plays["Bet"] == pytest.approx(1.0)


def saved_policy(folder: Path, **changes: object) -> Path:
    """A policy file for Kuhn poker with some of its meta data changed."""
    file = folder / "changed.npz"
    main(["solve", "kuhn_poker", "--iterations", "1", "--out", str(file), "--json"])
    with np.load(file) as entries:
        arrays = dict(entries)
    meta = json.loads(arrays.pop("meta").tobytes()) | changes
    np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return file


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
def test_wrong_input_is_told_in_one_sentence(arguments: list[str], words: list[str], capsys: Output) -> None:
    check_failure(capsys, arguments, *words)


def test_bad_policy_files_are_told_in_one_sentence(capsys: Output, tmp_path: Path) -> None:
    text = tmp_path / "text.npz"
    text.write_text("not a policy")
    check_failure(capsys, ["policy", str(text)], "text.npz", "not a policy file")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path)), "--game", "leduc_poker"], "kuhn_poker", "leduc_poker")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path, game_version=99))], "version 99")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path, game="kuhn_poke"))], "did you mean kuhn_poker")


INTERRUPTIBLE = """
import sys
from qdts.cli import main
from qdts.cli.display import solving as progress
progress.Silent.measured = lambda self, point: print("measured", file=sys.stderr, flush=True)
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    file = tmp_path / "dice.npz"
    command = [sys.executable, "-c", INTERRUPTIBLE, "solve", "liars_dice", "--iterations", "1000000000"]
    with subprocess.Popen(
        [*command, "--json", "--out", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while process.stderr.readline() != "measured\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "qdts: stopped by Ctrl-C"
    data = json.loads(out)
    assert data["interrupted"] is True
    policy = load_policy(file)
    assert policy.info["iterations"] == data["iterations"] < 1000000000
    assert nash_conv(policy.game, policy) == pytest.approx(data["nash_conv"])


def test_nashconv(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    solved = run_json(capsys, "solve", "kuhn_poker", "--iterations", "50", "--out", str(file))
    for method in ("sweep", "enumerate"):
        data = run_json(capsys, "nashconv", "kuhn_poker", "--policy", str(file), "--method", method)
        assert (data["method"], data["histories"], data["views"]) == (method, 58, 12)
        assert data["nash_conv"] == pytest.approx(solved["nash_conv"], abs=1e-12)
        assert data["values"] == pytest.approx(solved["values"], abs=1e-12)
        assert sum(data["gains"]) == data["nash_conv"]
    board = run_json(capsys, "nashconv", "tic_tac_toe")
    assert (board["method"], board["views"], board["histories"]) == ("positions", 4_520, None)
    text = run_text(capsys, "nashconv", "kuhn_poker", "--method", "sweep")
    assert "0.917" in text
    assert "2 worlds behind one view" in text


SWEEPING = """
import sys
from qdts.cli import main
from qdts.cli.commands import nashconv
nashconv.SECONDS_BETWEEN = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_a_sweep_tells_how_far_it_is_and_stops_on_ctrl_c() -> None:
    command = [sys.executable, "-c", SWEEPING, "nashconv", "phantom_ttt"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert re.match(r"player 0: 0.0%, [0-9,]+ histories, [0-9,]+ views, \d+ s", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "qdts: stopped by Ctrl-C"


STOPPABLE = """
import sys
from qdts.cli import main
from qdts.cli.display import solving as progress
progress.BEAT_SECONDS = 0.1
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("game", "algorithm"),
    [
        ("liars_dice", "lp"),
        ("connect_four", "min-max"),
        ("connect_four", "alpha-beta"),
        ("connect_four", "value-iteration"),
    ],
)
def test_ctrl_c_stops_a_single_long_call(game: str, algorithm: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    command = [sys.executable, "-c", STOPPABLE, "solve", game, "--algorithm", algorithm, "--json", "--out", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while f"solving {game} by {algorithm}" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "qdts: stopped by Ctrl-C"
    assert "Traceback" not in err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kind", [progress.Silent, progress.Lines])
def test_what_takes_long_is_told_on_standard_error(
    kind: type[progress.Silent], capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.01)
    with kind() as watch:
        watch.begin("importing")
        watch.imported(12345)
        watch.over.wait(0.1)
        watch.begin("enumerating")
        watch.enumerated(Progress(1234, 56))
        watch.over.wait(0.1)
        watch.measured(Point(4, 2.0, 0.125))
        watch.over.wait(0.1)
    told = capsys.readouterr().err
    for words in ("importing, 12,345 histories", "1,234 histories, 56 information sets", "iteration 4, NashConv 0.125"):
        assert words in told
    assert all(line.startswith("qdts: ") for line in told.splitlines())


def test_an_import_tells_how_far_it_is(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(progress.Silent, "imported", lambda _, histories: told.append(histories))
    run_json(capsys, "solve", "openspiel:liars_dice(numdice=2,dice_sides=2)", "--iterations", "1")
    assert len(told) > 1
    assert told == sorted(told)


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -u -m qdts games | true", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_bench_without_peers(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is measured, and the rows say what is missing."""
    monkeypatch.setattr(races, "is_installed", lambda peer: peer is contestants.Ours)
    monkeypatch.setattr(races, "TURN_SECONDS", 0.01)
    measured = [
        ("speed", lambda: races.speed("kuhn_poker", 2, {"LiteEFG": 30})),
        ("time", lambda: races.time_to("kuhn_poker", 0.01, 2, every=10)),
        ("measuring", lambda: races.measuring("kuhn_poker", 2)),
        ("enumerating", lambda: races.enumerating("kuhn_poker", 2)),
    ]
    monkeypatch.setattr(races, "rows", lambda *_: iter(measured))
    assert main(["bench", "solve", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"python", "numba", "cpu", "cores"} <= {*data["machine"]}
    assert len(data["rows"]) == 4
    for row in data["rows"]:
        ours, *others = row["entries"]
        assert (ours["who"], len(ours["turns"]), row["threads"]) == ("qdts", 2, 1)
        assert min(ours["turns"]) <= ours["figure"] <= max(ours["turns"])
        assert row["clock"]
        assert all(o["figure"] is None and o["note"] == "not installed: make bench" for o in others)
        assert all(target["met"] is None for target in row["targets"])
    assert main(["bench", "solve"]) == 0
    text = capsys.readouterr().out
    assert "not installed: make bench" in text
    assert "not known" in text


@pytest.mark.parametrize(("game", "search", "peer"), [("kuhn_poker", "ismcts", True), ("tic_tac_toe", "uct", False)])
def test_bench_of_one_search(
    game: str, search: str, peer: bool, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_races, "is_installed", lambda _: peer)
    monkeypatch.setattr(search_races, "SIMULATIONS", 50)
    monkeypatch.setattr(races, "TURN_SECONDS", 0.001)
    asked = ["bench", "search", "--game", game, "--search", search, "--repeats", "1"]
    assert main([*asked, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert (row["game"], row["search"], row["simulations"], row["network"], row["threads"]) == (
        *(game, search),
        *(50, "none", 1),
    )
    assert row["visits_per_second"] == row["entries"][0]["figure"] > 0
    assert row["state"]
    assert (row["entries"][1]["figure"] is not None) == peer
    assert main(asked) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "50 simulations" in text
    assert "network none" in text


def test_bench_of_a_search_with_options(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a game it runs where its name has a target, which its options void."""
    built: list[str] = []
    evaluator = search_races._evaluator

    def build(game: Game, options: Options) -> Evaluator | None:
        built.append(game.spec)
        return evaluator(game, options)

    monkeypatch.setattr(search_races, "is_installed", lambda _: False)
    monkeypatch.setattr(search_races, "VISITS", 5)
    monkeypatch.setattr(search_races, "SIMULATIONS", 50)
    monkeypatch.setattr(search_races, "_evaluator", build)
    monkeypatch.setattr(races, "TURN_SECONDS", 0.001)
    assert main(["bench", "search", "--search", "ismcts[c=1]", "--repeats", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["game"], row["search"]) for row in rows] == [
        ("kuhn_poker", "ismcts[c=1]"),
        ("leduc_poker", "ismcts[c=1]"),
    ]
    assert all(row["targets"] == [] for row in rows)
    arguments = ["bench", "search", "--game", "kuhn_poker", "--search", "qdts[c=1]", "--repeats", "1", "--json"]
    assert main(arguments) == 0
    assert "table evaluator" in json.loads(capsys.readouterr().out)["rows"][0]["network"]
    assert built == ["kuhn_poker", "leduc_poker", "kuhn_poker"]


def test_bench_with_a_network(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is measured; the row says what to install for the others."""
    monkeypatch.setattr(network_races, "has", lambda package: package == "torch")
    monkeypatch.setattr(network_races, "SLOTS", 8)
    monkeypatch.setattr(network_races, "LARGE", (8, 2))
    monkeypatch.setattr(races, "TURN_SECONDS", 0.001)
    assert main(["bench", "search", "--network", "--repeats", "1", "--json"]) == 0
    speed, other, share = json.loads(capsys.readouterr().out)["rows"]
    ours, *others = speed["entries"]
    assert (ours["who"], speed["simulations"], speed["threads"]) == ("qdts", 32, 1)
    assert ours["figure"] > 0
    assert speed["network"] == "1 hidden layer of 64 units, float32, weights as torch draws them"
    assert other["network"] != speed["network"]
    assert [o["who"] for o in others] == ["mctx MuZero", "mctx Gumbel"]
    assert all(o["figure"] is None and o["note"] == "not installed: pip install mctx" for o in others)
    assert 0 < share["entries"][0]["figure"] < 100
    monkeypatch.setattr(network_races, "has", lambda _: False)
    assert main(["bench", "search", "--network"]) == 2
    assert "pip install 'qdts[nets]'" in " ".join(capsys.readouterr().err.split())


def test_bench_ratios() -> None:
    turns = {"qdts": (9.0, 10.0, 12.0), "LiteEFG": (2.0,), "OpenSpiel": (3.0, 5.0)}
    entries = [races.Entry(who, figures) for who, figures in turns.items()]
    fast = races.make_row("speed", "a game", "cfr+", "iterations/s", "a clock", entries, {"LiteEFG": 5, "OpenSpiel": 5})
    assert fast.ratios == {"LiteEFG": 5.0, "OpenSpiel": 2.5}
    assert [target.met for target in fast.targets] == [True, False]
    slow = races.make_row("time", "a game", "cfr+", "s", "a clock", entries, {"the faster peer": 0.1})
    assert slow.ratios == {"LiteEFG": 0.2, "OpenSpiel": 0.4}
    assert [target.met for target in slow.targets] == [True]

"""`qdts bench`: its rows, with and without peers."""

from __future__ import annotations

import json

import pytest

from cli.running import Output, run_json
from qdts.cli import main
from qdts.cli.benchmarks import networks, peers, rows, solving
from qdts.cli.benchmarks import search as search_rows
from qdts.games import Game
from qdts.search.evaluation.evaluator import Evaluator
from qdts.search.options.options import Options


def test_bench_without_peers(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is measured, and the rows say what is missing."""
    monkeypatch.setattr(solving, "is_installed", lambda peer: peer is peers.Ours)
    monkeypatch.setattr(rows, "TURN_SECONDS", 0.01)
    measured = [
        ("speed", lambda: solving.speed("kuhn_poker", 2, {"LiteEFG": 30})),
        ("time", lambda: solving.time_to("kuhn_poker", 0.01, 2, every=10)),
        ("measuring", lambda: solving.measuring("kuhn_poker", 2)),
        ("enumerating", lambda: solving.enumerating("kuhn_poker", 2)),
    ]
    monkeypatch.setattr(solving, "rows", lambda *_: iter(measured))
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
    monkeypatch.setattr(search_rows, "is_installed", lambda _: peer)
    monkeypatch.setattr(search_rows, "SIMULATIONS", 50)
    monkeypatch.setattr(rows, "TURN_SECONDS", 0.001)
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
    evaluator = search_rows._evaluator

    def build(game: Game, options: Options) -> Evaluator | None:
        built.append(game.spec)
        return evaluator(game, options)

    monkeypatch.setattr(search_rows, "is_installed", lambda _: False)
    monkeypatch.setattr(search_rows, "VISITS", 5)
    monkeypatch.setattr(search_rows, "SIMULATIONS", 50)
    monkeypatch.setattr(search_rows, "_evaluator", build)
    monkeypatch.setattr(rows, "TURN_SECONDS", 0.001)
    assert main(["bench", "search", "--search", "ismcts[c=1]", "--repeats", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["game"], row["search"]) for row in printed] == [
        ("kuhn_poker", "ismcts[c=1]"),
        ("leduc_poker", "ismcts[c=1]"),
    ]
    assert all(row["targets"] == [] for row in printed)
    arguments = ["bench", "search", "--game", "kuhn_poker", "--search", "qdts[c=1]", "--repeats", "1", "--json"]
    assert main(arguments) == 0
    assert "table evaluator" in json.loads(capsys.readouterr().out)["rows"][0]["network"]
    assert built == ["kuhn_poker", "leduc_poker", "kuhn_poker"]


def test_bench_with_a_network(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is measured; the row says what to install for the others."""
    monkeypatch.setattr(networks, "has_package", lambda package: package == "torch")
    monkeypatch.setattr(networks, "LANES", 8)
    monkeypatch.setattr(networks, "LARGE", (8, 2))
    monkeypatch.setattr(rows, "TURN_SECONDS", 0.001)
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
    monkeypatch.setattr(networks, "has_package", lambda _: False)
    assert main(["bench", "search", "--network"]) == 2
    assert "pip install 'qdts[nets]'" in " ".join(capsys.readouterr().err.split())


def test_bench_of_learning(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads beside one, with what a generation is made of; one game alone, with settings."""
    monkeypatch.setattr("qdts.cli.benchmarks.selfplay.GAMES", ("kuhn_poker", "tic_tac_toe"))
    found = run_json(capsys, "bench", "selfplay", "--generations", "1")
    assert [row["game"] for row in found["rows"]] == ["kuhn_poker", "tic_tac_toe"]
    for row in found["rows"]:
        assert [entry["who"] for entry in row["entries"]] == ["2 threads", "1 thread"]
        assert row["speed"]["games_per_second"] > 0.0
        assert sum(row["speed"]["shares"].values()) == pytest.approx(1.0)
        assert [target["met"] is None for target in row["targets"]] == [False, False]
    assert "search" in found["rows"][1]["speed"]["shares"]
    alone = ["bench", "selfplay", "--game", "kuhn_poker", "--generations", "1", "--set", "play.games=10"]
    one = run_json(capsys, *alone)
    assert one["games_per_second"] * one["seconds"] == pytest.approx(10)
    assert main(["bench", "selfplay", "--threads", "2"]) == 2
    assert "expected --game" in capsys.readouterr().err


def test_bench_ratios() -> None:
    turns = {"qdts": (9.0, 10.0, 12.0), "LiteEFG": (2.0,), "OpenSpiel": (3.0, 5.0)}
    entries = [rows.Entry(who, figures) for who, figures in turns.items()]
    fast = rows.make_row("speed", "a game", "cfr+", "iterations/s", "a clock", entries, {"LiteEFG": 5, "OpenSpiel": 5})
    assert fast.ratios == {"LiteEFG": 5.0, "OpenSpiel": 2.5}
    assert [target.met for target in fast.targets] == [True, False]
    slow = rows.make_row("time", "a game", "cfr+", "s", "a clock", entries, {"the faster peer": 0.1})
    assert slow.ratios == {"LiteEFG": 0.2, "OpenSpiel": 0.4}
    assert [target.met for target in slow.targets] == [True]

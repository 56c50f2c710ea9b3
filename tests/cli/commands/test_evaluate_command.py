"""`qdts evaluate`: its figures, and several checkpoints and seeds of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.running import Output, check_failure, run_json, run_text
from qdts import load_agent, load_game, train, uniform_policy
from qdts.games import Game
from qdts.learning import by_cells
from qdts.learning.run import Run
from qdts.solving import measure, nash_conv
from qdts.solving.tree import enumeration, recent
from qdts.solving.tree.arrays import Histories

TINY = ("net.width=8", "play.games=40", "fit.steps=8", "fit.rows=64", "belief.steps=8", "measure.visits=2")
GROW = enumeration._grow


def test_evaluate_as_json(capsys: Output, kuhn: Path) -> None:
    data = run_json(capsys, "evaluate", "kuhn_poker", "--visits", "8,32", "--policy", str(kuhn), "--search", "mmds")
    assert (data["game"], data["search"], data["policy"]) == ("kuhn_poker", "mmds", str(kuhn))
    assert [row["visits"] for row in data["results"]] == [8, 32]
    assert all({*row} == {"visits", "nash_conv", "seconds"} for row in data["results"])
    assert data["policy_nash_conv"] == pytest.approx(0.0, abs=1e-9)
    # with exact knowledge of an equilibrium, no action gains anything: the mirror step only shrinks what loses
    assert all(row["nash_conv"] < 0.2 for row in data["results"])
    uniform = run_json(capsys, "evaluate", "kuhn_poker", "--visits", "4", "--threads", "2")
    game = load_game("kuhn_poker")
    assert uniform["policy"] is None
    assert uniform["policy_nash_conv"] == pytest.approx(nash_conv(game, uniform_policy(game)))
    noisy = run_json(
        capsys, "evaluate", "kuhn_poker", "--visits", "8", "--policy", str(kuhn), "--search", "mmds",
        "--value-noise", "0.5", "--child-noise", "0.5", "--belief-noise", "0.5",
    )  # fmt: skip
    assert noisy["results"][0]["nash_conv"] != data["results"][0]["nash_conv"]


def test_evaluate_for_people(capsys: Output, kuhn: Path) -> None:
    text = run_text(
        capsys, "evaluate", "kuhn_poker", "--visits", "4,8,16", "--policy", str(kuhn), "--belief-noise", "0.1"
    )
    for word in ("NashConv of that policy", "belief noise 0.1", "visits", "both logarithmic", "┤"):
        assert word in text


def test_several_checkpoints_and_seeds(capsys: Output, kuhn_run: Run) -> None:
    run = str(kuhn_run.folder)
    asked = ["evaluate", run, "--checkpoints", "2", "--visits", "2,4"]
    data = run_json(capsys, *asked, "--seeds", "3", "--seed", "1")
    assert (data["search"], data["seeds"], data["interrupted"]) == ("qdts-descent", 3, False)
    assert [line["generation"] for line in data["checkpoints"]] == [1, 3]
    last = data["checkpoints"][-1]
    assert last["policy_nash_conv"] == pytest.approx(kuhn_run.metrics()[-1]["nash_conv_average"])
    alone = run_json(capsys, "evaluate", run, "--visits", "2,4", "--seeds", "3", "--seed", "1")
    for row, other in zip(last["results"], alone["results"], strict=True):
        assert {**row, "seconds": 0} == {**other, "seconds": 0}
        assert row["standard_error"] > 0
    text = run_text(capsys, *asked)
    assert "generation" in text
    above = sum(
        row["nash_conv"] > line["policy_nash_conv"]
        for line in run_json(capsys, *asked)["checkpoints"]
        for row in line["results"]
    )
    assert f"{above} of 4 are above the networks' P" in text
    check_failure(capsys, ["evaluate", "kuhn_poker", "--checkpoints", "2"], "'kuhn_poker' is not the folder of a run")
    check_failure(capsys, [*asked, "--policy", run], "expected no policy and no noise")


def test_a_run_of_a_large_game_is_measured_cell_by_cell(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, folder = "dark_hex(gameversion=adh,num_cols=2,num_rows=2)", tmp_path / "run"
    run = train(spec, generations=2, out=folder, settings=TINY)
    exact = [nash_conv(run.game, load_agent(run, generation=n).table()) for n in (1, 2)]
    for module in (recent, measure):
        monkeypatch.setattr(module, "handy_tree", lambda _: None)
    monkeypatch.setattr(by_cells, "cache_root", lambda: tmp_path)
    data = run_json(capsys, "evaluate", str(folder))
    assert (data["generation"], data["results"], data["interrupted"]) == (2, [], False)
    assert data["policy_nash_conv"] == pytest.approx(exact[1])
    assert data["nash_conv_uniform"] == pytest.approx(nash_conv(run.game, uniform_policy(run.game), method="enumerate"))
    rows = run_json(capsys, "evaluate", str(folder), "--checkpoints", "2")["checkpoints"]
    assert [row["policy_nash_conv"] for row in rows] == pytest.approx(exact)
    text = run_text(capsys, "evaluate", str(folder))
    assert "generation 2" in text
    assert "of uniform play's" in text


@pytest.mark.parametrize("game", ["phantom_ttt", "connect_four", "hearts"])
def test_a_game_that_is_too_large_is_refused_before_it_is_enumerated(
    game: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def grow(game: Game, histories: Histories, *rest: Any) -> Any:
        sizes.append(len(histories.mover))
        return GROW(game, histories, *rest)

    monkeypatch.setattr(enumeration, "_grow", grow)
    check_failure(capsys, ["evaluate", game], "far more than 20,000,000 histories", f"qdts match '{game}' 'qdts:256'")
    assert max(sizes) < 1_000_000

"""What the suite says about how much it has checked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from qdts import Family, Parameter, load_game, register
from qdts.cli import main
from qdts.games import Game, registry
from qdts.games.rules import kuhn_poker
from qdts.testing import ConformanceError, Law, Report, check_game
from qdts.testing.smaller import smaller_games

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No games but the package's."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_files", {})
    monkeypatch.chdir(tmp_path)


def test_laws_that_were_skipped_are_named_with_a_reason() -> None:
    assert check_game(load_game("kuhn_poker")).skipped == {}
    sampled = check_game(load_game("kuhn_poker"), limit=2, samples=30)
    assert sampled.skipped == {Law.WEIGHTS: "exact probabilities need every history"}
    assert Law.WEIGHTS not in sampled.checked
    hearts = check_game(load_game("hearts"), limit=2, samples=2)
    assert hearts.skipped[Law.MEMORY] == 'the game declares memory="sufficient"'
    assert check_game(load_game("tic_tac_toe")).skipped[Law.WEIGHTS] == "the game hides nothing"


@pytest.mark.parametrize("games", [1, 20, 200, 5000])
def test_a_fault_of_the_reported_frequency_is_missed_in_one_of_twenty(games: int) -> None:
    share = Report("game", "sampled", 0, 0, 0, 0, games=games).detectable
    assert share is not None
    assert (1 - share) ** games == pytest.approx(0.05)


def test_every_history_leaves_no_doubt() -> None:
    report = check_game(load_game("kuhn_poker"))
    assert (report.games, report.detectable) == (None, None)


def family(small: tuple[str, ...] = (), examples: tuple[str, ...] = ()) -> Family:
    """Kuhn poker under another name."""

    def build(spec: str, players: int) -> Game:
        return replace(kuhn_poker.build(spec, players), name="my_kuhn")

    parameters = (Parameter("players", 5, "how many", low=2, high=9),)
    return Family("my_kuhn", "a copy", parameters, build, small=small, examples=examples)


def test_smaller_games_are_hints_then_lower_bounds_then_examples() -> None:
    register(family(small=("my_kuhn(players=3)",), examples=("my_kuhn(players=4)", "my_kuhn(players=99)")))
    found = [game.spec for game in smaller_games(load_game("my_kuhn"))]
    assert found == ["my_kuhn(players=3)", "my_kuhn(players=2)", "my_kuhn(players=4)"]
    register(family())
    assert [game.spec for game in smaller_games(load_game("my_kuhn(players=2)"))] == []


def test_a_smaller_game_is_checked_exactly_first() -> None:
    register(family())
    seen: list[object] = []
    report = check_game(
        load_game("my_kuhn"),
        limit=1_000,
        samples=5,
        exact_first=True,
        begin=seen.append,
        turn=lambda game, exact: seen.append((game.spec, exact)),
    )
    assert report.mode == "sampled"
    assert report.exact is not None
    assert (report.exact.spec, report.exact.histories) == ("my_kuhn(players=2)", 58)
    assert Law.WEIGHTS in report.exact.checked
    assert seen.index(("my_kuhn(players=2)", True)) < seen.index(("my_kuhn", False))


RARE = """
from dataclasses import replace

from qdts.games import Family, Parameter, compile_rules, rule
from qdts.games.rules import kuhn_poker
from qdts.games.rules.kuhn_poker import *

kuhn_values = kuhn_poker.values


@rule
def values(rules, view, hole, values, weights):
    count = kuhn_values(rules, view, hole, values, weights)
    if view[hole + 1] == 1 and count > 1:  # a fault: wrong weights beside the lowest card
        weights[0] += weights[1] / 2
        weights[1] /= 2
    return count


def build(spec, players):
    game = kuhn_poker.build(spec, players)
    return replace(game, name="rare", kernels=compile_rules({**vars(kuhn_poker), **globals()}))


FAMILY = Family("rare", "Kuhn poker with wrong weights", (Parameter("players", 7, "how many", low=2, high=9),), build)
"""


def test_a_fault_that_sampling_can_not_see_is_found_in_a_smaller_game(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "rare.py").write_text(RARE, encoding="utf-8")
    large = load_game("./rare.py")
    check_game(large, limit=1_000, samples=5)
    with pytest.raises(ConformanceError, match="law of weights") as caught:
        check_game(large, limit=1_000, samples=5, exact_first=True)
    assert caught.value.spec == "rare(players=2)"
    assert main(["check", "./rare.py", "--limit", "1000", "--samples", "5"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "too many positions to check them all: first rare(players=2), on every history" in text
    assert "rare(players=2) breaks the law of weights" in text


def test_a_sampled_check_says_how_sure_it_is(capsys: Output) -> None:
    assert main(["check", "leduc_poker(players=3)", "--limit", "10000", "--samples", "20"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "leduc_poker keeps all 11 laws: checked every one of 9,457 histories" in text
    assert "leduc_poker(players=3): no fault found in 10 laws: 20 random games with" in text
    assert "not checked: weights (exact probabilities need every history)" in text
    assert "a fault that shows in 1 of 7 random games" in text
    assert "keeps all" not in text.split("leduc_poker(players=3): no fault")[1]


def test_json_holds_both_reports(capsys: Output) -> None:
    assert main(["check", "leduc_poker(players=3)", "--limit", "10000", "--samples", "20", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    looked_at = data["looked_at"]
    assert (looked_at["mode"], looked_at["games"]) == ("sampled", 20)
    assert looked_at["detectable"] == pytest.approx(1 - 0.05 ** (1 / 20))
    assert looked_at["skipped"] == {"weights": "exact probabilities need every history"}
    assert looked_at["exact"]["game"] == "leduc_poker"
    assert looked_at["exact"]["mode"] == "enumerated"
    assert [law["law"] for law in data["laws"]] == looked_at["checked"]


def test_no_smaller_parameters_is_said(capsys: Output) -> None:
    assert main(["check", "hearts", "--limit", "100", "--samples", "2"]) == 0
    assert "no smaller parameters were found" in " ".join(capsys.readouterr().out.split())

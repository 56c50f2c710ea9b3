"""`qdts games`: the list of games, and the details of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import Output, run_json, run_text
from qdts.games.registry import family_names, find_family, load_game


def test_games_as_json(capsys: Output) -> None:
    listed = run_json(capsys, "games")["games"]
    assert [game["name"] for game in listed] == family_names()
    for game in listed:
        assert {*game} == {"name", "summary", "players", "parameters", "examples"}
        for parameter in game["parameters"]:
            assert {*parameter} == {"name", "default", "help", "expected"}
    assert run_json(capsys, "games", "liars_dice")["games"] == [g for g in listed if g["name"] == "liars_dice"]


@pytest.mark.parametrize("name", family_names())
def test_the_details_of_each_game(name: str, capsys: Output) -> None:
    family = find_family(name)
    text = run_text(capsys, "games", name)
    assert all(p.name in text for p in family.parameters)
    assert load_game(name).players == int(run_json(capsys, "games", name)["games"][0]["players"].split()[0])


def test_games_in_a_table(capsys: Output) -> None:
    text = run_text(capsys, "games")
    assert all(name in text for name in family_names())
    assert "2 to 10" in text


def test_the_players_of_a_game_are_counted_by_its_rules(capsys: Output, tmp_path: Path) -> None:
    """A family that leaves out how many there are declares two."""
    file = tmp_path / "trio.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from qdts.games import Family\n"
        "from qdts.games.rules import kuhn_poker\n"
        "def build(spec):\n"
        "    return replace(kuhn_poker.FAMILY.build('kuhn_poker(players=3)', 3), name='trio', spec=spec)\n"
        "FAMILY = Family('trio', 'Kuhn poker for three.', (), build)\n"
    )
    (game,) = run_json(capsys, "games", str(file))["games"]
    assert game["players"] == "3"
    assert "Players: 3." in run_text(capsys, "games", str(file))


def test_the_details_of_an_import(capsys: Output) -> None:
    spec = "openspiel:first_sealed_auction(max_value=4)"
    (game,) = run_json(capsys, "games", spec)["games"]
    assert (game["name"], game["players"], game["examples"]) == ("openspiel:first_sealed_auction", "2", [spec])
    assert {p["name"]: p["default"] for p in game["parameters"]} == {"max_value": "4", "players": "2"}
    text = " ".join(run_text(capsys, "games", spec).split())
    assert "First-Price Sealed-Bid Auction, of OpenSpiel" in text
    assert f"qdts solve '{spec}'" in text

"""Former names of options and variants: they work, with a note."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest

from qdts import InputError, load_game, read_search
from qdts.cli.app import main
from qdts.search.options.named import named
from qdts.search.options.variants import RootBelief, Select

RENAMED = [
    ("select", "even", {"select": "uniform"}, "select=even is now called select=uniform"),
    ("root_select", "even", {"root_select": "uniform"}, "root_select=even is now called root_select=uniform"),
    ("root_belief", "answers", {"root_belief": "responses"}, "root_belief=answers is now called root_belief=responses"),
    ("answer_visits", 8, {"response_visits": 8}, "answer_visits is now called response_visits"),
]


@pytest.mark.parametrize(("old", "value", "now", "note"), RENAMED)
def test_a_former_name_works_and_is_noted(old: str, value: Any, now: dict[str, Any], note: str) -> None:
    game = load_game("kuhn_poker")
    with pytest.warns(FutureWarning, match=note) as notes:
        options = named("qdts", **{old: value})
    assert len(notes) == 1
    with pytest.warns(FutureWarning, match=note) as notes:
        read = read_search(game, f"qdts[{old}={value}]")
    assert len(notes) == 1
    assert options == read == named("qdts", **now)


def test_present_names_are_not_noted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = read_search(load_game("kuhn_poker"), "qdts[select=uniform,root_belief=responses,response_visits=8]")
    assert (options.select, options.root_belief) == (Select.UNIFORM, RootBelief.RESPONSES)
    assert replace(options, c=0.1).select is Select.UNIFORM


def test_an_option_by_both_names_is_given_twice() -> None:
    with pytest.warns(FutureWarning), pytest.raises(InputError, match="response_visits of a search is given twice"):
        read_search(load_game("kuhn_poker"), "qdts[answer_visits=8,response_visits=9]")


def test_the_command_line_notes_it_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["search", "kuhn_poker", "--visits", "2", "--json", "--option"]
    for _ in range(2):
        assert main([*command, "answer_visits=4"]) == 0
        assert capsys.readouterr().err == (
            "qdts: note: answer_visits is now called response_visits, and the old name goes with the next version\n"
        )
    assert main([*command, "response_visits=4"]) == 0
    assert capsys.readouterr().err == ""

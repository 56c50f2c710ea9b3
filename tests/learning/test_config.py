"""Settings: their help and bounds, old names, and values between the first and the last."""

from __future__ import annotations

import json
import warnings

import pytest

from qdts import InputError
from qdts.learning.config import (
    FORMERLY,
    PRESETS,
    SETTINGS,
    Config,
    at,
    changed,
    flat,
    from_dict,
    preset,
    read_settings,
)


def test_every_setting_has_help_and_bounds() -> None:
    defaults = flat(Config())
    assert [*SETTINGS] == [*defaults]
    for name, setting in SETTINGS.items():
        assert setting.default == defaults[name]
        assert setting.help.endswith(".")
        assert bool(setting.expected) == (name != "search.name")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_json(name: str) -> None:
    config = preset(name)
    assert from_dict(json.loads(json.dumps(config.as_dict()))) == config
    assert changed(Config(), PRESETS[name]) == config


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("net.width=-1", "net.width=-1 is not possible, expected a whole number from 0 to 65,536"),
        ("net.width=wide", "net.width=wide is not possible, expected a whole number from 0 to 65,536"),
        ("net.trunk=mpl", "unknown value of net.trunk 'mpl': did you mean mlp"),
        ("value.deblunder=maybe", "value.deblunder=maybe is not possible, expected true or false"),
        ("fit.rate=nan", "fit.rate=nan is not possible, expected a positive number"),
        ("measure.visits=4,2", r"measure.visits=\(4, 2\) is not possible, expected rising whole numbers"),
        ("measure.visits=a", "measure.visits=a is not possible, expected rising whole numbers"),
        ("search.visit=3", "unknown setting 'search.visit': did you mean search.visits"),
    ],
)
def test_what_is_not_possible(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_settings([text], Config())


def test_old_names_work_with_a_note() -> None:
    assert {**FORMERLY} == {
        "play.slots": "play.lanes",
        "search.step": "policy.step",
        "search.step_last": "policy.step_last",
        "search.temperature": "policy.temperature",
        "search.temperature_last": "policy.temperature_last",
        "search.uniform": "policy.uniform",
        "search.even": "policy.uniform",
        "search.uniform_last": "policy.uniform_last",
        "search.even_last": "policy.uniform_last",
    }
    with pytest.warns(FutureWarning, match=r"the setting play.slots is now called play.lanes"):
        config = read_settings(["play.slots=7"], Config())
    assert config.play.lanes == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_dict({"search": {"even": 0.5}}).policy.uniform == 0.5


def test_values_between_the_first_and_the_last() -> None:
    assert at(1.0, 0.01, 0.5) == pytest.approx(0.1)
    assert at(1.0, 0.0, 0.25) == pytest.approx(0.75)
    assert [at(3.0, 5.0, progress) for progress in (0.0, 1.0)] == [3.0, 5.0]

"""The parameters of a search: what is refused, and that each one is explained."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest

from qdts import InputError
from qdts.search.options import options as module
from qdts.search.options.named import SEARCHES, named
from qdts.search.options.options import BOUNDS, SWITCHES, WORDS, Options

NUMBERS = [name for name in BOUNDS if name != "max_nodes"]
BAD = (
    [(name, value) for name in NUMBERS for value in (-1.0, float("nan"), float("inf"), "1", None, True)]
    + [(name, 0.0) for name in ("pseudo_visits", "confidence", "prior_temperature", "noise_alpha")]
    + [("eps_sample", 2.1), ("eps_opponent", 2.1), ("noise", 1.1), ("confidence", 1.1)]
    + [(name, value) for name in WORDS for value in ("nonsense", "", None, 1)]
    + [("max_nodes", value) for value in (0, -1, 1.5, float("nan"), "7", True, 10**12)]
    + [(name, value) for name in SWITCHES for value in ("yes", None, 1)]
)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_is_one_clear_sentence(name: str, value: Any) -> None:
    with pytest.raises(InputError) as error:
        named("qdts", **{name: value})
    text = str(error.value)
    assert name in text
    assert str(value) in text
    assert "expected" in text or "known" in text or "choices" in text or any(w in text for w in WORDS.get(name, ()))
    assert "\n" not in text


def test_every_field_is_checked() -> None:
    assert {*BOUNDS, *WORDS, *SWITCHES} == {f.name for f in fields(Options)}


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="qdts"):
        named("qtds")
    with pytest.raises(InputError, match="eps_sample"):
        named("qdts", eps_sampel=0.1)


def test_every_field_has_a_line_of_documentation() -> None:
    body = next(n for n in ast.parse(inspect.getsource(module)).body if isinstance(n, ast.ClassDef)).body
    for field, after in pairwise(body):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(field)
            assert isinstance(after.value, ast.Constant)
            assert isinstance(after.value.value, str)
            assert "\n" not in after.value.value


def test_changes_leave_the_named_searches_alone() -> None:
    assert named("qdts", c=2.0).c == 2.0
    assert named("qdts") == SEARCHES["qdts"] == Options()
    assert {*SEARCHES} == {
        *(
            "puct",
            "a-ismcts",
            "qdts",
            "qdts-descent",
            "qdts-backprop",
            "nash-ismcts",
            "mmds",
            "uct",
            "ismcts",
            "mt-ismcts",
        )
    }

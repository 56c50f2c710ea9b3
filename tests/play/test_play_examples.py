"""The examples in the docstrings of public functions that play."""

from __future__ import annotations

import doctest
import importlib.util

import pytest

import qdts
from qdts.learning.run import Run


def run_example(thing: object, **names: object) -> None:
    examples = doctest.DocTestFinder(recurse=False).find(thing, getattr(thing, "__name__", None), globs=names)
    [example] = (example for example in examples if example.examples)
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("name", ["decide", "play_match", "read_seat"])
def test_examples(name: str) -> None:
    run_example(getattr(qdts, name))


@pytest.mark.parametrize("name", ["Agent", "load_agent"])
def test_examples_with_a_run(name: str, kuhn_run: Run) -> None:
    run_example(getattr(qdts, name), qdts=qdts, run=kuhn_run)


@pytest.mark.skipif(importlib.util.find_spec("pyspiel") is None, reason="needs OpenSpiel")
@pytest.mark.parametrize("name", ["BotSeat", "bot", "policy"])
def test_examples_with_openspiel(name: str) -> None:
    import qdts.openspiel

    run_example(getattr(qdts.openspiel, name))

"""The examples of the public functions of search."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["run", "everywhere", "options.parsing"])
def test_the_examples_of_public_functions_run(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"qdts.search.{module}"))
    assert results.attempted > 2
    assert results.failed == 0

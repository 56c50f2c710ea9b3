"""The examples in the docstrings of what callers use."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from qdts.solving import measure, solver, uniform
from qdts.solving.policy import files, function, table


@pytest.mark.parametrize("module", [measure, solver, uniform, files, function, table], ids=lambda m: m.__name__)
def test_examples(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0

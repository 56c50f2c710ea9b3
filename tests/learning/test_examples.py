"""The examples in the docstrings of public functions run."""

from __future__ import annotations

import doctest

from qdts.learning import loop, run


def test_examples() -> None:
    for module in (loop, run):
        found = doctest.testmod(module)
        assert found.attempted > 5
        assert found.failed == 0

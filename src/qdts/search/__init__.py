"""Search: trees of worlds and views, guided by a policy, values and beliefs.

Imports from `games` and `solving`. Everything here is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdts.search.decision.result import Result
    from qdts.search.evaluation.builtin import Playouts, Table, Uniform
    from qdts.search.evaluation.evaluator import Evaluation, Evaluator, Query
    from qdts.search.everywhere import search_everywhere, searched_nash_conv, searched_policy
    from qdts.search.forest.searcher import Searcher
    from qdts.search.options.named import SEARCHES, named
    from qdts.search.options.options import Options
    from qdts.search.options.parsing import read_search
    from qdts.search.run import run_in_stages, run_searches

_WHERE = {
    "qdts.search.decision.result": ["Result"],
    "qdts.search.evaluation.builtin": ["Playouts", "Table", "Uniform"],
    "qdts.search.evaluation.evaluator": ["Evaluation", "Evaluator", "Query"],
    "qdts.search.everywhere": ["search_everywhere", "searched_nash_conv", "searched_policy"],
    "qdts.search.forest.searcher": ["Searcher"],
    "qdts.search.options.named": ["SEARCHES", "named"],
    "qdts.search.options.options": ["Options"],
    "qdts.search.options.parsing": ["read_search"],
    "qdts.search.run": ["run_in_stages", "run_searches"],
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "SEARCHES",
    "Evaluation",
    "Evaluator",
    "Options",
    "Playouts",
    "Query",
    "Result",
    "Searcher",
    "Table",
    "Uniform",
    "named",
    "read_search",
    "run_in_stages",
    "run_searches",
    "search_everywhere",
    "searched_nash_conv",
    "searched_policy",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'qdts.search' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""AlphaZero for games with hidden information: Q-Dispersion Tree Search.

The public names of the package. Each is imported on first use, so that `import qdts` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdts.errors import InputError
    from qdts.games import Family, Game, Parameter, load_game, register
    from qdts.learning.fit import fit
    from qdts.learning.loop import resume, train
    from qdts.learning.run import Run, open_run
    from qdts.play import PolicySeat, decide, play_match, read_seat
    from qdts.play.agent import Agent, load_agent
    from qdts.search.everywhere import searched_policy
    from qdts.search.options.parsing import read_search
    from qdts.search.run import run_searches
    from qdts.solving import (
        Measurement,
        Policy,
        Solution,
        best_response,
        expected_values,
        load_policy,
        measure_policy,
        nash_conv,
        save_policy,
        solve,
        uniform_policy,
        uniform_probabilities,
    )

_WHERE = {
    "qdts.errors": ["InputError"],
    "qdts.games": ["Family", "Game", "Parameter", "load_game", "register"],
    "qdts.learning.fit": ["fit"],
    "qdts.learning.loop": ["resume", "train"],
    "qdts.learning.run": ["Run", "open_run"],
    "qdts.play": ["PolicySeat", "decide", "play_match", "read_seat"],
    "qdts.play.agent": ["Agent", "load_agent"],
    "qdts.search.options.parsing": ["read_search"],
    "qdts.search.run": ["run_searches"],
    "qdts.search.everywhere": ["searched_policy"],
    "qdts.solving": [
        "Measurement",
        "Policy",
        "Solution",
        "best_response",
        "expected_values",
        "load_policy",
        "measure_policy",
        "nash_conv",
        "save_policy",
        "solve",
        "uniform_policy",
        "uniform_probabilities",
        "uniform_rows",  # the old name of uniform_probabilities
    ],
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Agent",
    "Family",
    "Game",
    "InputError",
    "Measurement",
    "Parameter",
    "Policy",
    "PolicySeat",
    "Run",
    "Solution",
    "best_response",
    "decide",
    "expected_values",
    "fit",
    "load_agent",
    "load_game",
    "load_policy",
    "measure_policy",
    "nash_conv",
    "open_run",
    "play_match",
    "read_search",
    "read_seat",
    "register",
    "resume",
    "run_searches",
    "save_policy",
    "searched_policy",
    "solve",
    "train",
    "uniform_policy",
    "uniform_probabilities",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'qdts' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

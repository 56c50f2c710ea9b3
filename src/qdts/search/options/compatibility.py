"""Which of the named searches can search which game, and which options make sense together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.search.options.options import SEARCHES, Options, named

OPEN_ONLY = {"puct": "a-ismcts", "uct": "ismcts"}
"""Searches for games that hide nothing, each with its counterpart for those that do."""

BANDIT = ("c", "belief", "decision", "c_lcb", "root_step", "root_reach", "root_q", "doubt", "root_doubt",
          "c_doubt", "root_temperature", "max_nodes", "trees", "self_determinization")  # fmt: skip
READ = {
    "bandit": BANDIT,
    "forest": tuple(f.name for f in fields(Options) if f.name not in ("machine", "trees", "self_determinization")),
}
"""The options that a machine reads."""
BELIEFS = {
    "forest": ("model", "rules", "holes", "completions", "bayes", "exact"),
    "bandit": ("rules", "holes", "completions", "visits"),
}
"""The beliefs that a machine can have."""


def search_with_networks(game: Game) -> str:
    """The name of the search that plays best with learned networks (docs/results.md)."""
    return "qdts-descent" if game.hidden else "puct"


def options_for(game: Game, name: str, **changes: Any) -> Options:
    """The options of a named search, some of them changed, if it can search this game and reads them all."""
    options = named(name, **changes)
    if game.hidden and name in OPEN_ONLY:
        raise InputError(
            f"{name} searches games that hide nothing, and {game.spec} hides something: use {OPEN_ONLY[name]}"
        )
    usual = SEARCHES[name]
    for option, value in changes.items():
        if value != getattr(usual, option) and option not in READ[usual.machine]:
            raise InputError(
                f"{option}={value} means nothing to {name}, expected an option of the {usual.machine}: "
                f"{', '.join(sorted(READ[usual.machine]))}"
            )
    verify_belief(options)
    return options


def verify_belief(options: Options) -> None:
    """Raise an InputError unless the machine knows the belief, and the bandit's trees what is wanted of them."""
    if options.belief not in BELIEFS[options.machine]:
        raise InputError(
            f"belief={options.belief} is not possible for the {options.machine}, "
            f"expected one of {', '.join(BELIEFS[options.machine])}"
        )
    if options.trees != "many" and options.machine == "bandit":
        if options.belief == "visits":
            raise InputError("belief=visits is not possible with trees=one, expected trees=many (mt-ismcts)")
        if options.self_determinization != "none":
            raise InputError(
                f"self_determinization={options.self_determinization} is not possible with trees=one, "
                "expected trees=many (mt-ismcts)"
            )

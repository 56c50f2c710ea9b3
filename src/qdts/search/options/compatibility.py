"""Which of the named searches can search which game, and which options go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdts.errors import InputError
from qdts.games.game import Game
from qdts.search.options.named import SEARCHES, named
from qdts.search.options.options import DESCRIPTIONS, Options, current_names
from qdts.search.options.variants import Belief, Machine, SelfDeterminization, Trees

BELIEFS: Mapping[Machine, Sequence[Belief]] = {
    Machine.FOREST: [belief for belief in Belief if belief is not Belief.VISITS],
    Machine.BANDIT: [Belief.RULES, Belief.HOLES, Belief.COMPLETIONS, Belief.VISITS],
}
"""The beliefs that a machine can have."""


def search_with_networks(game: Game) -> str:
    """The name of the search that plays best with learned networks (docs/results.md)."""
    return "qdts-descent" if game.hidden else "puct"


def options_for(game: Game, name: str, **changes: Any) -> Options:
    """The options of a named search with some of them changed.

    Raises an InputError unless the search is possible in this game and reads every option that is changed.
    """
    changes = current_names(changes)
    options = named(name, **changes)
    search = SEARCHES[name]
    if game.hidden and search.with_hidden is not None:
        raise InputError(
            f"{name} searches perfect-information games, and {game.spec} has hidden information: "
            f"use {search.with_hidden}"
        )
    machine = search.options.machine
    read = [option for option, description in DESCRIPTIONS.items() if machine in description.readers]
    for option in changes:
        value = getattr(options, option)
        if value != getattr(search.options, option) and option not in read:
            raise InputError(
                f"{option}={value} means nothing to {name}, expected an option of the {machine}: "
                f"{', '.join(sorted(read))}"
            )
    verify_belief(options)
    return options


def verify_belief(options: Options) -> None:
    """Raise an InputError unless the machine can have the belief, and the bandit's trees allow it."""
    if options.belief not in BELIEFS[options.machine]:
        raise InputError(
            f"belief={options.belief} is not possible for the {options.machine}, "
            f"expected one of {', '.join(BELIEFS[options.machine])}"
        )
    if options.machine is Machine.BANDIT and options.trees is Trees.ONE:
        if options.belief is Belief.VISITS:
            raise InputError("belief=visits is not possible with trees=one, expected trees=many (mt-ismcts)")
        if options.self_determinization is not SelfDeterminization.NONE:
            raise InputError(
                f"self_determinization={options.self_determinization} is not possible with trees=one, "
                "expected trees=many (mt-ismcts)"
            )

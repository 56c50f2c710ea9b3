"""What all simulations of a search have in common."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from qdts.fields import tuple_type
from qdts.games.game import Game
from qdts.games.interface import KernelsType, RulesType
from qdts.games.playouts import PlayoutType, playout_of
from qdts.kernels import Ints
from qdts.search.bandit.tree import ROOT
from qdts.search.evaluation.policy_table import PolicyTable, PolicyTableType
from qdts.search.options.options import Options

PERIOD = {"none": 0, "pure": 1, "split": 2}
"""Every how many simulations the world is one that the player knows to be impossible."""


class Setup(NamedTuple):
    """A game and how it is searched; in kernels pointers to the arrays."""

    game: Annotated[Any, KernelsType]
    rules: Annotated[Ints, RulesType]
    playout: Annotated[Any, PlayoutType]
    table: Annotated[PolicyTable, PolicyTableType]
    hidden: bool
    """The game hides something."""
    many: bool
    """There is a tree for each player."""
    uniform: bool
    """The values of a hole are equally likely."""
    rolled: bool
    """Playouts follow the policy of the table."""
    period: int
    """Every how many simulations the world is one that the player knows to be impossible; 0: never."""
    explore: float
    """c · S"""
    max_nodes: int
    """Of a tree, the empty place counted."""
    visits: int
    """Of every root."""
    depth: int
    """The longest path that a game can have."""

    @property
    def is_plain(self) -> bool:
        """Whether there is one tree, with the rules' weights and random playouts."""
        return not (self.many or self.uniform or self.rolled)


SetupType = tuple_type(Setup)


def make_setup(game: Game, options: Options, visits: int, table: PolicyTable) -> Setup:
    """The search of a game, with playouts by the policy of a table unless it is empty."""
    many = game.hidden and options.trees == "many"
    return Setup(
        game=game.kernels,
        rules=game.rules,
        playout=playout_of(game),
        table=table,
        hidden=game.hidden,
        many=many,
        uniform=options.belief == "holes",
        rolled=len(table.views) > 0,
        period=PERIOD[options.self_determinization] if many else 0,
        explore=options.c * game.scale,
        max_nodes=options.max_nodes + ROOT,
        visits=visits,
        depth=game.max_depth,
    )

"""Rules as small compiled functions over a world, one file a game; the interface and the registry."""

from qdts.games.defaults import at_least, one_hot
from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.layout import Field, Layout
from qdts.games.registry import family_names, find_family, load_game, register
from qdts.games.rule import CHANCE, NO_HOLE, OTHERS, TERMINAL, UNKNOWN, compile_rules, rule

__all__ = [
    "CHANCE",
    "NO_HOLE",
    "OTHERS",
    "TERMINAL",
    "UNKNOWN",
    "Family",
    "Field",
    "Game",
    "Layout",
    "Parameter",
    "at_least",
    "compile_rules",
    "family_names",
    "find_family",
    "load_game",
    "one_hot",
    "register",
    "rule",
]

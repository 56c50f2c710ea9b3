"""Rules as small compiled functions over a world, one file a game; the interface and the registry."""

from qdts.games.family import Family, Parameter
from qdts.games.game import Game
from qdts.games.registry import family_names, find_family, load_game, register

__all__ = ["Family", "Game", "Parameter", "family_names", "find_family", "load_game", "register"]

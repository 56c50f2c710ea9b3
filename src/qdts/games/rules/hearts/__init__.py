"""Hearts: `play` has the rules of play, `holes` what a view may hide, `family` the parameters and description."""

from qdts.games.rules.hearts.family import FAMILY

__all__ = ["FAMILY"]

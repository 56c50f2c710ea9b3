"""Goofspiel: `play` has the rules of play, `holes` what a view may hide, `family` parameters and description."""

from qdts.games.rules.goofspiel.family import FAMILY

__all__ = ["FAMILY"]

"""A search's options as kernels read them: a named tuple of numbers.

Its fields are those of `GameNumbers`, and the options whose description says that kernels read them.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple

from numba import float64, int64, types

from qdts.games import defaults
from qdts.games.game import Game
from qdts.kernels import declare
from qdts.search.options.options import DESCRIPTIONS, Options

TIE = 1e-9
"""How close two ends of intervals may be to count as touching, in units of S."""


class GameNumbers(NamedTuple):
    """What kernels know of the game that is searched."""

    hidden: int
    """1 if the game hides something."""
    players: int
    has_split_actions: int
    """1 if the game has split actions."""
    scale: float
    """S"""
    tie: float
    """How close two ends of intervals may be to count as touching."""
    neutral: float
    """The value of a game about which nothing is known."""


_PACKED = {name: description for name, description in DESCRIPTIONS.items() if description.in_kernels}
_TYPES = [
    *(int64 if kind in ("int", int) else float64 for kind in GameNumbers.__annotations__.values()),
    *(int64 if description.whole else float64 for description in _PACKED.values()),
]

if TYPE_CHECKING:

    class PackedOptions(tuple[float, ...]):
        """Numbers for kernels; constants that are compared with Q are already multiplied by S."""

        _fields: tuple[str, ...]

        def __init__(self, *numbers: float) -> None: ...
        def __new__(cls, *numbers: float) -> PackedOptions: ...  # noqa: D102
        def __getattr__(self, name: str) -> Any: ...

else:
    PackedOptions = namedtuple("PackedOptions", [*GameNumbers._fields, *_PACKED])

PackedOptionsType = types.NamedTuple(_TYPES, PackedOptions)
declare(PackedOptions, PackedOptionsType)


def pack_options(game: Game, options: Options) -> PackedOptions:
    """The numbers that kernels get for a search of this game."""
    scale = game.scale
    numbers = GameNumbers(
        hidden=int(game.hidden),
        players=game.players,
        has_split_actions=int(game.kernels.midway.dispatcher is not defaults.midway),
        scale=scale,
        tie=TIE * scale,
        neutral=game.neutral_value,
    )
    values = (d.number(getattr(options, name)) * (scale if d.in_units_of_s else 1) for name, d in _PACKED.items())
    return PackedOptions(*numbers, *values)

"""Named tuples of arrays that are declared once: name, type, axes and meaning of a field stand in one line.

    class Tree(NamedTuple):
        view: Annotated[Ints, "N W"]  # what the observer sees at a node
        mover: Annotated[Bytes, "N"]  # the player to move
        players: int

Axes are letters, which the module of the tuple explains, or names of constants. The numba type of the tuple and the
arrays themselves are made from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numba import boolean, float64, from_dtype, int64, types

from qdts.kernels import declare

T = TypeVar("T")
_SCALARS = {int: int64, float: float64, bool: boolean}


class Field(NamedTuple):
    """One field of a named tuple."""

    type: types.Type
    """The numba type of one entry; of a field that is no array, of the field."""
    axes: tuple[str, ...]
    """Empty where the field is no array."""
    more: tuple[Any, ...]
    """What else is said of it."""


def fields_of(kind: type) -> dict[str, Field]:
    """The fields of a named tuple, as declared, in their order."""
    return {name: _field(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}


def _field(hint: Any) -> Field:
    more: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        more = tuple(rest)
    if more and isinstance(more[0], types.Type):
        return Field(more[0], (), more[1:])
    hint = _written_out(hint)
    if get_origin(hint) is not np.ndarray:
        return Field(_SCALARS.get(hint), (), more)
    (scalar,) = get_args(get_args(hint)[1])
    return Field(from_dtype(np.dtype(scalar)), tuple(more[0].split()), more[1:])


def _written_out(hint: Any) -> Any:
    """What a generic alias stands for: in some versions of numpy `NDArray` is one, in others it is `np.ndarray`."""
    origin = get_origin(hint)
    return origin.__value__[get_args(hint)] if hasattr(origin, "__value__") else hint


def tuple_type(kind: type) -> types.NamedTuple:
    """The numba type of a named tuple of contiguous arrays and numbers, from now on that of all its instances.

    A field that is neither is declared as `Annotated[Any, its numba type]`.
    """
    fields = fields_of(kind).values()
    made = types.NamedTuple([types.Array(f.type, len(f.axes), "C") if f.axes else f.type for f in fields], kind)
    declare(kind, made)
    return made


def empty_arrays(kind: type[T], lengths: Mapping[str, int], **given: Any) -> T:
    """An instance whose arrays have axes of these lengths and anything in them, but for the fields that are given."""
    made = {
        name: np.empty([lengths[axis] for axis in field.axes], str(field.type))
        for name, field in fields_of(kind).items()
        if name not in given
    }
    return kind(**made, **given)

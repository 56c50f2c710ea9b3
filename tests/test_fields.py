"""Named tuples that are declared once: their types, their arrays, and kernels that take them as pointers."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import pytest
from numba import boolean, config, float64, int32, int64, types
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from qdts.fields import empty_arrays, fields_of, tuple_type
from qdts.kernels import Ints, Reals, kernel
from qdts.pointers import pointers_to


class Inner(NamedTuple):
    numbers: Annotated[Ints, "N"]
    scale: float


InnerType = tuple_type(Inner)


class Outer(NamedTuple):
    table: Annotated[NDArray[np.int32], "N W", "a mark"]
    weights: Annotated[Reals, "SIX"]
    inner: Annotated[Any, InnerType]
    negative: bool
    size: Annotated[int, "W"]


OuterType = tuple_type(Outer)


def test_a_field_is_read_from_its_declaration() -> None:
    fields = fields_of(Outer)
    assert list(fields) == list(Outer._fields)
    assert fields["table"] == (int32, ("N", "W"), ("a mark",))
    assert fields["size"] == (int64, (), ("W",))
    assert list(OuterType) == [int32[:, ::1], float64[::1], InnerType, boolean, int64]
    assert InnerType == types.NamedTuple([int64[::1], float64], Inner)


def test_arrays_have_the_declared_axes() -> None:
    made = empty_arrays(Inner, {"N": 3}, scale=2.0)
    assert made.numbers.shape == (3,)
    assert (str(made.numbers.dtype), made.scale) == ("int64", 2.0)


@kernel(float64(OuterType))
def weighted_sum(outer: Outer) -> float:
    """`Σ table weights numbers` by pointers, times the scale."""
    at, total = pointers_to(outer), 0.0
    for n in range(len(outer.inner.numbers)):
        for w in range(at.size):
            total += at.table[n * at.size + w] * at.weights[w] * at.inner.numbers[n]
    return (-total if at.negative else total) * at.inner.scale


@pytest.mark.skipif(config.DISABLE_JIT, reason="pointers are for compiled kernels")
@pytest.mark.parametrize("negative", [False, True])
def test_a_kernel_takes_nested_tuples_as_pointers(negative: bool) -> None:
    rng = np.random.default_rng(3)
    table, weights, numbers = rng.integers(0, 9, (4, 6)).astype(np.int32), rng.random(6), rng.integers(0, 9, 4)
    outer = Outer(table, weights, Inner(numbers, 0.5), negative, 6)
    expected = (numbers @ table @ weights) * (-0.5 if negative else 0.5)
    assert weighted_sum(outer) == pytest.approx(expected)


def test_an_alias_is_read_as_what_it_stands_for() -> None:
    scalar = TypeVar("scalar", bound=np.generic)
    array = TypeAliasType("array", np.ndarray[Any, np.dtype[scalar]], type_params=(scalar,))

    class Aliased(NamedTuple):
        table: Annotated[array[np.int32], "N"]

    Aliased.__annotations__["table"] = Annotated[array[np.int32], "N"]
    assert fields_of(Aliased)["table"] == (int32, ("N",), ())

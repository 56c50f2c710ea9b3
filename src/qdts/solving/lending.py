"""Named tuples of arrays lent to helpers of a kernel, so that nobody counts references to them.

numba counts references to an array atomically whenever it, or a tuple that holds it, goes into a helper, or a row of
it is taken. Where helpers run for every history, that was five sixths of the time. A kernel that is called from Python
holds its arguments anyway; what it hands on may as well be lent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from qdts.kernels import kernel

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

inlined = kernel(inline=True)
"""A helper that is always compiled into its callers, where it is seen that nothing is to be counted."""


def _lent(_typing: Any, given: types.BaseTuple) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        fields = []
        for kind, value in zip(signature.args[0], cgutils.unpack_tuple(builder, arguments[0]), strict=True):
            array = context.make_array(kind)(context, builder, value)
            for owner in ("meminfo", "parent"):
                setattr(array, owner, ir.Constant(getattr(array, owner).type, None))
            fields.append(array._getvalue())
        return context.make_tuple(builder, signature.return_type, fields)

    return given(given), generate


def lent(given: T) -> T:
    """The same arrays, which the caller keeps alive."""
    return given


if not config.DISABLE_JIT:
    lent = intrinsic(_lent)

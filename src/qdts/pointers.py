"""Raw pointers in kernels: rows of arrays without what arrays cost, a reference count at every call.

A pointer is indexed like an array of one axis, `p[i]`. It keeps nothing alive and knows no length: the array that it
points into must outlive the kernel that uses it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def pointer(array: Any) -> Any:
    """An array as a rule takes it: in kernels its address, and the array itself where the JIT is switched off."""
    return array


@overload(pointer, strict=False)  # type: ignore[untyped-decorator]
def _pointer(array: Any) -> Any:
    return lambda array: array.ctypes


@intrinsic  # type: ignore[untyped-decorator]
def element(typing: Any, array: Any, offset: Any) -> Any:
    """A pointer to the element `offset` of a contiguous array."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def read_tuple(typing: Any, numbers: Any, kind: Any) -> Any:
    """A named tuple of pointers and integers from an array of addresses and integers; `kind` is its numba type."""
    its_type = kind.instance_type

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        members = []
        for i, member in enumerate(its_type):
            number = builder.load(cgutils.gep_inbounds(builder, start, i))
            is_pointer = isinstance(member, types.CPointer)
            members.append(builder.inttoptr(number, context.get_value_type(member)) if is_pointer else number)
        return context.make_tuple(builder, its_type, members)

    return its_type(numbers, kind), codegen


@intrinsic  # type: ignore[untyped-decorator]
def moved(typing: Any, start: Any, offset: Any) -> Any:
    """A pointer to the element `offset` after the one pointed to."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return start(start, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing: Any, address: Any) -> Any:
    """Have the processor fetch what a pointer points to into its cache; nothing waits for it."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, address = ir.IntType(32), arguments[0]
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(prefetch, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(address), codegen

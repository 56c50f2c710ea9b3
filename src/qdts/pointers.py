"""Raw pointers in kernels: rows of arrays without what arrays cost, a reference count at every call.

A pointer is indexed like an array of one axis, `p[i]`. It keeps nothing alive and knows no length: the array that it
points into must outlive the kernel that uses it. A column is a pointer too, to one field of records that lie a stride
apart: `c[i]` is that of the i-th record, `entry(c, i)` a pointer to it.

`borrowed` does the same for named tuples of arrays: they stay arrays, whose references are no longer counted.
"""

from __future__ import annotations

import operator
from typing import Any, TypeVar

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

T = TypeVar("T")
StateType = types.uint64[::1]
"""The numba type of a random state (`qdts.rng`), and that of a pointer to one."""
StatePointer = types.CPointer(types.uint64)


class Column(types.Type):  # type: ignore[misc]
    """One field of records; `offset` is how many bytes of a record lie before it."""

    def __init__(self, dtype: types.Type, offset: int) -> None:
        self.dtype = dtype
        self.offset = offset
        super().__init__(f"Column({dtype}, {offset})")


@register_model(Column)
class ColumnModel(models.StructModel):  # type: ignore[misc]
    """Where the records begin, and the bytes from one to the next."""

    def __init__(self, manager: Any, its_type: Column) -> None:
        members = [("start", types.CPointer(types.int8)), ("stride", types.int64)]
        super().__init__(manager, its_type, members)


@infer_global(operator.getitem)
class _ReadColumn(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _names: Any) -> Any:
        """The type of `column[i]`."""
        column = arguments[0]
        return signature(column.dtype, column, types.int64) if isinstance(column, Column) else None


@infer_global(operator.setitem)
class _WriteColumn(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _names: Any) -> Any:
        """The type of `column[i] = x`."""
        column = arguments[0]
        return signature(types.none, column, types.int64, column.dtype) if isinstance(column, Column) else None


def column_address(context: Any, builder: Any, column: Column, value: Any, i: Any) -> Any:
    """Where the field of the i-th record is; what all fields of a record have in common comes first."""
    data = cgutils.create_struct_proxy(column)(context, builder, value=value)
    record = builder.gep(data.start, [builder.mul(i, data.stride)])
    field = builder.gep(record, [ir.Constant(ir.IntType(64), column.offset)])
    return builder.bitcast(field, context.get_value_type(types.CPointer(column.dtype)))


@lower_builtin(operator.getitem, Column, types.int64)  # type: ignore[untyped-decorator]
def _read_column(context: Any, builder: Any, its_signature: Any, arguments: Any) -> Any:
    return builder.load(column_address(context, builder, its_signature.args[0], *arguments))


@lower_builtin(operator.setitem, Column, types.int64, types.Any)  # type: ignore[untyped-decorator]
def _write_column(context: Any, builder: Any, its_signature: Any, arguments: Any) -> Any:
    builder.store(arguments[2], column_address(context, builder, its_signature.args[0], *arguments[:2]))
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def entry(typing: Any, column: Any, i: Any) -> Any:
    """A pointer to the field of the i-th record."""

    def codegen(context: Any, builder: Any, its_signature: Any, arguments: Any) -> Any:
        return column_address(context, builder, its_signature.args[0], *arguments)

    return types.CPointer(column.dtype)(column, types.int64), codegen


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


def flat(array: Any) -> Any:
    """The elements of a contiguous array in one sequence: in kernels a pointer to the first."""
    return array.reshape(-1)


@overload(flat, strict=False)  # type: ignore[untyped-decorator]
def _flat(array: Any) -> Any:
    return lambda array: element(array, 0)


@intrinsic  # type: ignore[untyped-decorator]
def pointers_to(typing: Any, arrays: Any) -> Any:
    """The same named tuple with pointers in the place of its arrays, and of those in tuples inside it."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lower_tuple(context, builder, signature.args[0], arguments[0])

    return _tuple_of_pointers(arrays)(arrays), codegen


def _tuple_of_pointers(given: types.BaseTuple) -> types.BaseTuple:
    members = []
    for member in given:
        if isinstance(member, types.Array):
            members.append(types.CPointer(member.dtype))
        else:
            members.append(_tuple_of_pointers(member) if isinstance(member, types.NamedTuple) else member)
    return types.NamedTuple(members, given.instance_class)


def _lower_tuple(context: Any, builder: Any, given: types.BaseTuple, value: Any) -> Any:
    members = []
    for member, part in zip(given, cgutils.unpack_tuple(builder, value), strict=True):
        if isinstance(member, types.Array):
            members.append(cgutils.create_struct_proxy(member)(context, builder, value=part).data)
        else:
            nested = isinstance(member, types.NamedTuple)
            members.append(_lower_tuple(context, builder, member, part) if nested else part)
    return context.make_tuple(builder, _tuple_of_pointers(given), members)


@intrinsic  # type: ignore[untyped-decorator]
def copy_records(typing: Any, source: Any, to: Any, count: Any) -> Any:
    """Copy whole records, from those at which two columns begin on; the columns are of the first field."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        old, new = (
            cgutils.create_struct_proxy(its_type)(context, builder, value=value)
            for its_type, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        cgutils.raw_memmove(builder, new.start, old.start, arguments[2], old.stride)
        return context.get_dummy_value()

    return types.void(source, to, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def moved(typing: Any, start: Any, offset: Any) -> Any:
    """A pointer to the element `offset` after the one pointed to, or the column from its record `offset` on."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(start, Column):
            return builder.gep(arguments[0], [arguments[1]])
        data = cgutils.create_struct_proxy(start)(context, builder, value=arguments[0])
        data.start = builder.gep(data.start, [builder.mul(arguments[1], data.stride)])
        return data._getvalue()

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


def _borrowed(_typing: Any, given: types.BaseTuple) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        fields = []
        for kind, value in zip(signature.args[0], cgutils.unpack_tuple(builder, arguments[0]), strict=True):
            array = context.make_array(kind)(context, builder, value)
            for owner in ("meminfo", "parent"):
                setattr(array, owner, ir.Constant(getattr(array, owner).type, None))
            fields.append(array._getvalue())
        return context.make_tuple(builder, signature.return_type, fields)

    return given(given), generate


def borrowed(given: T) -> T:
    """The same named tuple of arrays without reference counts; the caller of the kernel keeps the arrays alive.

    numba counts references atomically whenever an array, or a tuple that holds it, is passed to a helper, or a row is
    taken. Where inlined helpers run for every history, counting took five sixths of the time.
    """
    return given


if not config.DISABLE_JIT:
    borrowed = intrinsic(_borrowed)

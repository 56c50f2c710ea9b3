"""What a game is: twelve small functions over a world, and what they are compiled to.

A *world* is a full state of a game: a vector of int64 components of fixed length, each non-negative. A *view* is
what one player knows: the same vector with every component that they do not know set to UNKNOWN; each of these
is a *hole*. `docs/games.md` says what each function promises and how larger games fit.

The functions take raw pointers (index them, don't slice them): passing whole arrays costs more than twice as
much, and plain C pointers let any caller in, compiled or not.

    rules   `Game.rules`, the parameters of this game as integers (`real` reads a float among them)
    world   the components, read or changed in place
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from numba import float32, float64, int64, types
from numba.core import cgutils
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.typing.templates import Signature
from numba.experimental.function_type import FunctionModel
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from qdts.compiler import swiftly
from qdts.errors import InputError
from qdts.games.rule import CHANCE, NO_HOLE, OTHERS, TERMINAL, UNKNOWN, Kernels, compile_rules, rule
from qdts.games.rule_errors import verify_compilable, why_not
from qdts.kernels import CachedKernel, declare, is_interpreted

__all__ = [
    "CHANCE",
    "NO_HOLE",
    "OTHERS",
    "SIGNATURES",
    "TERMINAL",
    "UNKNOWN",
    "FeaturesType",
    "FunctionPointer",
    "Kernels",
    "KernelsType",
    "Pointer",
    "PointerType",
    "Real32Pointer",
    "RealPointer",
    "RulesType",
    "compile_rules",
    "pointers",
    "rule",
]

Pointer = types.CPointer(int64)
RealPointer = types.CPointer(float64)
Real32Pointer = types.CPointer(float32)

SIGNATURES: dict[str, Signature] = {
    # initial(rules, world): write the world before anything has happened.
    "initial": types.void(Pointer, Pointer),
    # mover(rules, world): the player to move, CHANCE, TERMINAL, or OTHERS where the view leaves it open.
    "mover": int64(Pointer, Pointer),
    # legal(rules, world, actions): write the mover's legal actions, ascending; return how many.
    "legal": int64(Pointer, Pointer, Pointer),
    # chance(rules, world, outcomes, probabilities): write what chance may do, ascending; return how many.
    "chance": int64(Pointer, Pointer, Pointer, RealPointer),
    # step(rules, world, action): let the mover (or chance) act; change the world in place.
    "step": types.void(Pointer, Pointer, int64),
    # returns(rules, world, utilities): write every player's utility of a finished game.
    "returns": types.void(Pointer, Pointer, RealPointer),
    # redact(rules, world, player): turn the world into the player's view, in place.
    "redact": types.void(Pointer, Pointer, int64),
    # hole(rules, view): the next component to fill, or NO_HOLE.
    "hole": int64(Pointer, Pointer),
    # values(rules, view, hole, values, weights): write what the hole may hold and how likely the rules make
    # each (positive, summing to one); return how many.
    "values": int64(Pointer, Pointer, int64, Pointer, RealPointer),
    # fill(rules, view, hole, value): fill a hole, and set every component that follows from it, in place.
    "fill": types.void(Pointer, Pointer, int64, int64),
    # midway(rules, world): 1 while a split action (or chance event) is not complete yet, else 0.
    "midway": int64(Pointer, Pointer),
    # features(rules, world, player, out): write what a network sees of a world or view from the player's seat.
    "features": types.void(Pointer, Pointer, int64, Real32Pointer),
}


class PointerType(types.FunctionType):  # type: ignore[misc]
    """The numba type of a `FunctionPointer`: a first-class function, handed over without a call of Python code."""


register_model(PointerType)(FunctionModel)


class FunctionPointer:
    """The address of one compiled function: a first-class function in kernels, a C function in Python.

    It compiles when it is first used.
    """

    def __init__(self, dispatcher: Any, signature: Signature) -> None:
        if not isinstance(dispatcher, CachedKernel):
            raise TypeError(f"'{dispatcher.__name__}' is not compiled: decorate it with @rule")
        self._signature = signature
        self.its_type = PointerType(signature)
        self.dispatcher = dispatcher

    @cached_property
    def address(self) -> int:
        """Where the function is; an InputError if it does not compile."""
        verify_compilable(self.dispatcher, self._signature)
        try:
            with swiftly():
                dispatcher = self.dispatcher.made()
                dispatcher.compile(self._signature.args)
                compiled = dispatcher.get_compile_result(self._signature)
        except (NumbaError, UnsupportedBytecodeError, TypeError) as error:
            raise InputError(why_not(self.dispatcher, error)) from error
        self._keep_alive = compiled
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
        if not address:
            raise TypeError(f"'{self.dispatcher.__name__}' can't be called through a pointer: decorate it with @rule")
        return address

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The function for Python, which takes addresses and integers."""
        ctype: dict[Any, Any] = {int64: ctypes.c_int64, types.void: None}
        arguments = [ctype.get(a, ctypes.c_void_p) for a in self._signature.args]
        return ctypes.CFUNCTYPE(ctype[self._signature.return_type], *arguments)(self.address)


@typeof_impl.register(FunctionPointer)  # type: ignore[untyped-decorator]
def _type_of_pointer(pointer: FunctionPointer, _context: Any) -> types.Type:
    """What numba would else work out at every call."""
    return pointer.its_type


@unbox(PointerType)  # type: ignore[untyped-decorator]
def _unbox_pointer(its_type: PointerType, pointer: Any, c: Any) -> NativeValue:
    """The address that a pointer has; numba's own way makes two calls of Python code, ten times as slow."""
    function = cgutils.create_struct_proxy(its_type)(c.context, c.builder)
    address = c.pyapi.object_getattr_string(pointer, "address")
    with c.builder.if_then(cgutils.is_null(c.builder, address), likely=False):
        c.builder.ret(c.pyapi.get_null_object())
    function.c_addr = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(function._getvalue())


KernelsType = types.NamedTuple([*(PointerType(SIGNATURES[f]) for f in Kernels._fields[:-1]), types.none], Kernels)
"""The numba type of `Kernels`: the same for every game, so an engine that takes it compiles once.

Engines see nothing of `features`, which compiles when it is first used: a kernel that calls it takes it as an
argument of its own, of FeaturesType.
"""
FeaturesType = PointerType(SIGNATURES["features"])

declare(Kernels, KernelsType)

RulesType = types.Array(int64, 1, "C", readonly=True)
"""The numba type of `Game.rules`."""


def pointers(rules: Kernels) -> Kernels:
    """Pointers to the rules of a game, the same for all its parameters; with the JIT switched off the rules."""
    return rules if is_interpreted() else _pointers(*rules)


@cache
def _pointers(*functions: Any) -> Kernels:
    kernels = Kernels(*(FunctionPointer(f, s) for f, s in zip(functions, SIGNATURES.values(), strict=True)))
    for pointer in kernels[:-1]:
        assert pointer.address
    return kernels

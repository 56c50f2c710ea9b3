"""What the author of a game needs: the twelve rules by name, the numbers with a meaning, and how rules are marked.

`interface` has what they are compiled to. Nothing here loads numba, so that games can be listed without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from qdts.kernels import compiled

if TYPE_CHECKING:
    from qdts.games.interface import FunctionPointer

UNKNOWN = -1
"""A component that the owner of a view does not know."""
CHANCE = -1
"""`mover`: chance is to move."""
TERMINAL = -2
"""`mover`: the game is over."""
OTHERS = -3
"""`mover` on a view: not its owner; who it is depends on the holes."""
NO_HOLE = -1
"""`hole`: nothing is left to fill."""

F = TypeVar("F", bound=Callable[..., Any])


class Kernels(NamedTuple):
    """The compiled functions of one game; `interface.SIGNATURES` says what each does."""

    initial: FunctionPointer
    mover: FunctionPointer
    legal: FunctionPointer
    chance: FunctionPointer
    step: FunctionPointer
    returns: FunctionPointer
    redact: FunctionPointer
    hole: FunctionPointer
    values: FunctionPointer
    fill: FunctionPointer
    midway: FunctionPointer
    features: FunctionPointer


@overload
def rule(function: F) -> F: ...
@overload
def rule() -> Callable[[F], F]: ...
def rule(function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Mark one of a game's twelve functions, known by its name; `compile_rules` says when it compiles.

    A kernel that calls it by name, not through its pointer, has its code inline. `@rule()` is the same as `@rule`.
    """
    if function is None:
        return rule
    if function.__name__ not in Kernels._fields:
        raise TypeError(f"@rule on '{function.__name__}': expected one of {', '.join(Kernels._fields)}")
    return compiled(function, no_cpython_wrapper=True, no_rewrites=True, forceinline=True)


def compile_rules(namespace: dict[str, Any]) -> Kernels:
    """The compiled functions of a game module, given its globals; what it lacks is taken from `defaults`.

    All compile now but `features`, which no engine calls.
    With numba's compiler switched off they are the plain functions, for tools that call them in the interpreter.
    """
    from qdts.games import defaults, interface

    found: dict[str, Any] = {name: namespace.get(name) or getattr(defaults, name, None) for name in Kernels._fields}
    missing = [name for name, function in found.items() if function is None]
    if missing:
        raise TypeError(f"rules are missing: {', '.join(missing)} (functions of these names, decorated with @rule)")
    return interface.pointers(Kernels(**found))

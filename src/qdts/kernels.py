"""Compiled functions. A kernel compiles when it is first needed, or is loaded from the cache.

Modules with kernels can be imported without numba, unless they write down signatures with its types.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from qdts.code_cache import PACKAGE, cache_folder, fingerprint, private_folder

F = TypeVar("F", bound=Callable[..., Any])

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Reals32 = NDArray[np.float32]


def kernel(signature: Any = None, *, inline: bool = False) -> Callable[[F], F]:
    """Compile a function in nopython mode, cached on disk and never stale.

    With a signature (numba's, or the text of one) it compiles when it is first called, from Python or by another
    kernel. Without one it is a helper for other kernels, compiled with the first of them that calls it, in each process
    that compiles one; `inline` puts its code into theirs, however long it is. Python runs a helper as it is written.
    """
    if isinstance(signature, FunctionType):
        raise TypeError(f"@kernel on '{signature.__name__}': a helper is decorated with @kernel(), with brackets")
    if signature is None:
        return functools.partial(_helper, forceinline=inline)
    return functools.partial(compiled, signature=signature)


def compiled(function: F, *, signature: Any = None, beside: Sequence[Path] = (), **options: bool) -> F:
    """A kernel whose code is kept, for one signature, or for all that it is called with.

    It is kept until its sources change: those of the function, and of other files whose kernels it calls, `beside`.
    Divisions follow IEEE (no exceptions), and the interpreter's lock is free while it runs. Options leave out what
    numba would make besides: wrappers that nobody calls cost a quarter of the time to compile a game.
    """
    if is_interpreted():
        return function
    files = [*beside, Path(function.__code__.co_filename)]
    return cast(F, CachedKernel(function, signature, files, **options))


def _helper(function: F, **options: bool) -> F:
    return function if is_interpreted() else cast(F, Kernel(function, **options))


def is_interpreted() -> bool:
    """Whether numba's compiler is switched off (NUMBA_DISABLE_JIT=1), and kernels are plain functions."""
    loaded = sys.modules.get("numba.core.config")
    return bool(loaded.DISABLE_JIT) if loaded else os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Kernel:
    """A function that kernels call, compiled with the first of them."""

    __name__: str

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = options

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the function as it is written."""
        return self.py_func(*arguments, **named)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What numba knows the function by."""
        from qdts.compiler import helper

        return helper(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """By this numba takes the kernel for its dispatcher, wherever another kernel names it."""
        return self.dispatcher._numba_type_


class CachedKernel(Kernel):
    """A function whose machine code is kept between processes."""

    def __init__(self, function: Callable[..., Any], signature: Any, files: Sequence[Path], **options: bool) -> None:
        super().__init__(function, **options)
        self._signature = signature
        self._module = _module_of(files[0])
        self._fingerprint = fingerprint(*files)  # now, while the sources are those that were imported
        self._making = self._ready = False
        self._plain = options.get("no_cpython_wrapper", False) or _takes_pointers(signature)
        """Whether Python can't call the machine code."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code; where Python can't call it, the function as it is written."""
        if self._plain:
            return self.py_func(*arguments, **named)
        return (self.dispatcher if self._ready else self.made())(*arguments, **named)

    @property
    def folder(self) -> Path:
        """Where the code is kept."""
        from qdts.compiler import VERSION

        return cache_folder(self._module, self._fingerprint, VERSION)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What numba knows the function by."""
        from qdts.compiler import cached

        return cached(self.py_func, self.folder, **self._options)

    @property
    def _numba_type_(self) -> Any:
        return self.made()._numba_type_

    def made(self) -> Any:
        """The dispatcher, which has the code for the signature, compiled now or taken from the cache."""
        if not self._ready:
            from qdts.compiler import swiftly

            with swiftly():
                if not self._making and not self._ready:  # else it calls itself, or another thread was quicker
                    self._make()
        return self.dispatcher

    def _make(self) -> None:
        self._making = True
        try:
            if self._signature is not None:
                self.dispatcher.compile(self._signature)
                self.dispatcher.disable_compile()
            self._ready = self.dispatcher is not None
        finally:
            self._making = False

    @property
    def is_made(self) -> bool:
        """Whether this process has made or loaded the code for a signature."""
        return self._ready and self._signature is not None

    def is_kept(self) -> bool:
        """Whether the code for the signature is there already, and for other processes, too."""
        from qdts.compiler import is_kept, swiftly

        with swiftly():
            return self.folder != private_folder() and is_kept(self.dispatcher, self._signature)


def compile_now(*kernels: Callable[..., Any]) -> None:
    """Compile kernels that have a signature, or load them from the cache, before a clock starts."""
    for function in kernels:
        if isinstance(function, CachedKernel):
            function.made()


def declare(kind: type, its_type: Any) -> None:
    """Tell numba the type of all instances of a named tuple, which it would else work out at every call."""
    from numba.extending import typeof_impl

    typeof_impl.register(kind)(lambda _value, _context: its_type)


def _takes_pointers(signature: Any) -> bool:
    """Whether a signature has bare pointers among its arguments, for which Python has no value."""
    if isinstance(signature, str):
        return "CPointer" in signature
    return any(type(argument).__name__ == "CPointer" for argument in getattr(signature, "args", ()))


def _module_of(file: Path) -> str:
    """The name of a source's module, for its folder; the part after the package's name if it is one of ours."""
    if file.is_relative_to(PACKAGE):
        return ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    return "own." + "".join(c if c.isalnum() else "_" for c in file.stem)

"""How numba compiles our kernels: faster than it would by itself, and nothing that nobody calls.

Imported when the first kernel is needed, for numba takes the better part of a second to load.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import config, types
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

VERSION = f"{numba.__version__} {llvmlite.__version__}"
DIGEST_SIZE = 16
"""Bytes of the digest at the end of a file of machine code."""


def cached(function: Callable[..., Any], folder: Path, **options: bool) -> Any:
    """A dispatcher whose code is kept in a folder."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        made = _widened(numba.njit(cache=True, error_model="numpy", nogil=True, **options)(function))
    finally:
        config.CACHE_DIR = before
    cache = made._cache
    cache._cache_file = _KeptCode(cache.cache_path, cache._impl.filename_base, cache._impl.locator.get_source_stamp())
    return made


def helper(function: Callable[..., Any], **options: bool) -> Any:
    """A dispatcher that only kernels call. It is not cached: what it compiles to lies within theirs."""
    bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
    made = numba.njit(pipeline_class=_HelperCompiler, error_model="numpy", nogil=True, **bare, **options)(function)
    return _widened(made)


def _widened(dispatcher: Any) -> Any:
    """A dispatcher that takes every whole number from other kernels as an int64: constants and narrow integers, too.

    numba would compile the function anew for each constant and each width that it is called with. What it computes is
    the same, since all arithmetic is done in 64 bits.
    """
    call_template = dispatcher.get_call_template

    def get_call_template(arguments: Any, named: Any) -> Any:
        return call_template([_wide(a) for a in arguments], {name: _wide(a) for name, a in named.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher


def _wide(argument: types.Type) -> types.Type:
    wide = types.unliteral(argument)
    return types.int64 if wide in types.signed_domain else wide


def is_kept(dispatcher: Any, signature: Any) -> bool:
    """Whether a dispatcher's folder has the code for a signature."""
    cache = dispatcher._cache
    return cache._index_key(signature, dispatcher.targetctx.codegen()) in cache._cache_file._load_index()


class _KeptCode(IndexDataCacheFile):  # type: ignore[misc]
    """The files that hold a function's machine code, with a digest of it.

    What is damaged counts as missing, so it is compiled anew and replaced. What can't be written is not kept.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a signature, if the disk takes it."""
        with contextlib.suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # whatever pickle makes of damaged bytes
            return {}

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(code + _digest(code))

    def _load_data(self, name: str) -> Any:
        kept = Path(self._data_path(name)).read_bytes()
        if _digest(kept[:-DIGEST_SIZE]) != kept[-DIGEST_SIZE:]:
            raise OSError(f"'{name}' is damaged")  # numba takes it for a file that is gone
        return super()._load_data(name)  # which ignores what follows the code


def _digest(code: bytes) -> bytes:
    return hashlib.blake2b(code, digest_size=DIGEST_SIZE).digest()


@contextlib.contextmanager
def swiftly() -> Iterator[None]:
    """Within this block a game's rules compile in a fifth less time, and no other thread compiles.

    What an operator gives on operands of some types is worked out once; numba tries all that the operator can do
    wherever it stands. And no garbage is looked for.
    """
    with global_compiler_lock:
        before = types.Function.get_call_type
        types.Function.get_call_type = _remembered_call_type
        try:
            with uncollected():
                yield
        finally:
            types.Function.get_call_type = before


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Within this block no garbage is looked for: where many objects are made and hardly any garbage."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


_call_type = types.Function.get_call_type
_call_types: dict[Any, Any] = {}


def _remembered_call_type(function: Any, context: Any, operands: Any, names: Any) -> Any:
    if getattr(function.typing_key, "__module__", "") != "_operator" or names:
        return _call_type(function, context, operands, names)
    key = function, tuple(operands)
    if key not in _call_types:
        _call_types[key] = _call_type(function, context, operands, names)
    return _call_types[key]


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A helper's code as it is linked into its callers: neither optimised by itself nor made machine code.

    Both would be done again within each caller; leaving them out saves a sixth of the time to compile a game.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> _HelperLibrary:
        """Whoever sets the environment of the code, which is there for exceptions: helpers raise none."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """There is no machine code that could use it."""


class _HelperCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which makes a library of our kind."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        self.state.library = _HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)

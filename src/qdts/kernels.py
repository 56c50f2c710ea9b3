"""Compiled functions, and where their machine code is kept between processes.

numba's on-disk cache looks only at the file that a function is defined in, so an edit to a helper in
another file would run stale code. Here the cache folder's name is a hash of every source that a kernel
can reach: all of qdts but its front ends, which no kernel imports, and, for a kernel defined elsewhere, every
Python file beside it, or of the whole package that it belongs to.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.extending import typeof_impl
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Reals32 = NDArray[np.float32]

CACHE_NAME = re.compile("kernels-[0-9a-f]{24}")
PACKAGE = Path(__file__).parent
FRONT_ENDS = ("cli", "learning", "play")
"""Folders of the package without kernels, from which no kernel may import."""
KEPT_CACHES = 8
"""How many generations of compiled code stay on disk; older ones are removed when a new one is made."""


def kernel(signature: Any = None, *, inline: bool = False) -> Callable[[F], F]:
    """Compile a function in nopython mode, cached on disk and never stale.

    With a signature it compiles now, and Python calls the compiled code. Without one it is a helper for other kernels,
    compiled with the first of them that calls it, in each process that compiles one; `inline` puts its code into
    theirs, however long it is. Called from Python, a helper runs as the plain function that it was written as, with
    arrays in the place of pointers.
    """
    if signature is None:
        return functools.partial(_helper, forceinline=inline)
    return functools.partial(compiled, signature=signature)


def compiled(function: F, *, signature: Any = None, beside: Path | None = None, **options: bool) -> F:
    """A numba dispatcher that caches in `cache_folder`, or the function itself where the JIT is switched off.

    The folder is that of the function's source, or of another file whose kernels it calls, `beside`.
    Divisions follow IEEE (no exceptions), and the interpreter's lock is free while it runs. Options leave out what
    numba would make besides: wrappers that nobody calls cost a quarter of the time to compile a game.
    """
    if config.DISABLE_JIT:
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder((beside or Path(function.__code__.co_filename)).parent))
    try:
        with swiftly():
            made = numba.njit(signature, cache=True, error_model="numpy", nogil=True, **options)(function)
        takes_pointers = any(isinstance(a, types.CPointer) for a in getattr(signature, "args", ()))
        return _plain_in_python(made) if takes_pointers or options.get("no_cpython_wrapper") else made
    finally:
        config.CACHE_DIR = before


@contextlib.contextmanager
def swiftly() -> Iterator[None]:
    """Within this block a game's rules compile in a fifth less time.

    What an operator gives on operands of some types is worked out once; numba tries all that the operator can do
    wherever it stands. And no garbage is looked for.
    """
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


def declare(kind: type, its_type: types.Type) -> None:
    """Tell numba the type of all instances of a named tuple, which it would else work out at every call."""
    typeof_impl.register(kind)(lambda _value, _context: its_type)


def _helper(function: F, **options: bool) -> F:
    """A dispatcher for kernels. It is not cached: what it compiles to lies within theirs."""
    if config.DISABLE_JIT:
        return function
    bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
    made = numba.njit(pipeline_class=_HelperCompiler, error_model="numpy", nogil=True, **bare, **options)(function)
    return _plain_in_python(made)


class _PlainDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher whose machine code Python can't call: in Python it runs the function as it was written."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)


def _plain_in_python(dispatcher: Any) -> Any:
    """The dispatcher, safe to call from Python: numba's own call of code without a wrapper ends the process."""
    dispatcher.__class__ = _PlainDispatcher
    return dispatcher


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


@functools.cache
def cache_folder(source_folder: Path) -> Path:
    """The folder for code compiled from sources in `source_folder`, made if it does not exist."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    outside = [] if source_folder.is_relative_to(PACKAGE) else _sources_around(source_folder)
    inside = (f for f in sorted(PACKAGE.rglob("*.py")) if f.relative_to(PACKAGE).parts[0] not in FRONT_ENDS)
    for file in [*inside, *outside]:
        digest.update(f"\0{file.relative_to(file.parents[1])}\0".encode() + file.read_bytes())
    folder = cache_root() / f"kernels-{digest.hexdigest()[:24]}"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _forget_old(folder.parent)
        os.utime(folder)  # so that what is in use counts as new
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:  # nothing can be kept: a private folder for this process alone
        private = Path(tempfile.mkdtemp(prefix="qdts-"))
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        return private


def _sources_around(folder: Path) -> list[Path]:
    """Every Python file of the package that a folder belongs to, or of the folder alone if it is none.

    What can't be read (an editor's dangling link, a stranger's file) can't be imported either, and is left out.
    """
    found = folder.glob("*.py")
    if (folder / "__init__.py").exists():
        while (folder.parent / "__init__.py").exists():
            folder = folder.parent
        found = folder.rglob("*.py")
    return sorted(file for file in found if file.is_file() and os.access(file, os.R_OK))


def cache_root() -> Path:
    """`$QDTS_CACHE_DIR`, or the user's cache folder."""
    if given := os.environ.get("QDTS_CACHE_DIR"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "qdts"


def _forget_old(root: Path) -> None:
    """Remove all but the newest generations of compiled code under `root`, and nothing else."""
    with contextlib.suppress(OSError):
        ours = [f for f in root.iterdir() if f.is_dir() and CACHE_NAME.fullmatch(f.name)]
        folders = sorted(ours, key=lambda f: f.stat().st_mtime, reverse=True)
        for folder in folders[KEPT_CACHES:]:
            shutil.rmtree(folder, ignore_errors=True)

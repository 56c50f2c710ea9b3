"""Where machine code is kept between processes: one folder for each module, named by what its kernels can reach.

numba's own cache looks only at the file that a function is defined in, so an edit to a helper in another file would
run stale code. Here a folder's name holds a hash of the module and of all modules of the package that it imports, and
that these import, at their top: a kernel can reach no others. An edit anywhere else leaves the code in place.
A module outside of the package is hashed with every Python file beside it, or of the whole package that it belongs to.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent
KEPT = 8
"""How many generations of a module's code stay on disk; older ones are removed when a new one is made."""
UNUSED_SECONDS = 60 * 24 * 3600.0
"""Code that was not used for so long is removed, too: its module may be gone."""

FOLDER = re.compile(r"kernels-(?:(\S+)-)?[0-9a-f]{24}")
"""The name of a folder, and in it that of the module; up to version 1 it had no module."""
TOP_IMPORT = re.compile(rb"^(?:from (qdts[\w.]*) import (\([^)]*\)|[^\n]*)|import (qdts[\w.]*))", re.MULTILINE)
ANY_IMPORT = re.compile(TOP_IMPORT.pattern.replace(b"^", rb"^[ \t]*", 1), re.MULTILINE)
"""An import of the package's modules, at the top of a module or anywhere in it."""


@functools.cache
def fingerprint(*files: Path) -> str:
    """A hash of all sources that kernels defined in these files can reach."""
    digest = hashlib.sha256()
    for file in sorted(set().union(*map(reached, files))):
        digest.update(_digest(file))
    return digest.hexdigest()[:24]


@functools.cache
def reached(file: Path) -> frozenset[Path]:
    """The file, and all sources that its kernels can reach."""
    found: set[Path] = set()
    ahead = [file] if file.is_relative_to(PACKAGE) else _sources_around(file.parent)
    ahead += [PACKAGE / "kernels.py", PACKAGE / "compiler.py"]
    while ahead:
        source = ahead.pop()
        if source not in found:
            found.add(source)
            ahead += _imported(source)
    return frozenset(found)


@functools.cache
def _imported(file: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports: at its top, or anywhere if it is none of the package."""
    pattern = TOP_IMPORT if file.is_relative_to(PACKAGE) else ANY_IMPORT
    return tuple(
        found
        for module, names, whole in pattern.findall(file.read_bytes())
        for found in _files_of((module or whole).decode(), re.findall(r"\w+", names.decode()))
    )


def _files_of(module: str, names: Iterable[str]) -> Iterator[Path]:
    """The files that `from module import names` may reach; a name of a package may be a module in it."""
    folder = PACKAGE.parent.joinpath(*module.split("."))
    if not folder.is_dir():
        candidates = [folder.with_suffix(".py")]
    else:
        candidates = [folder / "__init__.py", *(folder / f"{name}.py" for name in names)]
        candidates += [folder / name / "__init__.py" for name in names]
    return (file for file in candidates if file.is_file())


@functools.cache
def _digest(file: Path) -> bytes:
    name = file.relative_to(PACKAGE.parent if file.is_relative_to(PACKAGE) else file.parents[1])
    return hashlib.sha256(f"{name.as_posix()}\0".encode() + file.read_bytes()).digest()


def _sources_around(folder: Path) -> list[Path]:
    """Every Python file of the package that a folder belongs to, or of the folder alone if it is none.

    What can't be read (an editor's dangling link, a stranger's file) can't be imported either, and is left out.
    """
    found = folder.glob("*.py")
    if (folder / "__init__.py").exists():
        while (folder.parent / "__init__.py").exists():
            folder = folder.parent
        found = folder.rglob("*.py")
    return [file for file in found if file.is_file() and os.access(file, os.R_OK)]


def forget_sources() -> None:
    """Read all sources anew when they are asked for next."""
    for function in (fingerprint, reached, _imported, _digest):
        function.cache_clear()


@functools.cache
def cache_folder(module: str, digest: str, compiler: str) -> Path:
    """The folder for code of a module with this fingerprint, made if it does not exist, by a compiler's version."""
    whole = hashlib.sha256(f"{digest} {compiler}".encode()).hexdigest()[:24]
    folder = cache_root() / f"kernels-{module}-{whole}"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(folder.parent, module)
        os.utime(folder)  # so that what is in use counts as new
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return private_folder()


@functools.cache
def private_folder() -> Path:
    """A folder for this process alone, where nothing can be kept."""
    folder = Path(tempfile.mkdtemp(prefix="qdts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def cache_root() -> Path:
    """`$QDTS_CACHE_DIR`, or the user's cache folder."""
    if given := os.environ.get("QDTS_CACHE_DIR"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "qdts"


def _forget_old(root: Path, module: str) -> None:
    """Remove all but the newest generations of a module's code, and all code that nobody uses; nothing else."""
    with contextlib.suppress(OSError):
        names = {f: match for f in root.iterdir() if f.is_dir() and (match := FOLDER.fullmatch(f.name))}
        newest = sorted(names, key=lambda f: f.stat().st_mtime, reverse=True)
        of_module = [f for f in newest if names[f][1] == module]
        unused = [f for f in newest if time.time() - f.stat().st_mtime > UNUSED_SECONDS]
        for folder in {*of_module[KEPT:], *unused}:
            shutil.rmtree(folder, ignore_errors=True)

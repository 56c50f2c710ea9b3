"""A game of one's own: a Python file with a FAMILY, named by its path."""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import sys
import traceback
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

from qdts.errors import InputError
from qdts.games.family import Family

SUFFIX = ".py"


def is_path(name: str) -> bool:
    """Whether a game's name is the path of a file: it ends in .py, or has a separator of folders."""
    return name.endswith(SUFFIX) or "/" in name or os.sep in name


def split_path(spec: str) -> tuple[str, str]:
    """A game's path and what follows it, `(key=value,...)` or nothing; the path itself may have brackets."""
    at = spec.find(f"{SUFFIX}(")
    if at >= 0 and is_path(spec[: at + len(SUFFIX)]):
        return spec[: at + len(SUFFIX)], spec[at + len(SUFFIX) :]
    return (spec, "") if spec.endswith(SUFFIX) else ("", spec)


def read(path: Path) -> bytes:
    """The source of a game's file."""
    if path.is_dir():
        raise InputError(f"'{path}' is a folder, expected the Python file of a game")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file '{path}', expected the Python file of a game") from None
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error.strerror or error}") from error


def digest(source: bytes) -> str:
    """The SHA-256 of a file's source, in hexadecimal digits."""
    return hashlib.sha256(source).hexdigest()


def run(path: Path, source: bytes) -> Family:
    """Run a file's source as a module of its own, and return its FAMILY.

    Modules that lie beside the file can be imported while it runs. Two files of one name in different folders are two
    modules.
    """
    module = _module(path)
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    sys.path.append(str(path.parent))
    try:
        exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
        return _family(module, path)
    except BaseException as error:
        if before is None:
            del sys.modules[module.__name__]
        else:
            sys.modules[module.__name__] = before
        if isinstance(error, InputError) or not isinstance(error, Exception | SystemExit):
            raise
        raise InputError(f"the game's file can't be loaded: {explain(error, path)}") from error
    finally:
        sys.path.remove(str(path.parent))


def _module(path: Path) -> ModuleType:
    """An empty module, whose name no other file's module has."""
    name = f"{path.stem}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    return module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=str(path)))


def _family(module: ModuleType, path: Path) -> Family:
    family = getattr(module, "FAMILY", None)
    if isinstance(family, Family):
        return family
    if family is None:
        raise InputError(f"'{path}' has no FAMILY, expected FAMILY = Family(name=..., build=...)")
    raise InputError(f"FAMILY in '{path}' is of type {type(family).__name__}, expected a qdts.Family")


def explain(error: BaseException, path: Path) -> str:
    """An error in a game's file in one sentence: the file, the line and its message."""
    what = f"{type(error).__name__}: {error}".strip().rstrip(":")
    line = _line(error, path)
    if isinstance(error, SyntaxError):
        what = f"{type(error).__name__}: {error.msg}"
    return f"{path}, line {line}: {what}" if line else f"{path}: {what}"


def touches(error: BaseException, path: Path) -> bool:
    """Whether an error passed through a game's file."""
    return _line(error, path) is not None


def _line(error: BaseException, path: Path) -> int | None:
    """The line of the file where an error arose or passed last."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno for f in reversed(frames) if f.filename == str(path)), None)

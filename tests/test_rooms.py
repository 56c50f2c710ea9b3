"""Imports go one way between the rooms of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import qdts

PACKAGE = Path(qdts.__file__).parent
ORDER = [
    {"code_cache", "compiler", "errors", "files", "interrupt", "kernels", "pointers", "rng"},  # the foundation
    {"games"},
    {"solving"},
    {"search"},
    {"nets"},
    {"learning"},
    {"play"},
    {"testing"},
    {"cli", "openspiel", "__main__", "__init__"},
]
"""Each room may import from those before it, and from itself; what faces the user comes last."""

FILES = sorted(PACKAGE.rglob("*.py"))
TORCH_TOO = {"cli/network_races"}
"""Outside of the networks' room: a race that sets the number of threads."""
UNSAFE = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").as_posix()


def rank(room: str) -> int:
    places = [i for i, rooms in enumerate(ORDER) if room in rooms]
    assert places, f"{room} has no place in the order of the rooms"
    return places[0]


def imports(file: Path) -> Iterator[str]:
    """Every module that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are written in full"
            assert node.module is not None
            submodules = (PACKAGE.parent / node.module.replace(".", "/")).is_dir()
            yield from (f"{node.module}.{alias.name}" if submodules else node.module for alias in node.names)


def room_of(module: str) -> str:
    """The room of a module's full name; what the package itself exports belongs to the last one."""
    room = module.removeprefix("qdts").removeprefix(".").partition(".")[0]
    return room if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").exists() else "__init__"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_room_imports_only_from_rooms_before_it(file: Path) -> None:
    room = name_of(file).partition("/")[0]
    for module in imports(file):
        if module.partition(".")[0] == "qdts" and room_of(module) != room:
            assert rank(room_of(module)) <= rank(room), f"{room} imports {module}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_nothing_reads_files_that_can_run_code(file: Path) -> None:
    assert not UNSAFE & {module.partition(".")[0] for module in imports(file)}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_only_networks_need_torch(file: Path) -> None:
    if name_of(file).partition("/")[0] != "nets":
        assert "torch" not in {module.partition(".")[0] for module in imports(file)} or name_of(file) in TORCH_TOO


def only_exports(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import, a list of names, or what loads them on first use."""
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Name) and t.id.startswith("_") for t in node.targets)
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__getattr__", "__dir__")
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING" and all(map(only_exports, node.body))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("file", [f for f in FILES if f.name == "__init__.py"], ids=name_of)
def test_packages_only_export(file: Path) -> None:
    assert all(map(only_exports, ast.parse(file.read_text(encoding="utf-8")).body))

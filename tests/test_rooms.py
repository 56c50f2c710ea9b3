"""Imports go one way between the rooms of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import qdts

PACKAGE = Path(qdts.__file__).parent
ORDER = [
    {
        *("code_cache", "compiler", "errors", "fields", "files", "hashing", "interrupt", "kernels", "pages"),
        *("memory", "notes", "packages", "parallel", "plotting", "pointers", "rng"),
    },  # the foundation
    {"games"},
    {"solving/tree"},
    {"solving/policy"},
    {"solving/exact"},
    {"solving/sequence", "solving/perfect", "solving/sweep"},
    {"solving/cells"},
    {"solving/regret"},
    {"solving"},
    {"search/options"},
    {"search/decision", "search/roots", "search/seeds"},
    {"search/evaluation"},
    {"search/beliefs"},
    {"search/forest/lanes"},
    {"search/forest/values"},
    {"search/forest/visit"},
    {"search/forest", "search/bandit"},
    {"search"},
    {"nets"},
    {"learning/settings", "learning/metrics", "learning/nodes"},
    {"learning/config"},
    {"learning/selfplay"},
    {"learning/targets", "learning/run"},
    {"learning/experience"},
    {"learning/report"},
    {"learning"},
    {"play"},
    {"learning/measuring"},
    {"learning/loop"},
    {"learning/fit"},
    {"survey", "testing"},
    {"cli/benchmarks"},
    {"cli/display"},
    {"cli/commands"},
    {"cli", "openspiel", "__main__", "__init__"},
]
"""Each room may import from those before it, and from itself; what faces the user comes last.

A room is a folder, without the rooms inside it that are listed apart, or a file. The files of the foundation and those
at the end are one room.
"""

ARCHITECTURE = Path(__file__).parents[1] / "docs" / "architecture.md"
FILES = sorted(PACKAGE.rglob("*.py"))
TORCH_TOO = {"cli/benchmarks/networks"}
"""Outside of the networks' room: a benchmark that sets the number of threads."""
UNSAFE = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(name: str) -> str:
    """The room of a file or module, given by its path in the package; what the package exports is in the last one."""
    parts = name.split("/")
    rooms = {room for rooms in ORDER for room in rooms}
    inside = ("/".join(parts[:k]) for k in range(len(parts), 0, -1))
    return next((room for room in inside if room in rooms), "__init__")


def rank(room: str) -> int:
    return next(i for i, rooms in enumerate(ORDER) if room in rooms)


def may_import(importer: str, imported: str) -> bool:
    if rank(importer) == rank(imported):
        return importer == imported or rank(importer) in (0, len(ORDER) - 1)
    return rank(imported) < rank(importer)


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


def test_every_folder_has_a_room() -> None:
    folders = {name_of(file.parent) for file in FILES if file.parent != PACKAGE}
    assert {folder.partition("/")[0] for folder in folders} <= {room for rooms in ORDER for room in rooms}


@pytest.mark.parametrize("file", [f for f in FILES if f.name == "__init__.py" and f.parent != PACKAGE], ids=name_of)
def test_the_page_has_a_line_for_each_folder(file: Path) -> None:
    words = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    assert f"| `{name_of(file.parent)}` | {' '.join(words.split())} |" in ARCHITECTURE.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_room_imports_only_from_rooms_before_it(file: Path) -> None:
    room = room_of(name_of(file).removesuffix("/__init__"))
    for module in imports(file):
        if module.partition(".")[0] == "qdts":
            other = room_of(module.removeprefix("qdts").removeprefix(".").replace(".", "/"))
            assert may_import(room, other), f"{room} imports {module}"


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

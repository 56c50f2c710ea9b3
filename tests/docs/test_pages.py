"""What the pages of the documentation say is so: their code runs, their links lead somewhere, the notebook works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
ELSEWHERE = {"adding-a-game.md", "searches.md"}
"""Pages whose code is run by tests of their own: parts of a game's file, and a survey of many minutes."""
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
GENERATED = {"tutorial.md"}
"""Pages that the builder of the site makes."""


def names(page: Path) -> str:
    return page.name


def code_of(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if code_of(p) and p.name not in ELSEWHERE], ids=names)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in code_of(page):
        exec(compile(block, str(page), "exec"), namespace)
    assert len(namespace) > 1


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as both GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", h).lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists() or target.name in GENERATED, f"{page.name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {link}"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    cells = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "tutorial.ipynb", "exec"), namespace)
    learned = re.search(r"NashConv of what was learned: ([\d.]+)", capsys.readouterr().out)
    assert learned is not None
    assert float(learned[1]) < 0.3, "a hundred generations leave uniform play (NashConv 0.92) far behind"


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120

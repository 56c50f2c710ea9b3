"""The site builds without a warning, from what is here alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qdts.learning.config import SETTINGS
from qdts.search.options.options import DESCRIPTIONS

ROOT = Path(__file__).parents[2]
OUTSIDE = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["'](?:https?:)?//""")
"""Something that a browser would load from elsewhere."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    assert not [page for page in pages if OUTSIDE.search(page.read_text(encoding="utf-8"))]


def test_reference_tables_come_from_the_code(site: Path) -> None:
    options = (site / "options" / "index.html").read_text(encoding="utf-8")
    assert all(f"<code>{name}</code>" in options for name in DESCRIPTIONS)
    settings = (site / "settings" / "index.html").read_text(encoding="utf-8")
    assert all(f"<code>{name}</code>" in settings for name in SETTINGS)
    assert "qdts bench selfplay" in (site / "commands" / "index.html").read_text(encoding="utf-8")


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "search" / "index.html").read_text(encoding="utf-8")
    assert page.count("<math") > 80
    assert "arithmatex" not in page

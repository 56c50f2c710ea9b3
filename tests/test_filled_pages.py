"""Blocks of a page are filled, and nothing else of it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdts import InputError
from qdts.pages import Blocks, fill_page, filled, names_in, table

BLOCKS: Blocks = {"twice": lambda of: f"{of}{of}\n", "nothing": lambda _: ""}
TEXT = """# A page

<!-- x: twice a b -->
old
<!-- end -->

<!-- y: twice c -->
<!-- end -->

<!-- x: nothing -->
old
<!-- end -->
"""


def test_blocks_are_filled(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TEXT)
    fill_page(page, "x", BLOCKS)
    new = page.read_text()
    assert new == TEXT.replace("a b -->\nold\n", "a b -->\n\na ba b\n\n").replace(
        "nothing -->\nold\n", "nothing -->\n\n\n"
    )
    assert names_in(new, "x") == [("twice", "a b"), ("nothing", "")]
    fill_page(page, "x", BLOCKS)
    assert page.read_text() == new, "filling again changes nothing"


def test_wrong_pages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown block of 'p' 'cost'"):
        filled("<!-- x: cost -->\n<!-- end -->\n", Path("p"), "x", BLOCKS)
    with pytest.raises(InputError, match=r"'p' has no place for figures, expected lines like <!-- x: twice -->"):
        filled("", Path("p"), "x", BLOCKS)
    with pytest.raises(InputError, match="cannot read"):
        fill_page(tmp_path / "none.md", "x", BLOCKS)


def test_tables() -> None:
    assert table(["a", "b"], [["1", "x|y"]]) == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n"
    assert table(["a", "b"], [], right=True) == "| a | b |\n| --- | ---: |\n"
